import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import {
  PersonalErasures,
  PersonalErasureWorker,
} from '../../../src/modules/personal-data/erasure/personal-erasures.js';
import { PersonalErasuresRepository } from '../../../src/modules/personal-data/erasure/personal-erasures.repository.js';
import { BlobCollector } from '../../../src/platform/blobs/blob-collector.js';
import { statements } from '../../../src/platform/database/statement.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { provision } from '../../../src/provision/provision.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { json, workspace } from '../../support/installation/cli.ts';
import { ok } from '../../support/domains/forms.ts';
import { inTransaction, lockWaiters } from '../../support/database/locks.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';
import { writeEverywhere } from '../../support/domains/personal-data.ts';
import { until } from '../../support/until.ts';
import { childEnv } from '../../support/installation/child-env.ts';

const each = (reason: string, names: string): Record<string, string> =>
  Object.fromEntries(names.split(/\s+/).map((name) => [name, reason]));

/** In the name, the address and all private content of the erased user. */
const MARKER = 'zqerasemezq';

/** Tables that keep the marker, with the reason. */
const KEPT: Record<string, string> = {
  audit_log: 'the security log is append-only and deleted by its retention',
};

/** Tables with references to users that an erasure leaves as they are, with the reason. */
const USER_REFERENCES: Record<string, string> = {
  ...each(
    'ids only, for the share of the user in content that stays',
    `addressbook_shares calendar_shares call_bans call_declines call_members call_participants event_history
     account_cells external_invites form_access form_report_viewers form_versions guest_domains guests rbac_grants recordings scim_tokens
     sync_heads tenant_issuers oidc_clients`,
  ),
  ...each('work in shared content', 'subtasks task_activity task_attachments task_comments'),
  access_changes: 'ids only; deleted after an hour',
  ...each('ids only, for files that stay', 'blobs user_file_usage'),
  audit_log: 'append-only; deleted by its retention',
  contacts: 'cards of other owners; the card of the member is removed when the membership ends',
  form_responses: 'belong to the form',
  personal_erasures: 'the record of the erasure: ids only',
};

/** Tables whose rows are deleted by a foreign key or by the code of a source, with the table or the source. */
const ERASED_WITH: Record<string, string> = {
  form_reports: 'forms',
  mail_arrival_scans: 'mail_accounts',
  mail_calendar_scans: 'mail_accounts',
  personal_exports: 'ExportPersonalData',
  scheduling_deliveries: 'scheduling_messages',
};

const DAY = 86_400_000;

