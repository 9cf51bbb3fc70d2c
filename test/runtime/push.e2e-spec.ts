import { PushDispatcher } from '../../src/modules/push/sending/push-dispatcher.js';
import { OutboxWorker } from '../../src/platform/events/outbox.worker.js';
import { TestApp, type TestUser } from '../support/app.ts';
import { PushTest } from '../support/domains/push.ts';
import { Client } from '../support/network/client.ts';
import { freePort } from '../support/network/ports.ts';
import { PushService, respond } from '../support/network/push-service.ts';
import { until } from '../support/until.ts';
import { ServerProcess } from '../sync/servers.ts';

describe('push messages of a process that is killed', () => {
  let app: TestApp;
  let at: PushTest;
  let ann: TestUser;
  let ben: TestUser;
  let server: ServerProcess;

  beforeAll(async () => {
    app = await TestApp.start();
    at = new PushTest(app, await PushService.start());
    [ann, ben] = await app.tenant('acme', 'ann', 'ben');
    // Only the other process sends.
    await app.get<PushDispatcher>(PushDispatcher).onModuleDestroy();
    await app.get<OutboxWorker>(OutboxWorker).onModuleDestroy();
    const settings = { DATA_DIR: app.dataDir, MAIL_SERVICE_URL: 'http://127.0.0.1:9' };
    server = new ServerProcess(app.databaseUrl, await freePort(), settings);
    await server.start();
  });
  afterAll(async () => {
    await server?.stop('SIGKILL');
    await app?.stop();
    await at?.service.stop();
  });

  test('are sent by the next one, under the same topic', async () => {
    const { device } = await at.subscribe(ben);
    // No answer: the message is in flight.
    at.service.on(device, () => undefined);
    const task = { title: 'In flight', assignees: [ben.id] };
    expect((await new Client(server.base, ann.token).post('/tasks', task)).status).toBe(201);
    await at.service.received(device, 1);
    await server.stop('SIGKILL');
    expect(await app.sql(`SELECT FROM push_deliveries WHERE state = 'pending'`)).toHaveLength(1);

    at.service.on(device, respond(201));
    // The lease of the killed process has passed.
    await app.sql('UPDATE push_deliveries SET due_at = now() - make_interval(secs => 1)');
    await server.start();
    const [first, second] = await at.service.received(device, 2);
    expect(second!.headers['topic']).toBe(first!.headers['topic']);
    expect(device.read(second!)).toEqual(device.read(first!));
    await until(
      'the end of the delivery',
      async () => (await app.sql(`SELECT FROM push_deliveries WHERE state = 'sent'`)).length === 1,
    );
    expect(server.output).not.toMatch(/"level":(?:50|60)/);
  });
});
