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
