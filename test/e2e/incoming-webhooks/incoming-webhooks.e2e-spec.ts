import { randomUUID } from 'node:crypto';
import { TestApp, type TestUser } from '../../support/app.ts';
import { ok } from '../../support/domains/forms.ts';

describe('incoming webhooks', () => {
  let app: TestApp;
  let owner: TestUser;
  let member: TestUser;
  let other: TestUser;
  let room: string;
  let folder: string;
  let calendar: string;

  beforeAll(async () => {
    app = await TestApp.start();
    [owner, member, other] = await app.tenant('in', 'owner', 'member', 'other');
    const made = ok(
      await owner.api.post('/chat/rooms', { type: 'group', name: 'Alerts', member_ids: [member.id] }),
      201,
    );
    room = made.room.id;
    folder = ok(await member.api.post('/task_folders', { name: 'Inbox' }), 201).task_folder.id;
    calendar = ok(await member.api.get('/calendar')).calendars[0].id;
  });
  afterAll(() => app?.stop());

  const targets = () => ({
    room: { type: 'room', id: room },
    task_folder: { type: 'task_folder', id: folder },
    calendar: { type: 'calendar', id: calendar },
  });

  async function hook(target: object, fields: object = {}, user = member): Promise<any> {
    const { incoming_webhook: made } = ok(
      await user.api.post('/incoming-webhooks', { name: 'Build server', target, ...fields }),
      201,
    );
    return { ...made, path: new URL(made.url).pathname.replace('/apis/v1', '') };
  }

  const post = ({ path }: { path: string }, body: unknown, headers: Record<string, string> = {}) =>
    app.anonymous.post(path, body, { headers });

  const messages = async (): Promise<any[]> =>
    ok(await owner.api.get(`/chat/rooms/${room}/messages`)).messages;

  test('need a target', async () => {
    const { status, body } = await member.api.post('/incoming-webhooks', { name: 'Build server' });
    expect([status, body.details]).toMatchObject([422, [{ field: 'target', code: 'is_defined' }]]);
  });

  test('have an address that only their creation and rotation show', async () => {
    const made = await hook(targets().room);
    expect(made).toMatchObject({
      revision: 1,
      owner_id: member.id,
      name: 'Build server',
      target: targets().room,
      active: true,
      last_used_at: null,
    });
    const path = `/incoming-webhooks/${made.id}`;
    const { path: _, ...shown } = made;
    expect(ok(await member.api.get(path)).incoming_webhook).toEqual({ ...shown, url: null });
    expect(ok(await member.api.get('/incoming-webhooks')).incoming_webhooks.at(-1)).toEqual({
      ...shown,
      url: null,
    });
    const rotated = ok(await member.api.post(`${path}/rotate-address`)).incoming_webhook;
    expect(rotated.url).toMatch(/\/apis\/v1\/hooks\/[\w-]{64}$/);
    expect((await post(made, { text: 'x' })).status).toBe(404);
    const [stored] = await app.sql('SELECT token_hash FROM incoming_webhooks WHERE id = $1', [made.id]);
    expect(stored.token_hash).toHaveLength(32);
  });

  test('a repeated creation returns no address', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const input = { name: 'x', target: targets().room };
    const first = ok(await member.api.post('/incoming-webhooks', input, { headers }), 201).incoming_webhook;
    const second = ok(await member.api.post('/incoming-webhooks', input, { headers }), 201).incoming_webhook;
    expect(second).toEqual({ ...first, url: null });
  });

  test('post into a room, named and with their owner as the sender', async () => {
    const made = await hook(targets().room);
    const { status, body } = await post(made, { text: 'Disk of *db1* is <https://x.example|full>' });
    expect([status, body]).toEqual([200, { ok: true, kind: 'message', id: expect.any(String) }]);
    expect((await messages()).at(-1)).toMatchObject({
      id: body.id,
      kind: 'text',
      sender: { kind: 'user', id: member.id },
      via: { id: made.id, name: 'Build server' },
      body: 'Disk of **db1** is [full](https://x.example)',
      format: 'markdown',
    });
    expect(
      ok(await member.api.get(`/incoming-webhooks/${made.id}`)).incoming_webhook.last_used_at,
    ).not.toBeNull();
    const written = { client_msg_id: randomUUID(), body: 'by hand' };
    const own = ok(await member.api.post(`/chat/rooms/${room}/messages`, written), 201);
    expect(own.message.via).toBeNull();
  });

  test('null is the same as a missing member', async () => {
    const made = await hook(targets().room);
    const absent = { mrkdwn: null, blocks: null };
    ok(await post(made, { ...absent, text: null, attachments: [{ text: 'attached' }] }));
    expect((await messages()).at(-1).body).toBe('attached');
    for (const part of [
      { attachments: [{ title: 'CPU' }] },
      { blocks: [{ text: { type: 'mrkdwn', text: 'CPU' } }] },
    ]) {
      ok(await post(made, { text: '', ...part }));
      expect((await messages()).at(-1).body).toBe('CPU');
    }
    ok(await post(made, { ...absent, text: '*own*', attachments: null }));
    expect((await messages()).at(-1).body).toBe('**own**');
    const task = await hook(targets().task_folder);
    expect((await post(task, { text: null, title: 'Own' })).status).toBe(200);
  });

  test('create tasks in a folder', async () => {
    const made = await hook(targets().task_folder);
    const { body } = await post(made, { text: 'Rotate the certificate\n\n<b>before</b> Friday\nplease' });
    const { task } = ok(await member.api.get(`/tasks/${body.id}`));
    expect(task).toMatchObject({ title: 'Rotate the certificate', folder_id: folder });
    expect(task.description).toBe('<p>&lt;b&gt;before&lt;/b&gt; Friday<br>please</p><p>via Build server</p>');
    const full = {
      title: 'Named',
      description: '<p>x</p>',
      date: '2027-01-05',
      priority: 'high',
      labels: ['ops'],
    };
    const second = ok(await post(made, full));
    expect(ok(await member.api.get(`/tasks/${second.id}`)).task).toMatchObject({
      ...full,
      description: '<p>x</p><p>via Build server</p>',
    });
  });

  test('create events in a calendar, without attendees', async () => {
    const made = await hook(targets().calendar);
    const event = {
      text: 'Release\nVersion 4.2',
      start: { date_time: '2027-03-02T09:00:00', time_zone: 'Europe/Berlin' },
      duration: 'PT30M',
      attendees: [{ email: 'somebody@outside.example' }],
    };
    const { body } = await post(made, event);
    expect(body).toMatchObject({ ok: true, kind: 'event' });
    const read = ok(await member.api.get(`/calendar/${calendar}/events/${body.id}`)).event;
    expect(read).toMatchObject({
      title: 'Release',
      description: 'Version 4.2\n\nvia Build server',
      attendees: [],
    });
  });

  test.each([
    ['room', {}, 'text'],
    ['room', { text: '   ' }, 'text'],
    ['room', { text: '', attachments: [{ text: '' }] }, 'text'],
    ['task_folder', { text: '' }, 'text'],
    ['room', { text: 7 }, 'text'],
    ['room', { text: 'x'.repeat(32_001) }, 'text'],
    ['room', { attachments: 'x' }, 'attachments'],
    ['task_folder', {}, 'text'],
    ['task_folder', { title: ' ' }, 'title'],
    ['task_folder', { title: 'x', date: 'soon' }, 'date'],
    ['calendar', { title: 'x' }, 'start'],
    ['calendar', { text: 'x', start: { date_time: 'soon' } }, 'start'],
  ] as const)('reject an invalid payload for a %s: %j', async (type, body, field) => {
    const made = await hook(targets()[type]);
    const response = await post(made, body);
    expect([response.status, response.body.error]).toEqual([422, 'validation_failed']);
    expect(response.body.details[0].field).toMatch(new RegExp(`^${field}`));
  });

  test('reject other media types, and text that is no JSON', async () => {
    const made = await hook(targets().room);
    const send = (raw: string, type: string) =>
      app.anonymous.post(made.path, undefined, { raw, headers: { 'content-type': type } });
    expect((await send('payload=x', 'application/x-www-form-urlencoded')).status).toBe(415);
    expect((await send('{', 'application/json')).status).toBe(400);
  });

  test('work once for each Idempotency-Key, and store no token', async () => {
    const made = await hook(targets().room);
    const headers = { 'idempotency-key': randomUUID() };
    const [first, second] = await Promise.all([
      post(made, { text: 'once' }, headers),
      post(made, { text: 'once' }, headers),
    ]);
    const again = await post(made, { text: 'once' }, headers);
    const ids = [first, second, again].flatMap(({ status, body }) => (status === 200 ? [body.id] : [status]));
    expect(new Set(ids.filter((id) => id !== 409)).size).toBe(1);
    expect((await messages()).filter(({ body }) => body === 'once')).toHaveLength(1);
    const token = made.path.split('/').at(-1);
    expect(await app.sql('SELECT FROM idempotency_keys WHERE route LIKE $1', [`%${token}%`])).toEqual([]);
    expect((await post(made, { text: 'twice' }, headers)).body.error).toBe('idempotency_key_reused');
  });

  test('need a target that the owner may write to, when they are made and when they are used', async () => {
    const target = targets();
    for (const each of [target.room, target.task_folder, target.calendar]) {
      const { status, body } = await other.api.post('/incoming-webhooks', { name: 'x', target: each });
      expect([status, body.details?.[0]?.code]).toEqual([422, 'unknown_target']);
    }
    const own = ok(
      await owner.api.post('/chat/rooms', { type: 'group', name: 'Gone', member_ids: [other.id] }),
      201,
    ).room;
    const made = await hook({ type: 'room', id: own.id }, {}, other);
    ok(await post(made, { text: 'in' }));
    ok(await owner.api.delete(`/chat/rooms/${own.id}/members/${other.id}`));
    expect((await post(made, { text: 'out' })).status).toBe(404);
    const shared = ok(
      await member.api.post('/task_folders', {
        name: 'Shared',
        members: [{ user_id: other.id, role: 'editor' }],
      }),
      201,
    ).task_folder;
    const tasks = await hook({ type: 'task_folder', id: shared.id }, {}, other);
    ok(await post(tasks, { text: 'in' }));
    const viewer = { members: [{ user_id: other.id, role: 'viewer' }], base_revision: shared.revision };
    ok(await member.api.patch(`/task_folders/${shared.id}`, viewer));
    expect((await post(tasks, { text: 'out' })).status).toBe(404);
  });

  test('end with the membership of their owner', async () => {
    const [boss, leaver] = await app.tenant('leave', 'boss', 'leaver');
    const { room: place } = ok(
      await boss.api.post('/chat/rooms', { type: 'group', name: 'x', member_ids: [leaver.id] }),
      201,
    );
    const made = await hook({ type: 'room', id: place.id }, {}, leaver);
    ok(await post(made, { text: 'x' }));
    ok(await boss.api.post(`/tenant/members/${leaver.id}/deactivate`));
    expect((await post(made, { text: 'x' })).status).toBe(404);
  });

  test('are changed by their owner, and deactivated and deleted by administrators', async () => {
    const made = await hook(targets().room);
    const path = `/incoming-webhooks/${made.id}`;
    expect((await other.api.get(path)).status).toBe(404);
    expect((await other.api.patch(path, { active: false, base_revision: 1 })).status).toBe(404);
    const change = (user: TestUser, body: object) => user.api.patch(path, body);
    expect((await change(owner, { name: 'x', base_revision: 1 })).body.error).toBe('not_owner');
    expect((await owner.api.post(`${path}/rotate-address`)).body.error).toBe('not_owner');
    expect(ok(await change(owner, { active: false, base_revision: 1 })).incoming_webhook).toMatchObject({
      active: false,
      revision: 2,
    });
    expect((await post(made, { text: 'x' })).status).toBe(404);
    expect((await change(member, { name: 'y', base_revision: 1 })).body.error).toBe('conflict');
    const changed = { name: 'Deploys', target: targets().task_folder, active: true, base_revision: 2 };
    expect(ok(await change(member, changed)).incoming_webhook).toMatchObject({
      name: 'Deploys',
      revision: 3,
    });
    expect((await change(member, { name: 'Deploys', base_revision: 3 })).body.error).toBe('no_changes');
    expect(ok(await post(made, { text: 'x' })).kind).toBe('task');
    expect(ok(await owner.api.delete(path, { base_revision: 3 })).deleted).toBe(true);
    expect((await post(made, { text: 'x' })).status).toBe(404);
  });

  test('an archived room takes no messages', async () => {
    const { room: old } = ok(
      await member.api.post('/chat/rooms', { type: 'group', name: 'Old', member_ids: [] }),
      201,
    );
    const made = await hook({ type: 'room', id: old.id });
    ok(await member.api.put(`/chat/rooms/${old.id}`, { archived: true }));
    expect((await post(made, { text: 'x' })).body.error).toBe('room_archived');
  });

  test('take 60 requests in a minute', async () => {
    const made = await hook(targets().room);
    const responses = await Promise.all(Array.from({ length: 150 }, () => post(made, {})));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([422, 429]));
    expect(responses.filter(({ status }) => status === 422).length).toBeGreaterThanOrEqual(60);
    const rejected = responses.find(({ status }) => status === 429);
    expect(Number(rejected?.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test.each(['x', 'A'.repeat(64), '%00', 'a'.repeat(5_000)])('unknown token %#', async (token) => {
    expect((await app.anonymous.post(`/hooks/${token}`, { text: 'x' })).status).toBe(404);
  });
});
