import { TestApp, type TestUser } from '../../support/app.ts';
import { ok } from '../../support/domains/forms.ts';
import { PushTest } from '../../support/domains/push.ts';
import { PushService, respond } from '../../support/network/push-service.ts';

describe('push messages that a push service does not accept', () => {
  let app: TestApp;
  let at: PushTest;
  let alice: TestUser;
  let bob: TestUser;
  let count = 0;

  beforeAll(async () => {
    app = await TestApp.start();
    at = new PushTest(app, await PushService.start());
  });
  afterAll(async () => {
    await app?.stop();
    await at?.service.stop();
  });
  beforeEach(async () => {
    count += 1;
    [alice, bob] = await app.tenant(`push-${count}`, 'alice', 'bob');
  });

  test.each([404, 410])('a push service that answers %s ends the subscription', async (status) => {
    const { device } = await at.subscribe(bob);
    at.service.on(device, respond(status));
    await at.assign(alice, bob, 'Book the venue');
    await at.deliver();
    expect(await at.subscriptions(bob)).toEqual([]);
  });

  test('are repeated after a failure until they are of no use', async () => {
    const { device } = await at.subscribe(bob);
    at.service.on(device, respond(500));
    await at.assign(alice, bob, 'Book the venue');
    await at.deliver();
    expect(await at.subscriptions(bob)).toMatchObject([{ status_code: 500 }]);
    await at.later();
    expect(at.service.of(device)).toHaveLength(2);
    await app.sql(
      'UPDATE push_deliveries SET expires_at = now() - make_interval(secs => 1) WHERE user_id = $1',
      [bob.id],
    );
    await at.later();
    expect(at.service.of(device)).toHaveLength(2);
    expect(await app.sql('SELECT FROM push_deliveries WHERE user_id = $1', [bob.id])).toEqual([]);
  });

  test('wait as long as the push service asks', async () => {
    const { device } = await at.subscribe(bob);
    at.service.on(device, respond(429, { 'retry-after': '4000' }));
    await at.assign(alice, bob, 'Book the venue');
    await at.deliver();
    const [{ seconds }] = (await app.sql<{ seconds: number }>(
      `SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM push_deliveries WHERE user_id = $1`,
      [bob.id],
    )) as [{ seconds: number }];
    expect(seconds).toBeGreaterThan(3_900);
  });

  test('are not repeated when the push service rejects them', async () => {
    const { device } = await at.subscribe(bob);
    at.service.on(device, respond(400));
    await at.assign(alice, bob, 'Book the venue');
    await at.deliver();
    await at.later();
    expect(at.service.of(device)).toHaveLength(1);
    expect(await at.subscriptions(bob)).toMatchObject([{ status_code: 400 }]);
  });

  test('to many devices at once have an outcome each', async () => {
    const names = Array.from({ length: 9 }, (_, n) => `member-${n}`);
    const [boss, ...members] = await app.tenant(`push-room-${count}`, 'boss', ...names);
    const devices = [];
    for (const member of members)
      devices.push(await at.subscribe(member), await at.subscribe(member, { can_dismiss: false }));
    const statuses = [201, 500, 400, 410];
    for (const [n, { device }] of devices.entries()) at.service.on(device, respond(statuses[n % 4]!));
    const title = 'Book the venue';
    const assignees = members.map(({ id }) => id);
    const { task } = ok(await boss.api.post('/tasks', { title, assignees }), 201);
    await at.deliver();
    for (const { device } of devices)
      expect(at.messages(device)).toMatchObject([{ type: 'task.assigned', title }]);
    const rows = await app.sql(
      `SELECT subscription.id, subscription.status_code, delivery.state, delivery.is_shown, delivery.attempts
         FROM push_subscriptions subscription
         LEFT JOIN push_deliveries delivery
           ON delivery.tenant_id = subscription.tenant_id AND delivery.subscription_id = subscription.id
        WHERE subscription.tenant_id = $1`,
      [boss.tenantId],
    );
    const outcomes = [
      { status_code: 201, state: 'sent', is_shown: true, attempts: 0 },
      { status_code: 500, state: 'pending', is_shown: false, attempts: 1 },
      { status_code: 400, state: null, is_shown: null, attempts: null },
      undefined,
    ];
    for (const [n, { id }] of devices.entries()) {
      const row = rows.find((each) => each.id === id);
      const expected = outcomes[n % 4];
      expect(row).toEqual(expected && { id, ...expected });
    }
    // Those that lose the task get nothing more; the message of the others is withdrawn where it is shown and can be.
    ok(await boss.api.patch(`/tasks/${task.id}`, { assignees: [], base_revision: task.revision }));
    for (const { device } of devices) at.service.on(device, respond(201));
    await at.later();
    await at.later();
    for (const [n, { device }] of devices.entries())
      expect(at.messages(device).map(({ event }) => event)).toEqual(
        n % 4 === 0 ? ['notification', 'dismissed'] : ['notification'],
      );
    expect(await app.sql('SELECT FROM push_deliveries WHERE tenant_id = $1', [boss.tenantId])).toEqual([]);
  });

  test('of a device whose push service does not respond delay no other', async () => {
    const hanging = await PushService.start();
    const stuck = hanging.device();
    hanging.on(stuck, () => undefined);
    ok(await bob.api.post('/notifications/push-subscriptions', stuck.subscription), 201);
    const { device } = await at.subscribe(bob);
    await at.assign(alice, bob, 'Book the venue');
    const delivering = at.deliver();
    await at.service.received(device, 1);
    await hanging.received(stuck, 1);
    await hanging.stop();
    await delivering;
  });
});
