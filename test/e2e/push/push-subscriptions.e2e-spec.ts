import { PushKeys } from '../../../src/modules/push/index.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { ok } from '../../support/domains/forms.ts';
import { PushTest } from '../../support/domains/push.ts';
import { PushDevice, PushService, respond, verifySender } from '../../support/network/push-service.ts';

const PATH = '/notifications/push-subscriptions';

describe('push subscriptions', () => {
  let app: TestApp;
  let at: PushTest;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    at = new PushTest(app, await PushService.start());
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(async () => {
    await app?.stop();
    await at?.service.stop();
  });
  beforeEach(() => app.sql('DELETE FROM push_subscriptions'));

  test('belong to their user, and keep their keys', async () => {
    const { device, id } = await at.subscribe(alice, { description: 'Firefox' });
    const [listed] = await at.subscriptions(alice);
    const { push_key: key } = ok(await alice.api.get('/notifications/push-key'));
    expect(listed).toEqual({
      id,
      endpoint: device.endpoint,
      key_id: key.id,
      can_dismiss: true,
      description: 'Firefox',
      is_current: expect.any(Boolean),
      created_at: expect.any(String),
      attempted_at: null,
      status_code: null,
      error: null,
    });
    expect(await at.subscriptions(bob)).toEqual([]);
    expect((await bob.api.delete(`${PATH}/${id}`)).status).toBe(404);
    expect((await bob.api.post(`${PATH}/${id}/test`)).status).toBe(404);
    expect(ok(await alice.api.delete(`${PATH}/${id}`))).toEqual({ deleted: true });
    expect((await alice.api.delete(`${PATH}/${id}`)).status).toBe(404);
  });

  test('need keys', async () => {
    const { endpoint } = at.service.device().subscription;
    const { status, body } = await alice.api.post(PATH, { endpoint });
    expect([status, body.details]).toMatchObject([422, [{ field: 'keys', code: 'is_defined' }]]);
  });

  test('a further request with the same endpoint replaces the keys', async () => {
    const { device, id } = await at.subscribe(alice);
    const again = new PushDevice(device.endpoint);
    const { push_subscription } = ok(await alice.api.post(PATH, again.subscription), 201);
    expect(push_subscription.id).toBe(id);
    expect(await at.subscriptions(alice)).toHaveLength(1);
    ok(await alice.api.post(`${PATH}/${id}/test`));
    expect(again.read(at.service.of(device).at(-1)!)).toEqual({ event: 'test', tenant_id: alice.tenantId });
  });

  test('concurrent requests with one endpoint make one subscription', async () => {
    const { subscription } = at.service.device();
    const made = await Promise.all([1, 2, 3, 4].map(() => alice.api.post(PATH, subscription)));
    expect(new Set(made.map((response) => ok(response, 201).push_subscription.id)).size).toBe(1);
  });

  test('a browser has the subscription of the user who signed in last', async () => {
    const { device } = await at.subscribe(alice);
    const stranger = new PushDevice(device.endpoint);
    ok(await bob.api.post(PATH, stranger.subscription), 201);
    // Another program that knows the endpoint, without the secrets of the browser, ends nothing.
    expect(await at.subscriptions(alice)).toHaveLength(1);
    ok(await bob.api.post(PATH, device.subscription), 201);
    expect(await at.subscriptions(alice)).toEqual([]);
    expect(await at.subscriptions(bob)).toHaveLength(1);
  });

  test.each([
    ['https://web.push.apple.com/QGuQyavXutnMH', {}, false],
    ['https://web.push.apple.com/QGuQyavXutnMH', { can_dismiss: true }, true],
    ['https://push.example/QGuQyavXutnMH', {}, true],
    ['https://push.example/QGuQyavXutnMH', { can_dismiss: false }, false],
  ])('messages that show nothing: %s %j %s', async (endpoint, fields, expected) => {
    const { subscription } = new PushDevice(endpoint);
    const { push_subscription } = ok(await alice.api.post(PATH, { ...subscription, ...fields }), 201);
    expect(push_subscription.can_dismiss).toBe(expected);
  });

  test('have a quota', async () => {
    await app.sql(
      `INSERT INTO push_subscriptions (tenant_id, user_id, id, endpoint, endpoint_hash, service, p256dh, auth, key_id, can_dismiss, description)
       SELECT $1, $2, gen_random_uuid(), '', n::text, '', '', '', gen_random_uuid(), true, '' FROM generate_series(1, 50) AS n`,
      [bob.tenantId, bob.id],
    );
    const full = await bob.api.post(PATH, at.service.device().subscription);
    expect(full.status).toBe(409);
    expect(full.body).toMatchObject({ error: 'quota_exceeded', quota: 'push_subscriptions', limit: 50 });
  });

  test.each([
    ['endpoint', { endpoint: 'https://10.0.0.1/x' }],
    ['endpoint', { endpoint: 'http://push.example/x' }],
    ['keys.p256dh', { keys: { p256dh: 'AAAA', auth: 'BTBZMqHH6r4Tts7J_aSIgg' } }],
    ['keys.auth', { keys: { ...new PushDevice('').subscription.keys, auth: 'AAAA' } }],
    ['key_id', { key_id: '0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000' }],
  ])('an invalid %s is rejected', async (field, fields) => {
    const { status, body } = await alice.api.post(PATH, { ...at.service.device().subscription, ...fields });
    expect([status, body.details?.[0].field]).toEqual([422, field]);
  });

  test('a test message is encrypted, and signed by the key of the service', async () => {
    const { device, id } = await at.subscribe(alice);
    const { push_key: key } = ok(await alice.api.get('/notifications/push-key'));
    expect(ok(await alice.api.post(`${PATH}/${id}/test`))).toEqual({
      accepted: true,
      status_code: 201,
      error: null,
      deleted: false,
    });
    const [message] = await at.service.received(device, 1);
    expect(device.read(message!)).toEqual({ event: 'test', tenant_id: alice.tenantId });
    expect(message!.headers).toMatchObject({ 'content-encoding': 'aes128gcm', ttl: '60', urgency: 'normal' });
    const sender = await verifySender(message!);
    expect(sender.key).toBe(key.public_key);
    expect(sender.claims.aud).toBe(at.service.origin);
    expect((await at.subscriptions(alice))[0]).toMatchObject({ status_code: 201 });
  });

  test('a device that the push service no longer knows is removed', async () => {
    const { device, id } = await at.subscribe(alice);
    at.service.on(device, respond(410));
    expect(ok(await alice.api.post(`${PATH}/${id}/test`))).toMatchObject({ accepted: false, deleted: true });
    expect(await at.subscriptions(alice)).toEqual([]);
  });

  test('keep their key after a rotation; new ones use the new key', async () => {
    const before = await at.subscribe(alice);
    const { push_key: old } = ok(await alice.api.get('/notifications/push-key'));
    const id = await app.get<PushKeys>(PushKeys).rotate();
    const after = await at.subscribe(alice);
    const bound = await at.subscribe(alice, { key_id: old.id });
    const { push_key: current } = ok(await alice.api.get('/notifications/push-key'));
    expect(current.id).toBe(id);
    const keyOf = async ({ device, id: subscription }: { device: PushDevice; id: string }) => {
      ok(await alice.api.post(`${PATH}/${subscription}/test`));
      return (await verifySender(at.service.of(device).at(-1)!)).key;
    };
    expect(await keyOf(before)).toBe(old.public_key);
    expect(await keyOf(after)).toBe(current.public_key);
    expect(await keyOf(bound)).toBe(old.public_key);
  });

  test('private keys are stored encrypted', async () => {
    const rows = await app.sql<{ sealed_private_key: string }>('SELECT sealed_private_key FROM push_keys');
    for (const { sealed_private_key: sealed } of rows) {
      expect(sealed).toMatch(/^\w+\.[\w-]+$/);
      expect(sealed).not.toContain('"d"');
    }
  });
});
