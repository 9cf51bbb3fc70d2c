import {
  type ClaimedQueue,
  QueuesRepository,
} from '../../../src/modules/webhooks/sending/queues.repository.js';
import { Db } from '../../../src/platform/database/db.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { WebhookTest } from '../../support/domains/webhooks.ts';
import { WebhookReceiver } from '../../support/network/webhook-receiver.ts';
import { until } from '../../support/until.ts';

const HANGING = 45;
const PENDING = 5_000;
describe('many receivers that accept connections and do not respond', () => {
  let app: TestApp;
  let at: WebhookTest;
  let alice: TestUser;
  let bob: TestUser;
  let carol: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    at = new WebhookTest(app, await WebhookReceiver.start());
    [alice, bob] = await app.tenant('hanging', 'alice', 'bob');
    [carol] = await app.tenant('hanging-other', 'carol');
  });
  afterAll(async () => {
    await app?.stop();
    await at?.receiver.stop();
  });

  test('hold up neither other webhooks of the workspace nor other workspaces, and no more is read than is sent', async () => {
    const hanging: any[] = [];
    for (let n = 0; n < HANGING; n += 1) hanging.push(await at.hook(bob, ['task.created']));
    const reached = () => hanging.filter(({ path }) => at.receiver.of(path).length > 0).length;
    let responded = 0;
    for (const { path } of hanging)
      at.receiver.on(path, (response) => response.on('close', () => (responded += 1)));
    const lively = [await at.hook(alice, ['task.created']), await at.hook(alice, ['task.created'])];
    const others = [await at.hook(carol, ['task.created'])];
    const { id: task } = await at.task(bob, 'Hanging');
    await app.sql(
      `INSERT INTO webhook_deliveries (tenant_id, webhook_id, id, event_type, facts, occurred_at, due_at)
       SELECT hook.tenant_id, hook.id, gen_random_uuid(), 'task.created', jsonb_build_object('task_id', $2::uuid, 'revision', 1), now(), now()
         FROM webhooks hook CROSS JOIN generate_series(1, $3::int / $4::int)
        WHERE hook.owner_id = $1`,
      [bob.id, task, PENDING, HANGING],
    );
    await until('requests that hang', () => reached() === HANGING);
    const titles = ['A', 'B', 'C'];
    for (const title of titles) for (const user of [alice, carol]) await at.task(user, title);
    for (const { path } of [...lively, ...others]) {
      const messages = await at.receiver.received(path, titles.length);
      expect(messages.map(({ body }) => body.data['task'].title)).toEqual(titles);
    }
    // All of them are still waiting, with one request each.
    expect(responded).toBe(0);
    for (const { path } of hanging) expect(at.receiver.of(path).length).toBeLessThanOrEqual(1);
    const [{ count }] = (await app.sql(
      `SELECT count(*)::int AS count FROM webhook_deliveries WHERE state = 'pending' AND attempts = 0`,
    )) as [{ count: number }];
    expect(count).toBeGreaterThanOrEqual(Math.floor(PENDING / HANGING) * HANGING);
  });

  test('a lease is renewed by the run that has it, not by one whose lease was taken over', async () => {
    const hooks = [await at.hook(carol, ['task.created']), await at.hook(carol, ['task.created'])];
    for (const { path } of hooks) at.receiver.on(path, () => undefined);
    await at.task(carol, 'Held');
    for (const { path } of hooks) await at.receiver.received(path, 1);
    const [kept, lost] = hooks.map(({ id }) => id);
    await app.sql(
      `UPDATE webhook_queues SET held_until = now() + interval '30 seconds', claims = claims + CASE WHEN webhook_id = $2 THEN 1 ELSE 0 END
        WHERE webhook_id IN ($1, $2)`,
      [kept, lost],
    );
    const leases = (await app.sql(
      `SELECT tenant_id, webhook_id, claims - CASE WHEN webhook_id = $2 THEN 1 ELSE 0 END AS claims, failures, failing_since
         FROM webhook_queues WHERE webhook_id IN ($1, $2)`,
      [kept, lost],
    )) as ClaimedQueue[];
    const db = app.get(Db);
    for (const cell of db.cells) await db.inCell(cell, () => app.get(QueuesRepository).renew(leases));
    const renewed = await app.sql(
      `SELECT webhook_id FROM webhook_queues WHERE webhook_id IN ($1, $2) AND held_until > now() + interval '40 seconds'`,
      [kept, lost],
    );
    expect(renewed).toEqual([{ webhook_id: kept }]);
  });
});
