import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { MAIL_SCHEMA } from '../../src/mail-service/mail-service.schema.js';
import { hashOf, readToken } from '../../src/platform/secrets/secret-box.js';
import { TestApp, type TestUser } from '../support/app.ts';
import { ok, published } from '../support/domains/forms.ts';
import { GuestBrowser } from '../support/domains/guests.ts';
import { mailboxesOf, type MailClient, TestMailService } from '../support/mail/mail-service.ts';
import type { Release } from '../support/release/release.ts';

const FILE = new URL('../fixtures/upgrade/release.json.gz', import.meta.url);

/** Calls of `sql/release-0.1.0.sql`. Deleted with these files. */
describe('a process of release 0.1.0 on the schema of this version', () => {
  let app: TestApp;
  let mail: TestMailService;
  let db: pg.Client;
  let release: Release;

  beforeAll(async () => {
    // The client of the test connects to one database.
    app = await TestApp.start({ TEST_CELLS: '0' });
    mail = await TestMailService.start({}, app.databaseUrl);
    db = new pg.Client({ connectionString: app.databaseUrl });
    await db.connect();
    release = JSON.parse(gunzipSync(readFileSync(FILE)).toString()) as Release;
  });
  afterAll(async () => {
    await db?.end();
    await mail?.stop();
    await app?.stop();
  });

  async function run(statement: string, values: unknown[]): Promise<any> {
    const { schema, text } = release.statements.find(({ name }) => name === statement)!;
    await db.query(`SET search_path = ${schema}`);
    return (await db.query(text, values)).rows[0];
  }

  describe('forms', () => {
    const SEARCH = 'folded text';
    let ann: TestUser;
    let form: string;
    const who = () => [ann.tenantId, form, ann.id];

    beforeEach(async () => {
      [ann] = await app.tenant(`forms-${randomUUID()}`, 'ann');
      form = (await published(ann, undefined, { settings: { allow_edit: true } })).id;
    });

    const submit = (id: string, client: string | null, answers: object) =>
      run('form_responses.submit', [
        ...who(),
        id,
        client,
        1,
        1,
        answers,
        SEARCH,
        randomBytes(32),
        [],
        12,
        randomUUID(),
      ]);

    const stored = async (id: string) =>
      (
        await app.sql(
          `SELECT answers, search_text, duration_seconds, version, respondent_id, client_response_id
             FROM form_responses WHERE tenant_id = $1 AND id = $2`,
          [ann.tenantId, id],
        )
      )[0];

    test('submits a response once', async () => {
      const [id, client, event] = [randomUUID(), randomUUID(), 'form.response_submitted'];
      // Until the commit, the outbox delivers no event.
      await db.query('BEGIN');
      const first = await submit(id, client, { name: 'Ann' });
      const { rows: events } = await db.query(
        'SELECT payload FROM outbox WHERE tenant_id = $1 AND type = $2',
        [ann.tenantId, event],
      );
      await db.query('COMMIT');
      expect(first).toMatchObject({ outcome: 'ok', id, version: 1 });
      expect(await submit(randomUUID(), client, { name: 'Ann' })).toEqual({ ...first, outcome: 'repeated' });
      expect(await submit(randomUUID(), client, { name: 'Ben' })).toMatchObject({
        outcome: 'client_response_id_reused',
      });
      expect(await stored(id)).toEqual({
        answers: { name: 'Ann' },
        search_text: SEARCH,
        duration_seconds: 12,
        version: 1,
        respondent_id: ann.id,
        client_response_id: client,
      });
      expect(events).toEqual([{ payload: { form_id: form, response_id: id } }]);
    });

    test('edits a response', async () => {
      const id = randomUUID();
      const first = await submit(id, null, { name: 'Ann' });
      const edit = await run('form_responses.resubmit', [
        ...who(),
        id,
        1,
        1,
        { name: 'Anna' },
        'anna',
        [],
        randomUUID(),
      ]);
      expect(edit).toEqual(first);
      expect(await stored(id)).toMatchObject({ answers: { name: 'Anna' }, search_text: 'anna' });
    });
  });

  describe('tasks', () => {
    let ann: TestUser;
    let bob: TestUser;
    const of = (id: string) => [ann.tenantId, ann.id, id];
    const task = async (id: string) => ok(await ann.api.get(`/tasks/${id}`)).task;
    /** Creates a task. @returns its id */
    const create = async (patch: object): Promise<string> => {
      const id = randomUUID();
      const made = await run('tasks.create', [...of(id), { patch: { title: 'Task', ...patch } }]);
      expect(made).toMatchObject({ outcome: 'ok', revision: 1 });
      return id;
    };

    beforeEach(async () => {
      [ann, bob] = await app.tenant(`tasks-${randomUUID()}`, 'ann', 'bob');
    });

    test('creates, completes and deletes a task that repeats', async () => {
      const recurrence = { rrule: 'FREQ=DAILY', from: 'schedule' };
      const id = await create({ date: '2026-01-05', time_zone: 'Europe/Paris', recurrence });
      const write = { base: 1, patch: { status: 2 } };
      const basis = await run('tasks.update', [...of(id), write]);
      expect([basis.outcome, JSON.parse(basis.json)]).toMatchObject([
        'reschedule',
        { ...recurrence, start: '2026-01-05', date: '2026-01-05' },
      ]);
      const next = { id: randomUUID(), date: '2026-01-06', due_at: null };
      const done = { ...write, in_steps: true, planned: true, next };
      expect(await run('tasks.update', [...of(id), done])).toMatchObject({ outcome: 'ok', revision: 2 });
      expect(await task(id)).toMatchObject({ status: 'done', next_task_id: next.id });
      expect(await task(next.id)).toMatchObject({ status: 'open', date: '2026-01-06', recurrence });
      expect(await run('tasks.update', [...of(id), write])).toMatchObject({ outcome: 'conflict' });
      for (const [more, deleted] of [
        [{ keep_days: 1 }, true],
        [{ restore: true }, false],
      ] as const) {
        const written = await run('tasks.trash', [...of(id), { patch: {}, ...more }]);
        expect([written.outcome, (await task(id)).deleted]).toEqual(['ok', deleted]);
      }
    });

    test('reports reminders and due dates', async () => {
      const soon = new Date(Date.now() + 3_600_000).toISOString();
      const id = await create({ due_at: soon, reminders: [{ minutes_before: 10 }] });
      await app.sql(
        `UPDATE tasks SET next_reminder_at = now() - interval '1 minute', next_due_at = now() - interval '1 minute' WHERE id = $1`,
        [id],
      );
      expect((await run('tasks.remind', [100])).count).toBe(1);
      expect((await run('tasks.fall_due', [100])).count).toBe(1);
      expect(await app.sql('SELECT next_reminder_at, due_stage FROM tasks WHERE id = $1', [id])).toEqual([
        { next_reminder_at: new Date(Date.parse(soon) - 600_000), due_stage: 2 },
      ]);
    });

    test('purges tasks whose time in the trash is over', async () => {
      const id = await create({});
      ok(await ann.api.delete(`/tasks/${id}`));
      await app.sql(`UPDATE tasks SET purge_at = now() - interval '1 minute' WHERE id = $1`, [id]);
      while ((await run('tasks.purge_due', [100])).count > 0);
      expect((await ann.api.get(`/tasks/${id}`)).status).toBe(404);
      expect(await app.sql('SELECT role, gone FROM task_members WHERE task_id = $1', [id])).toEqual([
        { role: null, gone: 2 },
      ]);
      expect((await ann.api.post('/tasks', { id, title: 'again' })).body.error).toBe('already_exists');
    });

    test('counts a comment, and gives tasks to another member', async () => {
      const id = await create({});
      const part = { list: 'comments', activity: 'commented', data: { id: randomUUID() }, comments: 1 };
      expect((await run('task_parts.written', [...of(id), part])).outcome).toBe('ok');
      expect((await task(id)).comments_count).toBe(1);
      const from = [ann.tenantId, ann.id];
      expect((await run('tasks.lock_owned', from)).users).toEqual([ann.id]);
      expect((await run('tasks.transfer', [...from, bob.id, ann.id, 10])).count).toBe(1);
      expect(ok(await bob.api.get(`/tasks/${id}`)).task.role).toBe('owner');
    });
  });

  test('notes', async () => {
    const [ann, bob] = await app.tenant(`notes-${randomUUID()}`, 'ann', 'bob');
    const [id, task] = [randomUUID(), randomUUID()];
    const folder = ok(await ann.api.post('/note_folders', { name: 'Folder' }), 201).folder.id;
    const call = async (name: string, ...values: unknown[]) => {
      const { outcome, json } = await run(`notes.${name}`, [ann.tenantId, ann.id, id, ...values]);
      return { outcome, note: JSON.parse(json) };
    };
    const event = randomUUID;
    const fields = { title: 'Note', folder_id: folder };
    expect((await call('create', fields, '<p>a</p>', event())).outcome).toBe('ok');
    const update = [1, { title: 'New' }, '<p>b</p>', event(), null];
    expect(await call('update', ...update)).toMatchObject({
      outcome: 'ok',
      note: { title: 'New', revision: 2 },
    });
    expect((await call('update', ...update)).outcome).toBe('conflict');
    const shared = await call('share', 'set', { role: 'editor', expires_at: null }, 'token', event());
    expect(shared.note.share).toMatchObject({ role: 'editor', token: 'token' });
    const invited = await call('invite', [bob.id], ['viewer'], event());
    expect(invited.note.invited).toMatchObject([{ id: bob.id, role: 'viewer' }]);
    expect((await run('notes.open_for_task', [ann.tenantId, ann.id, id, true, [], [], 500])).json).toBe(
      'New',
    );
    expect((await call('link_task', task)).note.links).toMatchObject([{ id: task }]);
    const change = { note: id, task, created_at: new Date(), present: false };
    await run('notes.links_change', [ann.tenantId, JSON.stringify([change]), [ann.id]]);
    expect((await call('trash', 2, 30, null, event())).note).toMatchObject({ deleted: true, links: [] });
    expect((await call('restore', null, event())).note.deleted).toBe(false);
    await run('notes.move_folder', [ann.tenantId, ann.id, folder, null]);
    expect((await run('notes.transfer', [ann.tenantId, ann.id, bob.id, ann.id])).count).toBe(1);
    expect(ok(await bob.api.get(`/notes/${id}`)).note).toMatchObject({
      folder_id: null,
      role: 'owner',
      share: null,
    });
    expect((await run('notes.transfer', [ann.tenantId, bob.id, ann.id, ann.id])).count).toBe(1);
    expect(
      ok(await ann.api.patch(`/notes/${id}`, { folder_id: folder, base_revision: 2 })).note.revision,
    ).toBe(3);
    await run('notes.trash_folders', [ann.tenantId, ann.id, [folder], 30]);
    expect((await call('purge', event())).note).toMatchObject({ deleted: true, folder_id: null });
    expect((await ann.api.get(`/notes/${id}`)).status).toBe(404);
    expect((await run('notes.purge_due', [100])).count).toBe(0);
  });

  test('chat: messages of a process of the release', async () => {
    const [ann, bob] = await app.tenant(`chat-${randomUUID()}`, 'ann', 'bob');
    const body = { type: 'group', name: 'Room', member_ids: [bob.id] };
    const { room } = ok(await ann.api.post('/chat/rooms', body), 201);
    const key = [ann.tenantId, ann.id, room.id];
    const text = { format: 'plain', mentions: [bob.id], attachments: [], tsv: '' };
    const input = { ...text, id: randomUUID(), client_msg_id: randomUUID(), fingerprint: '00', body: 'Hi' };
    expect(await run('chat_messages.send', [...key, input])).toMatchObject({ outcome: 'ok', mod_seq: 1 });
    expect((await run('chat_messages.send', [...key, input])).outcome).toBe('duplicate');
    const edit = await run('chat_messages.edit', [...key, input.id, 1, { ...text, body: 'Hello' }]);
    expect(edit).toMatchObject({ outcome: 'ok', mod_seq: 2 });
    const reaction = await run('chat_messages.react', [...key, input.id, '👍', true, 20]);
    expect(JSON.parse(reaction.message).reactions).toEqual([{ emoji: '👍', count: 1, user_ids: [ann.id] }]);
    const { messages } = ok(await bob.api.get(`/chat/rooms/${room.id}/messages`));
    expect(messages).toEqual([JSON.parse(reaction.message)]);
    expect((await run('chat_messages.delete', [...key, input.id, false])).outcome).toBe('ok');
    expect((await run('chat_rooms.lock', key)).role).toBe('owner');
    expect(
      (await run('chat_rooms.report', [...key, randomUUID(), { type: 'room_updated' }, 'system'])).mod_seq,
    ).toBe(5);
    const guest = [ann.tenantId, randomUUID(), 'Gina', room.id, { ...input, id: randomUUID() }];
    expect(JSON.parse((await run('chat_guests.send', guest)).message)).toMatchObject({ seq: 3, body: 'Hi' });
    ok(await ann.api.delete(`/chat/rooms/${room.id}`));
    while ((await run('chat_rooms.purge', [1])).done);
    expect(await app.sql('SELECT id FROM chat_rooms WHERE id = $1', [room.id])).toEqual([]);
  });

  test('presence: devices and choices of a process of the release', async () => {
    const [ann] = await app.tenant(`presence-${randomUUID()}`, 'ann');
    const [id, key] = [randomUUID(), { tenant_id: ann.tenantId, user_id: ann.id }];
    const device = { ...key, id, active: true, rooms: [], session_id: null };
    expect((await run('presence.join', [JSON.stringify([device]), 75])).status).toBe('online');
    const choice = [ann.tenantId, ann.id, 'dnd', 'Focus', null, 10];
    expect(await run('presence.choose', choice)).toMatchObject({ ...key, status: 'dnd', text: 'Focus' });
    const columns = [[ann.tenantId], [ann.id], [id]];
    expect(await run('presence.beat', [...columns, 75])).toEqual({ id });
    await run('presence.leave', [...columns, -1]);
    expect(await run('presence.sweep', [1_000, 75])).toMatchObject({ ...key, status: 'offline' });
  });

  describe('guests', () => {
    let ann: TestUser;
    let call: string;
    let room: string;

    beforeEach(async () => {
      [ann] = await app.tenant(`guests-${randomUUID()}`, 'ann');
      room = ok(await ann.api.post('/chat/rooms', { type: 'group', name: 'Room' }), 201).room.id;
      call = randomUUID();
      await app.sql(
        `INSERT INTO calls (tenant_id, id, room_id, title, kind, state, host_id, max_viewers, started_at)
         VALUES ($1, $2, $3, 'Review', 'livestream', 'live', $4, 1, now())`,
        [ann.tenantId, call, room, ann.id],
      );
    });

    /** Workspace and hash of the token of a new link, and the token. */
    const newLink = async (fields: object) => {
      const body = { call_id: call, kind: 'link', ...fields };
      const { token } = ok(await ann.api.post('/call/external_invites', body), 201).invites[0];
      return { token, key: [ann.tenantId, readToken(token).hash] };
    };

    /** A new guest as the release sends one; `guestToken` and `session` are the texts of its tokens. */
    const newGuest = (fields: object = {}) => {
      const [guestToken, session] = [randomUUID(), randomUUID()];
      const hashes = { token: hashOf(guestToken).toString('hex'), session: hashOf(session).toString('hex') };
      const none = { email: null, codes: null, address: '00', user_agent: null };
      return {
        guestToken,
        session,
        input: { id: randomUUID(), name: 'Gina', ...none, ...hashes, ...fields },
      };
    };

    const result = async (statement: string, values: unknown[]) => (await run(statement, values)).result;

    test('have one session in processes of both versions', async () => {
      const { token, key } = await newLink({ require_approval: false });
      const { input, ...tokens } = newGuest();
      const session = [...key, hashOf(tokens.session)];
      const claimed = await result('guests.claim', [...key, input, 900, true]);
      expect(claimed).toMatchObject({ outcome: 'ok', id: input.id, state: 'admitted', is_new: false });
      const entered = { outcome: 'ok', state: 'in_session', call_id: call };
      expect(await result('guests.enter', session)).toMatchObject(entered);
      const written = { outcome: 'ok', room_id: room, after_seq: 0 };
      expect(await result('guests.chat', [...session, 5, 8])).toMatchObject(written);
      expect((await result('guests.chat', [...session, 5, 8])).outcome).toBe('quota');
      const seen = { guest_id: input.id, guest_state: 'in_session', chat_rejection: null };
      expect(await run('guests.view', session)).toMatchObject(seen);

      const browser = Object.assign(new GuestBrowser(app.anonymous, token), tokens);
      expect(ok(await browser.get('status')).guest).toMatchObject({ id: input.id, state: 'in_session' });
      ok(await browser.renew());
      const next = newGuest();
      const hashes = [hashOf(next.guestToken), hashOf(next.session), 900];
      expect((await result('guests.rotate', [...key, hashOf(tokens.guestToken), ...hashes])).outcome).toBe(
        'reused',
      );
      expect((await browser.post('session/leave')).status).toBe(200);
      const unknown = hashOf(browser.guestToken);
      expect((await result('guests.rotate', [...key, unknown, ...hashes])).outcome).toBe('invalid');
    });

    test('prove an address', async () => {
      const { key } = await newLink({ require_approval: false, require_otp: true });
      const [email, code] = ['gina@partner.example', randomBytes(32)];
      const request = [...key, 'join', email, code, Buffer.from('network'), true, 200];
      const sent = { outcome: 'ok', fits: true, title: 'Review' };
      for (let n = 0; n < 3; n += 1) expect(await result('guests.request_code', request)).toMatchObject(sent);
      expect((await result('guests.request_code', request)).outcome).toBe('limited');
      const claim = (codes: string[]) => {
        const { session, input } = newGuest({ email, codes });
        return { session, claimed: result('guests.claim', [...key, input, 900, true]) };
      };
      expect(await claim(['00']).claimed).toMatchObject({ outcome: 'otp_invalid', attempts_left: 4 });
      const { session, claimed } = claim([code.toString('hex')]);
      expect(await claimed).toMatchObject({ outcome: 'ok', state: 'admitted' });
      const left = await result('guests.leave', [...key, hashOf(session)]);
      expect(left).toMatchObject({ outcome: 'ok', before: 'admitted', role: 'guest' });
      expect((await result('guests.enter', [...key, hashOf(session)])).outcome).toBe('no_session');
    });

    test('wait for a decision', async () => {
      const { key } = await newLink({});
      const { session, input } = newGuest();
      const claimed = await result('guests.claim', [...key, input, 900, true]);
      expect(claimed).toMatchObject({ outcome: 'ok', state: 'waiting', is_new: true });
      const idle = `UPDATE guests SET active_at = now() - interval '11 minutes' WHERE tenant_id = $1 AND id = $2`;
      await app.sql(idle, [ann.tenantId, input.id]);
      const timedOut = { tenant_id: ann.tenantId, id: input.id, was_waiting: true };
      expect(await run('guests.time_out', [1_000])).toEqual(timedOut);
      const entered = await result('guests.enter', [...key, hashOf(session)]);
      expect(entered).toMatchObject({ outcome: 'waiting', is_new: true });
      const review = async (admits: boolean) =>
        (await run('approvals.review', [ann.tenantId, ann.id, false, input.id, admits, '', false])).outcome;
      expect([await review(true), await review(true), await review(false)]).toEqual([
        'ok',
        'unchanged',
        'already_reviewed',
      ]);
    });

    test('watch a livestream', async () => {
      const { key } = await newLink({ role: 'viewer' });
      const join = (session: Buffer | null, input: object) =>
        result('guests.join_viewer', [...key, session, input, 3_600]);
      const { session, input } = newGuest();
      expect(await join(null, input)).toMatchObject({ outcome: 'ok', is_new: true, id: input.id });
      expect(await join(hashOf(session), newGuest().input)).toMatchObject({ outcome: 'ok', is_new: false });
      expect((await join(null, newGuest().input)).outcome).toBe('full');
      const [email, code] = ['gina@partner.example', randomBytes(32)];
      const request = [...key, 'livestream', email, code, Buffer.from('network'), true, 200];
      expect((await result('guests.request_code', request)).outcome).toBe('ok');
      const viewer = newGuest({ email, codes: [code.toString('hex')] });
      const verified = await result('guests.verify_viewer', [...key, viewer.input, 3_600, true]);
      expect(verified).toMatchObject({ outcome: 'ok', id: viewer.input.id, state: 'admitted' });
    });
  });

  describe('mail', () => {
    let ben: MailClient;
    let drafts: string;
    let uid: number;

    beforeEach(async () => {
      ben = await mail.person(`ben-${randomUUID()}`);
      drafts = (await mailboxesOf(ben))['Drafts'] as string;
      const draft = {
        to: [{ address: `to@${randomUUID()}.example` }],
        subject: 'Plan',
        text: 'x',
        draft: true,
      };
      uid = ok((await ben.post(`/users/me/mailboxes/${drafts}/messages`, draft)) as any).message.id;
    });

    const message = async (mailbox = drafts, id = uid) =>
      ok((await ben.get(`/users/me/mailboxes/${mailbox}/messages/${id}`)) as any);

    test('changes flags; null keeps a field', async () => {
      const flag = (...values: unknown[]) =>
        run('messages.flag', [ben.id, drafts, [uid], null, null, ...values]);
      const expires = new Date(Date.now() + 86_400_000);
      const metaData = { a: null, b: 1 };
      expect(await flag(null, true, null, metaData, expires, false)).toEqual({ matched: '1' });
      const changed = await message();
      expect(changed).toMatchObject({ flagged: true, metaData, expires: expires.toISOString() });
      await flag(true, null, null, null, null, false);
      expect(await message()).toEqual({ ...changed, seen: true });
      await flag(null, false, null, null, null, true);
      const kept = await message();
      expect(kept).toMatchObject({ seen: true, flagged: false, metaData });
      expect(kept).not.toHaveProperty('expires');
    });

    test('submits a draft', async () => {
      const raw = (await app.sql(
        `SELECT raw_id FROM ${MAIL_SCHEMA}.messages WHERE user_id = $1 AND uid = $2`,
        [ben.id, uid],
      )) as any;
      const due = new Date(Date.now() + 3_600_000);
      const recipients = ['one@else.example', 'two@else.example'];
      const values = [
        ben.id,
        drafts,
        uid,
        'q'.padEnd(24, '0'),
        'ben@acme.example',
        recipients,
        raw[0].raw_id,
        due,
      ];
      expect(await run('queue.submit', [...values, 1])).toMatchObject({ outcome: 'rate_limited' });
      const sent = await run('queue.submit', [...values, 2]);
      expect(sent).toMatchObject({ outcome: 'ok', seconds: null });
      const queued = await app.sql(
        `SELECT recipient, sender, subject, due_at FROM ${MAIL_SCHEMA}.queue WHERE id = $1 ORDER BY seq`,
        [values[3]],
      );
      const entry = { sender: 'ben@acme.example', subject: 'Plan', due_at: due };
      expect(queued).toEqual(recipients.map((recipient) => ({ recipient, ...entry })));
      expect(await message(sent.mailbox, sent.uid)).toMatchObject({ draft: false, date: due.toISOString() });
    });
  });
});
