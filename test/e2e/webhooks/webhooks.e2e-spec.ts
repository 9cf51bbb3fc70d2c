import { randomUUID } from 'node:crypto';
import { TestApp, type TestUser } from '../../support/app.ts';
import { ok, published } from '../../support/domains/forms.ts';
import { WebhookTest } from '../../support/domains/webhooks.ts';
import { answer, verify, WebhookReceiver } from '../../support/network/webhook-receiver.ts';

describe('webhooks', () => {
  let app: TestApp;
  let at: WebhookTest;
  let owner: TestUser;
  let manager: TestUser;
  let member: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    at = new WebhookTest(app, await WebhookReceiver.start());
    [owner, manager, member] = await app.tenant('hooks', 'owner', 'manager', 'member');
    const { group } = ok(
      await owner.api.post('/rbac/groups', { name: 'Integrators', permissions: ['webhooks.manage'] }),
      201,
    );
    ok(await owner.api.post(`/rbac/groups/${group.id}/members`, { user_ids: [manager.id] }), 201);
  });
  afterAll(async () => {
    await app?.stop();
    await at?.receiver.stop();
  });

  const input = (fields: object = {}) => ({
    scope: 'user',
    url: at.receiver.urlOf('/x'),
    event_types: ['task.created'],
    ...fields,
  });

  test('have a secret that only their creation and rotation show', async () => {
    const { webhook } = ok(await member.api.post('/webhooks', input({ description: 'Mine' })), 201);
    expect(webhook).toMatchObject({
      revision: 1,
      scope: 'user',
      owner_id: member.id,
      description: 'Mine',
      filter: {},
      active: true,
      disabled_reason: null,
      previous_secret_until: null,
    });
    expect(webhook.secret).toMatch(/^whsec_[\w+/]{43}=$/);
    const read = ok(await member.api.get(`/webhooks/${webhook.id}`)).webhook;
    expect(read).toEqual({ ...webhook, secret: null });
    const rotated = ok(await member.api.post(`/webhooks/${webhook.id}/rotate-secret`)).webhook;
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(webhook.secret);
    expect(new Date(rotated.previous_secret_until).getTime()).toBeGreaterThan(Date.now() + 23 * 3_600_000);
    const [stored] = await app.sql('SELECT secret, previous_secret FROM webhooks WHERE id = $1', [
      webhook.id,
    ]);
    for (const text of Object.values(stored)) expect(text).not.toContain('whsec_');
  });

  test('a repeated creation returns the webhook without its secret', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = ok(await member.api.post('/webhooks', input(), { headers }), 201).webhook;
    const second = ok(await member.api.post('/webhooks', input(), { headers }), 201).webhook;
    expect(second).toEqual({ ...first, secret: null });
    expect(await app.sql(`SELECT FROM idempotency_keys WHERE reply LIKE '%whsec%'`)).toEqual([]);
  });

  test('are changed with their revision', async () => {
    const { webhook } = ok(await member.api.post('/webhooks', input()), 201);
    const change = (body: object) => member.api.patch(`/webhooks/${webhook.id}`, body);
    expect((await change({ description: 'x' })).body.error).toBe('invalid_revision');
    const changed = ok(await change({ description: 'x', event_types: ['task.due'], base_revision: 1 }));
    expect(changed.webhook).toMatchObject({ description: 'x', event_types: ['task.due'], revision: 2 });
    const stale = await change({ description: 'y', base_revision: 1 });
    expect([stale.status, stale.body.error, stale.body.webhook.description]).toEqual([409, 'conflict', 'x']);
    expect((await change({ description: 'x', base_revision: 2 })).body.error).toBe('no_changes');
    ok(await member.api.delete(`/webhooks/${webhook.id}`, { base_revision: 2 }));
    expect((await member.api.get(`/webhooks/${webhook.id}`)).status).toBe(404);
  });

  test.each([
    ['http://receiver.example/x', 'url'],
    ['https://10.0.0.1/x', 'url'],
    ['https://[fd00::1]/x', 'url'],
    ['https://user:pass@receiver.example/x', 'url'],
    ['https://169.254.169.254/latest', 'url'],
    ['ftp://receiver.example/x', 'url'],
  ])('reject the address %s', async (url, field) => {
    const { status, body } = await member.api.post('/webhooks', input({ url }));
    expect([status, body.details[0].field]).toEqual([422, field]);
  });

  test('reject unknown types of events, also those inside of the service', async () => {
    for (const type of ['task.unknown', 'system_mail.queued', 'task.reminder']) {
      const { status, body } = await member.api.post(
        '/webhooks',
        input({ event_types: ['note.created', type] }),
      );
      expect([status, body.details[0].field]).toEqual([422, 'event_types.1']);
    }
  });

  test('reject unknown attributes of the filter, and those that concern no type', async () => {
    const [form, room] = [randomUUID(), randomUUID()];
    const types = ['task.created'];
    for (const [filter, details] of [
      [
        { rooms: [room], folderId: form },
        ['filter.rooms', 'filter.folderId'].map((field) => [field, 'unknown_field']),
      ],
      [{ room_id: room, folder_id: 'x' }, [['filter.folder_id', 'is_uuid']]],
      [
        { room_id: room, form_id: form },
        ['filter.form_id', 'filter.room_id'].map((field) => [field, 'not_applicable']),
      ],
      ['x', [['filter', 'nested_validation']]],
    ] as const) {
      const { status, body } = await member.api.post('/webhooks', input({ event_types: types, filter }));
      expect([status, body.error]).toEqual([422, 'validation_failed']);
      expect(body.details.map(({ field, code }: any) => [field, code])).toEqual(details);
    }
    const hook = await at.hook(member, types);
    const change = (fields: object) =>
      member.api.patch(`/webhooks/${hook.id}`, { base_revision: 1, ...fields });
    expect((await change({ filter: { folders: [] } })).body.details[0]).toMatchObject({
      field: 'filter.folders',
      code: 'unknown_field',
      message: 'filter has no field of this name',
    });
    ok(await member.api.get(`/webhooks/${hook.id}`));
  });

  test('the filter names an object that the caller can read; others and unknown ones have the same error', async () => {
    const [stranger] = await app.tenant('filter-hooks', 'stranger');
    const objects = async (user: TestUser) => ({
      folder_id: ok(await user.api.post('/task_folders', { name: 'Trip' }), 201).folder.id,
      calendar_id: ok(await user.api.post('/calendar', { name: 'Trips' }), 201).calendar.id,
      form_id: (await published(user)).id,
      room_id: ok(await user.api.post('/chat/rooms', { type: 'group', name: 'Trip', member_ids: [] }), 201)
        .room.id,
    });
    const types = ['task.created', 'calendar.event.created', 'form.published', 'call.started'];
    const own = await objects(member);
    const hook = await at.hook(member, types, { filter: own });
    expect(hook.filter).toEqual(own);
    const unknown = Object.fromEntries(Object.keys(own).map((name) => [name, randomUUID()]));
    for (const [name, id] of [await objects(owner), await objects(stranger), unknown].flatMap(
      Object.entries,
    )) {
      const expected = [
        {
          field: `filter.${name}`,
          code: 'unknown_object',
          message: `filter.${name} must be an object that you can read`,
        },
      ];
      const made = await member.api.post('/webhooks', input({ event_types: types, filter: { [name]: id } }));
      expect([made.status, made.body.details]).toEqual([422, expected]);
      const changed = await member.api.patch(`/webhooks/${hook.id}`, {
        filter: { [name]: id },
        base_revision: 1,
      });
      expect([changed.status, changed.body.details]).toEqual([422, expected]);
    }
    // The types of a webhook with a filter.
    const { body } = await member.api.patch(`/webhooks/${hook.id}`, {
      event_types: ['note.created'],
      base_revision: 1,
    });
    expect(body.details.map(({ code }: any) => code)).toEqual(Array(4).fill('not_applicable'));
    ok(
      await member.api.patch(`/webhooks/${hook.id}`, {
        event_types: ['note.created'],
        filter: {},
        base_revision: 1,
      }),
    );
  });

  test('show the types of events', async () => {
    const { event_types: types } = ok(await member.api.get('/webhooks/event-types'));
    expect(types).toContainEqual({
      type: 'form.response_submitted',
      description: expect.any(String),
      object: 'response',
      facts: ['form_id', 'response_id'],
      filters: ['form_id'],
      scopes: ['tenant', 'user'],
    });
  });

  test('of the workspace need a permission; its holders see, deactivate and delete them', async () => {
    expect((await member.api.post('/webhooks', input({ scope: 'tenant' }))).status).toBe(403);
    const { webhook } = ok(await owner.api.post('/webhooks', input({ scope: 'tenant' })), 201);
    const path = `/webhooks/${webhook.id}`;
    expect((await member.api.get(path)).status).toBe(404);
    expect(ok(await manager.api.get(path)).webhook.secret).toBeNull();
    const listed = ok(await manager.api.get('/webhooks?scope=tenant')).webhooks;
    expect(listed.map(({ id }: any) => id)).toContain(webhook.id);
    expect(ok(await member.api.get('/webhooks?scope=tenant')).webhooks).toEqual([]);
    for (const rejected of [
      await manager.api.patch(path, { url: at.receiver.urlOf('/theirs'), base_revision: 1 }),
      await manager.api.patch(path, { active: false, event_types: ['task.due'], base_revision: 1 }),
      await manager.api.post(`${path}/rotate-secret`),
      await manager.api.post(`${path}/test`),
      await manager.api.get(`${path}/deliveries`),
      await manager.api.post(`${path}/redeliver`, { since: new Date().toISOString() }),
    ])
      expect([rejected.status, rejected.body.error]).toEqual([403, 'not_owner']);
    ok(await manager.api.patch(path, { active: false, base_revision: 1 }));
    expect((await manager.api.patch(path, { active: true, base_revision: 2 })).body.error).toBe('not_owner');
    ok(await manager.api.delete(path, { base_revision: 2 }));
  });

  test('a user has at most 50', async () => {
    const [user] = await app.tenant('many-hooks', 'user');
    for (let n = 0; n < 50; n += 1) ok(await user.api.post('/webhooks', input()), 201);
    const { status, body } = await user.api.post('/webhooks', input());
    expect([status, body.error, body.quota, body.limit]).toEqual([409, 'quota_exceeded', 'webhooks', 50]);
  });

  test('a test event is sent at once, also to an inactive webhook, and listed', async () => {
    const hook = await at.hook(member, ['task.created'], { active: false });
    const sent = ok(await member.api.post(`/webhooks/${hook.id}/test`)).delivery;
    expect(sent).toMatchObject({
      event_type: 'webhook.test',
      state: 'delivered',
      status_code: 204,
      attempts: 1,
    });
    const [message] = at.receiver.of(hook.path);
    expect(verify(message!, hook.secret)).toEqual({
      type: 'webhook.test',
      timestamp: sent.occurred_at,
      data: { webhook_id: hook.id },
    });
    expect(message!.id).toBe(sent.id);
    at.receiver.on(hook.path, answer(302, '', { location: 'http://10.0.0.1/' }));
    const failed = ok(await member.api.post(`/webhooks/${hook.id}/test`)).delivery;
    expect(failed).toMatchObject({ state: 'failed', status_code: 302 });
    expect(await at.deliveries(member, hook.id)).toEqual([failed, sent]);
    expect(await at.deliveries(member, hook.id, '?state=failed')).toEqual([failed]);
  });

  test('a test event can be repeated like any other', async () => {
    const hook = await at.hook(member, ['task.created']);
    const sent = ok(await member.api.post(`/webhooks/${hook.id}/test`)).delivery;
    const path = `/webhooks/${hook.id}/deliveries/${sent.id}/redeliver`;
    expect(ok(await member.api.post(path)).delivery).toMatchObject({ id: sent.id, state: 'pending' });
    await at.deliver();
    const [first, second] = at.receiver.of(hook.path);
    expect(verify(second!, hook.secret)).toEqual(verify(first!, hook.secret));
    expect(await at.deliveries(member, hook.id)).toMatchObject([{ id: sent.id, state: 'delivered' }]);
  });

  test('are transferred with the content of a member, inactive', async () => {
    const [boss, leaver] = await app.tenant('left-hooks', 'boss', 'leaver');
    const { group } = ok(
      await boss.api.post('/rbac/groups', { name: 'Integrators', permissions: ['webhooks.manage'] }),
      201,
    );
    ok(await boss.api.post(`/rbac/groups/${group.id}/members`, { user_ids: [leaver.id] }), 201);
    const ofTenant = await at.hook(leaver, ['note.created'], { scope: 'tenant' });
    const own = await at.hook(leaver, ['note.created']);
    ok(await boss.api.post(`/tenant/members/${leaver.id}/deactivate`));
    const { transferred } = ok(await boss.api.post(`/tenant/members/${leaver.id}/transfer`, { to: boss.id }));
    expect(transferred.webhooks).toBe(2);
    const { webhooks } = ok(await boss.api.get('/webhooks'));
    const moved = { owner_id: boss.id, active: false, disabled_reason: 'transferred' };
    expect(webhooks).toMatchObject([
      { id: ofTenant.id, scope: 'tenant', ...moved },
      { id: own.id, scope: 'user', ...moved },
    ]);
  });
});