describe('erasure of personal data', () => {
  let mail: TestMailService;
  let app: TestApp;
  let made = 0;

  beforeAll(async () => {
    mail = await TestMailService.start();
    app = await TestApp.start({ ...mail.settings, MAIL_SERVICE_EMBEDDED: 'true' });
  });
  afterAll(async () => {
    await app?.stop();
    await mail?.stop();
  });

  const env = () => ({ DATABASE_URL: app.databaseUrl, DATA_DIR: app.dataDir, LOG_LEVEL: 'silent' });
  const cli = (...args: string[]) => workspace(env(), 'user', ...args);
  const worker = () => app.get<PersonalErasureWorker>(PersonalErasureWorker);
  const userOf = async (slug: string, name: string, email: string): Promise<TestUser> => {
    const { users } = await provision(
      app.served.nest,
      { tenants: [{ slug, users: [{ email, name, role: 'member' }] }] },
      true,
    );
    const user = users[0]!;
    const token = user.token as string;
    return { id: user.id, email, tenantId: user.tenant_id, token, api: app.as(token) };
  };
  const stateOf = async (user: TestUser, tenantId = user.tenantId): Promise<string | undefined> =>
    (
      await app.sql('SELECT state FROM personal_erasures WHERE tenant_id = $1 AND user_id = $2', [
        tenantId,
        user.id,
      ])
    )[0]?.state;
  const accountOf = async ({ id }: TestUser): Promise<any> =>
    (await app.sql('SELECT * FROM accounts WHERE id = $1', [id]))[0];
  const actions = async ({ id }: TestUser): Promise<string[]> =>
    (
      await app.sql(
        `SELECT action FROM audit_log WHERE object_id = $1 AND action LIKE 'personal_data.%' ORDER BY id`,
        [id],
      )
    ).map(({ action }) => action);
  const closed = async (): Promise<[owner: TestUser, user: TestUser]> => {
    const [owner, user] = await app.tenant(`erase-${(made += 1)}`, 'ann', 'uma');
    expect((await cli('deactivate', '--email', user.email)).code).toBe(0);
    return [owner, user];
  };

  /** The tables that contain the marker, in text, JSON or bytes. @param schema default: that of the connection */
  const tablesWith = async (sql: (text: string) => Promise<any[]>, schema?: string): Promise<string[]> => {
    const namespace = schema === undefined ? 'current_schema()' : `'${schema}'`;
    const hex = Buffer.from(MARKER).toString('hex');
    const tables = await sql(
      `SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = to_regnamespace(${namespace}) ORDER BY relname`,
    );
    const found: string[] = [];
    for (const { relname } of tables) {
      const [{ count }] = await sql(
        `SELECT count(*)::int AS count FROM ${schema === undefined ? '' : `${schema}.`}${relname} row WHERE row::text ~* '${MARKER}|${hex}'`,
      );
      if (count > 0) found.push(relname);
    }
    return found;
  };
  const mailTables = (): Promise<string[]> => tablesWith((text) => mail.sql(text), 'mail_service');
  const filesWith = (): string[] =>
    globSync(path.join(app.dataDir, 'blobs/**/*'), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .filter((file) => readFileSync(file).includes(MARKER));

  /** Records that other services, browsers and background jobs write. */
  const insertRecords = async ({ id, tenantId, email }: TestUser): Promise<void> => {
    const inTenant = [tenantId, id, MARKER];
    await app.sql('UPDATE sessions SET user_agent = $2, ip = $2 WHERE account_id = $1', [id, MARKER]);
    await app.sql('INSERT INTO account_links (issuer, subject, account_id) VALUES ($2, $2, $1)', [
      id,
      MARKER,
    ]);
    await app.sql(
      `INSERT INTO oidc_records (model, id_hash, payload, expires_at)
       VALUES ('Session', sha256('x'), $1, now() + interval '1 day')`,
      [JSON.stringify({ accountId: id, amr: [MARKER] })],
    );
    await app.sql(
      `INSERT INTO passkeys (id, account_id, credential_id, public_key, counter, transports, synced, name)
       VALUES (gen_random_uuid(), $1, 'x', 'x', 0, '{}', false, $2)`,
      [id, MARKER],
    );
    await app.sql(
      `INSERT INTO mail_recipients (tenant_id, user_id, address_key, address, name, uses, last_used_at, rank, cause)
       VALUES ($1, $2, $3, $3, $3, 1, now(), 1, $3)`,
      inTenant,
    );
    await app.sql(
      `INSERT INTO received_addresses (tenant_id, user_id, address_key, address, name, count, last_seen_at)
       VALUES ($1, $2, $3, $3, $3, 1, now())`,
      inTenant,
    );
    await app.sql(
      `INSERT INTO scim_users (tenant_id, user_id, external_id, attributes)
       VALUES ($1, $2, $3, jsonb_build_object('title', $3::text))`,
      inTenant,
    );
    await app.sql(
      `INSERT INTO tenant_invitations (tenant_id, id, email, email_key, role, language, state, accepted_by, expires_at, ended_at)
       VALUES ($1, gen_random_uuid(), $3, $3, 'member', 'en', 'accepted', $2, now(), now())`,
      inTenant,
    );
    await app.sql(
      `INSERT INTO calls (tenant_id, id, title, kind, state, host_id)
       VALUES ($1, gen_random_uuid(), $3, 'meeting', 'scheduled', $2)`,
      inTenant,
    );
    await app.sql(
      `INSERT INTO system_mails (tenant_id, id, key, template, recipient, language, state, expires_at, finished_at)
       VALUES ($1, gen_random_uuid(), 'x', 'x', $2, 'en', 'sent', now() + interval '1 day', now())`,
      [tenantId, email],
    );
  };

  test('each table that refers to users is erased or stays for a reason', async () => {
    const rows = await app.sql(
      `SELECT DISTINCT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
        WHERE relkind IN ('r', 'p') AND relnamespace = to_regnamespace(current_schema()) AND atttypid IN ('uuid'::regtype, 'uuid[]'::regtype)
          AND attname ~ '(^|_)(user|account|owner|creator|author|actor|organizer|respondent|sender|principal|grantee|host|assignee|member)_ids?$|_by$|^mentions$'`,
    );
    const tables: string[] = rows.map(({ relname }) => relname);
    expect(tables.length).toBeGreaterThan(80);
    const text = statements()
      .filter(({ name }) => /\.erase/.test(name))
      .map((statement) => statement.text)
      .join(' ');
    const isErased = (table: string) =>
      new RegExp(`(DELETE FROM|UPDATE) ${table}\\b`).test(text) || table in ERASED_WITH;
    expect(tables.filter((table) => !isErased(table) && !(table in USER_REFERENCES)).toSorted()).toEqual([]);
    expect(
      Object.keys({ ...USER_REFERENCES, ...ERASED_WITH }).filter((table) => !tables.includes(table)),
    ).toEqual([]);
    expect(Object.keys(USER_REFERENCES).filter(isErased)).toEqual([]);
  });

  test('no table and no file contains a marker of the user; shared content stays under "Deleted user"', async () => {
    const [ann] = await app.tenant('acme', 'ann');
    const una = await userOf('acme', `Una ${MARKER}`, `una.${MARKER}@acme.example`);
    await writeEverywhere(una, (domain) => `${MARKER} ${domain}`);
    const boxes = ok(await una.api.get('/mail/users/me/mailboxes')).results;
    const drafts = boxes.find((box: { path: string }) => box.path === 'Drafts').id;
    ok(
      await una.api.post(`/mail/users/me/mailboxes/${drafts}/messages`, {
        draft: true,
        subject: MARKER,
        text: MARKER,
      }),
    );
    await insertRecords(una);
    // Content that other members can read.
    const { note } = ok(await una.api.post('/notes', { title: 'Plan', content: '<p>shared</p>' }), 201);
    ok(await una.api.put(`/notes/${note.id}/invited`, { invited: [ann.email] }));
    const { task } = ok(await ann.api.post('/tasks', { title: 'Budget', assignees: [una.id] }), 201);
    ok(await una.api.post(`/tasks/${task.id}/comments`, { body: 'done' }), 201);
    const { room } = ok(
      await una.api.post('/chat/rooms', { type: 'group', name: 'Team', member_ids: [ann.id] }),
      201,
    );
    const message = { client_msg_id: randomUUID(), body: 'hello' };
    ok(await una.api.post(`/chat/rooms/${room.id}/messages`, message), 201);
    const [calendar] = ok(await una.api.get('/calendar')).calendars;
    const { event } = ok(
      await una.api.post(`/calendar/${calendar.id}/events`, {
        title: 'Review',
        start: '2026-03-02T09:00:00Z',
        end: '2026-03-02T10:00:00Z',
        attendees: [ann.id],
      }),
      201,
    );
    await app.get<OutboxWorker>(OutboxWorker).drain();
    const sql = (text: string) => app.sql(text);
    const before = await tablesWith(sql);
    expect(before.length).toBeGreaterThan(30);
    expect(await mailTables()).toEqual(expect.arrayContaining(['messages', 'users']));
    expect(filesWith().length).toBeGreaterThan(0);

    expect((await cli('deactivate', '--email', una.email)).code).toBe(0);
    await app.get<OutboxWorker>(OutboxWorker).drain();
    ok(await ann.api.get(`/notes/${note.id}`));
    await app.sql(
      `INSERT INTO personal_erasures (tenant_id, user_id, state, due_at) VALUES ($1, $2, 'pending', now())`,
      [una.tenantId, una.id],
    );
    await app.inCells(() => worker().runDue());
    expect(await stateOf(una)).toBe('done');
    await app.get<OutboxWorker>(OutboxWorker).drain();
    while ((await app.get<BlobCollector>(BlobCollector).collect()) > 0);
    expect((await tablesWith(sql)).filter((name) => !(name in KEPT))).toEqual([]);
    expect(filesWith()).toEqual([]);
    expect(await mailTables()).toEqual([]);

    expect(ok(await ann.api.get(`/notes/${note.id}`)).note).toMatchObject({ title: 'Plan' });
    const [annCalendar] = ok(await ann.api.get('/calendar')).calendars;
    const texts = [
      ok(await ann.api.get(`/notes/${note.id}`)),
      ok(await ann.api.get(`/tasks/${task.id}/comments`)),
      ok(await ann.api.get(`/chat/rooms/${room.id}/messages`)),
      ok(await ann.api.get(`/calendar/${annCalendar.id}/events/${event.id}`)),
    ].map((body) => JSON.stringify(body));
    expect(texts[1]).toContain('done');
    expect(texts[2]).toContain('hello');
    for (const text of texts) expect(text).not.toContain(MARKER);
    for (const text of texts.slice(1)) expect(text).toContain('Deleted user');
    expect(await accountOf(una)).toMatchObject({
      display_name: 'Deleted user',
      status: 'deactivated',
      password_hash: null,
    });
    expect(await actions(una)).toEqual(['personal_data.account_erased', 'personal_data.erased']);
  });

  test('the command schedules an erasure after the grace time; an activation cancels it', async () => {
    const [owner, user] = await closed();
    const { erasures } = json(await cli('erase', '--email', user.email));
    const days = (Date.parse(erasures[0].due_at) - Date.now()) / DAY;
    expect(erasures).toEqual([{ tenant_id: user.tenantId, state: 'pending', due_at: expect.any(String) }]);
    expect(Math.round(days)).toBe(30);
    await app.inCells(() => worker().runDue());
    expect(await stateOf(user)).toBe('pending');
    expect((await cli('activate', '--email', user.email)).code).toBe(0);
    expect(await stateOf(user)).toBeUndefined();
    expect(await actions(user)).toEqual(['personal_data.erasure_requested']);
    const { members } = ok(await owner.api.get('/tenant/members?status=active'));
    expect(members.map((each: { user_id: string }) => each.user_id)).toContain(user.id);
  });

  test('an erasure without grace time is done when the request returns, also beside a run that ends; it is recorded once', async () => {
    const [, user] = await closed();
    const [seen, joined] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const repository = app.get(PersonalErasuresRepository);
    const claim = repository.claim.bind(repository);
    repository.claim = async (...parameters) => {
      const found = await claim(...parameters);
      if (found) return found;
      repository.claim = claim;
      seen.resolve();
      await joined.promise;
      return found;
    };
    const runDue = worker().runDue.bind(worker());
    const run = runDue();
    await seen.promise;
    worker().runDue = async () => {
      worker().runDue = runDue;
      joined.resolve();
      await runDue();
    };
    const erasures = app.get(PersonalErasures);
    expect(await erasures.request(user.id, { now: true })).toMatchObject([{ state: 'done' }]);
    await run;
    await erasures.request(user.id, { now: true });
    expect((await actions(user)).filter((action) => action.endsWith('_requested'))).toHaveLength(1);
  });

  test('a request without grace time waits for an erasure that another process runs', async () => {
    const [, user] = await closed();
    await app.sql(
      `INSERT INTO personal_erasures (tenant_id, user_id, state, lease_id, due_at)
       VALUES ($1, $2, 'running', gen_random_uuid(), now() + interval '1 hour')`,
      [user.tenantId, user.id],
    );
    const repository = app.get(PersonalErasuresRepository);
    const of = repository.listOfUser.bind(repository);
    const seen = Promise.withResolvers<void>();
    repository.listOfUser = async (userId) => {
      const found = await of(userId);
      repository.listOfUser = of;
      seen.resolve();
      return found;
    };
    const requested = app.get(PersonalErasures).request(user.id, { now: true });
    await seen.promise;
    // The process of the lease was killed.
    await app.sql(
      'UPDATE personal_erasures SET due_at = now() - make_interval(secs => 1) WHERE user_id = $1',
      [user.id],
    );
    expect(await requested).toMatchObject([{ state: 'done' }]);
  });

  test('reopening the account keeps the erasure in a workspace whose membership ended before', async () => {
    const [owner, user] = await app.tenant(`erase-${(made += 1)}`, 'ann', 'uma');
    const second = await app.member(`erase-${(made += 1)}`, user.email);
    ok(await owner.api.post(`/tenant/members/${user.id}/deactivate`, {}));
    for (const name of ['deactivate', 'erase', 'activate'])
      expect((await cli(name, '--email', user.email)).code).toBe(0);
    expect([await stateOf(user), await stateOf(second)]).toEqual(['pending', undefined]);
    ok(await owner.api.post(`/tenant/members/${user.id}/activate`, {}));
    expect(await stateOf(user)).toBeUndefined();
  });

  test('an account with an active membership is rejected, and an erased member cannot be activated', async () => {
    const [owner, user] = await app.tenant(`erase-${(made += 1)}`, 'ann', 'uma');
    const rejected = await cli('erase', '--email', user.email, '--now');
    expect([rejected.code, rejected.stderr]).toEqual([1, expect.stringContaining('user deactivate')]);
    expect((await cli('deactivate', '--email', user.email)).code).toBe(0);
    const erased = json(
      await workspace({ ...env(), ...mail.settings }, 'user', 'erase', '--email', user.email, '--now'),
    );
    expect(erased.erasures).toEqual([{ tenant_id: user.tenantId, state: 'done', due_at: null }]);
    const activated = await owner.api.post(`/tenant/members/${user.id}/activate`, {});
    expect([activated.status, activated.body.error]).toEqual([
      409,
      expect.stringMatching(/^(account_closed|member_erased)$/),
    ]);
    // The address is free for a new account.
    const again = await userOf('acme-again', 'Uma', user.email);
    expect(again.id).not.toBe(user.id);
    ok(await again.api.get('/notes'));
  });

  test('a policy erases former members after its days, each workspace on its own; the account ends with the last one', async () => {
    const [owner, user] = await app.tenant(`erase-${(made += 1)}`, 'ann', 'uma');
    const elsewhere = `erase-${(made += 1)}`;
    await app.tenant(elsewhere, 'eve');
    const second = await app.member(elsewhere, user.email);
    ok(await user.api.put('/settings/profile', { title: MARKER }));
    ok(await second.api.put('/settings/profile', { title: 'kept' }));
    expect(ok(await owner.api.get('/tenant/policy')).policy.erase_after_days).toBeNull();
    expect((await owner.api.put('/tenant/policy', { erase_after_days: 0 })).status).toBe(422);
    expect(ok(await owner.api.put('/tenant/policy', { erase_after_days: 10 })).policy.erase_after_days).toBe(
      10,
    );
    ok(await owner.api.post(`/tenant/members/${user.id}/deactivate`, {}));
    const age = (days: number, tenantId: string | null) =>
      app.sql(
        `UPDATE tenant_members SET deactivated_at = now() - make_interval(days => $3) WHERE tenant_id = $1 AND user_id = $2`,
        [tenantId, user.id, days],
      );
    const run = async () => {
      await app.inCells(() => worker().schedule());
      await app.inCells(() => worker().runDue());
    };
    await age(9, user.tenantId);
    await run();
    expect(await stateOf(user)).toBeUndefined();
    await age(11, user.tenantId);
    await Promise.all([run(), run()]);
    expect(await stateOf(user)).toBe('done');
    expect(await accountOf(user)).toMatchObject({ status: 'active', email: user.email, erased_at: null });
    expect(ok(await second.api.get('/settings/profile')).profile.title).toBe('kept');
    expect(await actions(user)).toEqual(['personal_data.erased']);

    expect((await cli('deactivate', '--email', user.email)).code).toBe(0);
    await cli('erase', '--email', user.email, '--tenant', elsewhere, '--now');
    await app.inCells(() => worker().runDue());
    expect(await stateOf(user, second.tenantId)).toBe('done');
    expect((await accountOf(user)).email).toBe(`deleted-${user.id}@deleted.invalid`);
  });

  test('a user with an account elsewhere joins again after the erasure, without the old data, and is erased again', async () => {
    const slug = `erase-${(made += 1)}`;
    const [owner, user] = await app.tenant(slug, 'ann', 'uma');
    await app.member(`erase-${(made += 1)}`, user.email);
    ok(await user.api.put('/settings/profile', { title: MARKER }));
    await app.member(slug, user.email, 'admin');
    const erase = async () => {
      ok(await owner.api.post(`/tenant/members/${user.id}/deactivate`, {}));
      await app.sql(
        `INSERT INTO personal_erasures (tenant_id, user_id, state, due_at) VALUES ($1, $2, 'pending', now())`,
        [user.tenantId, user.id],
      );
      await app.inCells(() => worker().runDue());
    };
    await erase();
    expect((await owner.api.post(`/tenant/members/${user.id}/activate`, {})).body.error).toBe(
      'member_erased',
    );
    const members = async () =>
      ok(await owner.api.get('/tenant/members')).members.filter(
        (each: { user_id: string }) => each.user_id === user.id,
      );

    const set = (values: string) =>
      app.sql(`UPDATE personal_erasures SET ${values} WHERE tenant_id = $1 AND user_id = $2`, [
        user.tenantId,
        user.id,
      ]);
    await set(
      "state = 'running', lease_id = gen_random_uuid(), due_at = now() + interval '1 hour', finished_at = NULL",
    );
    await expect(app.member(slug, user.email)).rejects.toMatchObject({ kind: { code: 'member_erased' } });
    await set("state = 'done', lease_id = NULL, due_at = NULL, finished_at = now()");
    const again = await provision(
      app.served.nest,
      { tenants: [{ slug, users: [{ email: user.email, name: 'Uma' }] }] },
      true,
    );
    expect(again.users[0]!.id).toBe(user.id);
    const api = app.as(again.users[0]!.token as string);
    expect(ok(await api.get('/settings/profile')).profile).toMatchObject({ title: '', role: 'member' });
    expect(await members()).toEqual([
      expect.objectContaining({ email: user.email, display_name: 'Uma', role: 'member', status: 'active' }),
    ]);
    expect(await stateOf(user)).toBeUndefined();

    await erase();
    expect(await stateOf(user)).toBe('done');
    expect(await members()).toEqual([expect.objectContaining({ display_name: 'Deleted user' })]);
  });

  test('erasures that fail again and again make their job fail until they succeed', async () => {
    const [owner, user] = await app.tenant(`erase-${(made += 1)}`, 'ann', 'uma');
    ok(await owner.api.post(`/tenant/members/${user.id}/deactivate`, {}));
    await cli('erase', '--email', user.email);
    const attempts = (count: number) =>
      app.sql('UPDATE personal_erasures SET attempts = $2 WHERE user_id = $1', [user.id, count]);
    await attempts(4);
    await app.inCells(() => worker().schedule());
    await attempts(5);
    await expect(app.inCells(() => worker().schedule())).rejects.toThrow(
      '1 erasures of personal data have failed 5 times',
    );
    await app.sql(
      'UPDATE personal_erasures SET due_at = now() - make_interval(secs => 1) WHERE user_id = $1',
      [user.id],
    );
    await app.inCells(() => worker().runDue());
    expect(await stateOf(user)).toBe('done');
    await app.inCells(() => worker().schedule());
  });

  test('a workspace whose erasures cannot be scheduled does not delay the others', async () => {
    const ended = async (): Promise<TestUser> => {
      const [owner, user] = await app.tenant(`erase-${(made += 1)}`, 'ann', 'uma');
      ok(await owner.api.put('/tenant/policy', { erase_after_days: 1 }));
      ok(await owner.api.post(`/tenant/members/${user.id}/deactivate`, {}));
      await app.sql(
        'UPDATE tenant_members SET deactivated_at = now() - make_interval(days => 2) WHERE user_id = $1',
        [user.id],
      );
      return user;
    };
    const users = [await ended(), await ended()];
    const [broken] = users.toSorted((a, b) => a.tenantId!.localeCompare(b.tenantId!)) as [TestUser];
    await app.sql(
      `CREATE FUNCTION test_reject() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$`,
    );
    await app.sql(
      `CREATE TRIGGER test_reject BEFORE INSERT ON personal_erasures FOR EACH ROW
         WHEN (NEW.tenant_id = '${broken.tenantId}') EXECUTE FUNCTION test_reject()`,
    );
    try {
      await expect(app.inCells(() => worker().schedule())).rejects.toThrow('failed for 1 items');
    } finally {
      await app.sql('DROP FUNCTION test_reject CASCADE');
    }
    const states = () => Promise.all(users.map((user) => stateOf(user)));
    expect(await states()).toEqual(users.map((user) => (user === broken ? undefined : 'pending')));
    await app.inCells(() => worker().schedule());
    await app.inCells(() => worker().runDue());
    expect(await states()).toEqual(['done', 'done']);
  });

  test('an erasure of a killed process continues at the step where it ended', async () => {
    const [, user] = await closed();
    await inTransaction(await app.databaseOf(user.tenantId!), async (client) => {
      await client.query('LOCK TABLE signatures IN ACCESS EXCLUSIVE MODE');
      const main = path.resolve(import.meta.dirname, '../../../dist/cli/main.js');
      const child = spawn(process.execPath, [main, 'user', 'erase', '--email', user.email, '--now'], {
        env: { ...childEnv(), ...env() },
        stdio: 'ignore',
      });
      const ended = new Promise((resolve) => child.once('close', (_, signal) => resolve(signal)));
      await lockWaiters(client);
      child.kill('SIGKILL');
      expect(await ended).toBe('SIGKILL');
      await until('the end of its connection', async () => {
        const { rows } = await client.query(
          `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation = 'signatures'::regclass AND NOT granted`,
        );
        return rows.length === 0;
      });
    });
    const [begun] = await app.sql('SELECT state, steps FROM personal_erasures WHERE user_id = $1', [user.id]);
    expect(begun.state).toBe('running');
    expect(begun.steps).toContain('notes');
    expect(begun.steps).not.toContain('settings');
    await app.inCells(() => worker().runDue());
    expect(await stateOf(user)).toBe('running');
    await app.sql(
      'UPDATE personal_erasures SET due_at = now() - make_interval(secs => 1) WHERE user_id = $1',
      [user.id],
    );
    await app.inCells(() => worker().runDue());
    const [done] = await app.sql('SELECT state, steps FROM personal_erasures WHERE user_id = $1', [user.id]);
    expect(done.state).toBe('done');
    expect(new Set(done.steps).size).toBe(done.steps.length);
    expect(done.steps.slice(0, begun.steps.length)).toEqual(begun.steps);
    expect((await actions(user)).toSorted()).toEqual([
      'personal_data.account_erased',
      'personal_data.erased',
      'personal_data.erasure_requested',
    ]);
  });
});
