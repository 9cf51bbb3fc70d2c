import { OutboxWorker } from '../../src/platform/events/outbox.worker.js';
import { WebhookDispatcher } from '../../src/modules/webhooks/sending/dispatcher.js';
import { TestApp, type TestUser } from '../support/app.ts';
import { holdEvents } from '../support/database/outbox.ts';
import { WebhookTest } from '../support/domains/webhooks.ts';
import { Client } from '../support/network/client.ts';
import { freePort } from '../support/network/ports.ts';
import { answer, WebhookReceiver } from '../support/network/webhook-receiver.ts';
import { until } from '../support/until.ts';
import { ServerProcess } from '../sync/servers.ts';

describe('webhooks of a process that is killed', () => {
  let app: TestApp;
  let at: WebhookTest;
  let ann: TestUser;
  let server: ServerProcess;

  beforeAll(async () => {
    app = await TestApp.start();
    at = new WebhookTest(app, await WebhookReceiver.start());
    [ann] = await app.tenant('acme', 'ann');
    // Only the other process delivers.
    await app.get(WebhookDispatcher).onModuleDestroy();
    await app.get(OutboxWorker).onModuleDestroy();
    const settings = { DATA_DIR: app.dataDir, MAIL_SERVICE_URL: 'http://127.0.0.1:9' };
    server = new ServerProcess(app.databaseUrl, await freePort(), settings);
    await server.start();
  });
  afterAll(async () => {
    await server?.stop('SIGKILL');
    await app?.stop();
    await at?.receiver.stop();
  });

  test('are delivered by the next one, in their order: those in flight, waiting, and still in the outbox', async () => {
    const hook = await at.hook(ann, ['task.created']);
    const create = async (title: string) =>
      expect((await new Client(server.base, ann.token).post('/tasks', { title })).status).toBe(201);
    // No answer: the first delivery is in flight.
    at.receiver.on(hook.path, () => undefined);
    for (const title of ['In flight', 'Waiting']) await create(title);
    await at.receiver.received(hook.path, 1);
    await until(
      'both deliveries',
      async () => (await app.sql('SELECT FROM webhook_deliveries')).length === 2,
    );
    const release = await holdEvents(app);
    await create('In the outbox');
    await server.stop('SIGKILL');
    expect(await app.sql('SELECT FROM webhook_deliveries')).toHaveLength(2);

    at.receiver.on(hook.path, answer(204));
    await release();
    // The lease of the killed process has passed.
    await app.sql(
      `UPDATE webhook_queues SET held_until = now() - make_interval(secs => 1), ready_at = now() - make_interval(secs => 1)`,
    );
    await server.start();
    const messages = await at.receiver.received(hook.path, 4);
    expect(messages.map(({ body }) => body.data['task'].title)).toEqual([
      'In flight',
      'In flight',
      'Waiting',
      'In the outbox',
    ]);
    expect(messages[1]!.id).toBe(messages[0]!.id);
    expect(server.output).not.toMatch(/"level":(?:50|60)/);
  });
});
