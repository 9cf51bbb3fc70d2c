import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { v7 as uuidv7 } from 'uuid';
import { prepare } from '../../../src/app.prepare.js';
import { Config } from '../../../src/config/config.js';
import { AuditReader } from '../../../src/platform/audit/audit-reader.js';
import { Audit, firstIdOf, NO_TENANT, operator, timeOfId } from '../../../src/platform/audit/audit.js';
import { Db } from '../../../src/platform/database/db.js';
import { either } from '../../../src/platform/database/statement.js';
import { PeriodicJobs } from '../../../src/platform/jobs/periodic-jobs.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { spawnWorkspace, startWorkspace, workspace } from '../../support/installation/cli.ts';
import { until } from '../../support/until.ts';

describe('the audit log', () => {
  let app: TestApp;
  let alice: TestUser;
  let bob: TestUser;

  beforeAll(async () => {
    app = await TestApp.start();
    [alice, bob] = await app.tenant('acme', 'alice', 'bob');
  });
  afterAll(() => app?.stop());

  const record = (actor: any, entry: any) => app.get(Db).tx((tx) => app.get(Audit).record(tx, actor, entry));
  const as = ({ id, tenantId }: TestUser, more: object = {}) => ({ userId: id, tenantId, ...more });
  const reader = () => app.get(AuditReader);
  const actions = (events: { action: string }[]) => events.map((event) => event.action);

  test('stores actor, origin, action and object, and returns pages, newest first', async () => {
    const sessionId = uuidv7();
    const where = { sessionId, requestId: 'r-1', ip: '192.0.2.7' };
    for (let n = 0; n < 5; n += 1)
      await record(as(alice, where), { action: `t.made.n${n}`, objectKind: 'thing', objectId: `o${n % 2}` });
    const first = await reader().page(alice.tenantId, { objectKind: 'thing' }, 2);
    expect(first).toMatchObject([
      { action: 't.made.n4', object_id: 'o0', actor_id: alice.id, session_id: sessionId, origin: 'api' },
      { action: 't.made.n3', object_id: 'o1', request_id: 'r-1', ip: '192.0.2.7', data: {} },
    ]);
    expect(first[0]!.occurred_at).toEqual(timeOfId(first[0]!.id));
    const rest = await reader().page(alice.tenantId, { objectKind: 'thing' }, 9, first[1]!.id);
    expect(actions(rest)).toEqual(['t.made.n2', 't.made.n1', 't.made.n0']);
    const filtered = { objectKind: 'thing', objectId: 'o1', actorId: alice.id };
    expect(actions(await reader().page(alice.tenantId, filtered, 9))).toEqual(['t.made.n3', 't.made.n1']);
    expect(await reader().page(alice.tenantId, { ...filtered, actorId: bob.id }, 9)).toEqual([]);
    expect(actions(await reader().page(alice.tenantId, { action: 't.made.n2' }, 9))).toEqual(['t.made.n2']);
    const since = timeOfId(first[0]!.id);
    expect(actions(await reader().page(alice.tenantId, { since, objectKind: 'thing' }, 9))).toContain(
      't.made.n4',
    );
    expect(
      await reader().page(alice.tenantId, { until: timeOfId(rest[2]!.id), objectKind: 'thing' }, 9),
    ).toEqual([]);
    expect(await reader().page(uuidv7(), {}, 9)).toEqual([]);
  });

  test('contains nothing that was rolled back', async () => {
    const undone = app.get(Db).tx(async (tx) => {
      await app.get(Audit).record(tx, as(alice), { action: 't.undone', objectKind: 'thing' });
      throw new Error('no');
    });
    await expect(undone).rejects.toThrow('no');
    expect(await reader().page(alice.tenantId, { action: 't.undone' }, 9)).toEqual([]);
  });

  test('stores bounded data without secrets, and unstorable data does not fail the change', async () => {
    const cyclicDepth = { a: { b: { c: { d: { e: 1 } } } } };
    const data = {
      name: 'x'.repeat(10_000),
      bad: 'a\0b\ud800',
      list: Array.from({ length: 500 }, (_, n) => n),
      new_password: 'hunter2',
      nested: { refresh_token: 'hunter2', code: 'hunter2', kept: true },
      at: new Date(0),
      cyclicDepth,
    };
    await record(as(alice), { action: 't.data', objectKind: 'thing', data });
    const [event] = await reader().page(alice.tenantId, { action: 't.data' }, 1);
    expect(event!.data).toMatchObject({
      bad: 'a\ufffdb\ufffd',
      new_password: '[redacted]',
      nested: { refresh_token: '[redacted]', code: '[redacted]', kept: true },
      at: '1970-01-01T00:00:00.000Z',
    });
    expect((event!.data['name'] as string).length).toBe(501);
    expect(event!.data['list']).toHaveLength(50);
    expect(JSON.stringify(event)).not.toContain('hunter2');
    const huge = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`k${n}`, 'y'.repeat(400)]));
    await record(as(alice), { action: 't.huge', objectKind: 'thing', data: huge });
    const [big] = await reader().page(alice.tenantId, { action: 't.huge' }, 1);
    expect(big!.data).toEqual({ omitted: Object.keys(huge) });
  });

  test('events of a user: by them and about them, in the workspace and of the account', async () => {
    const [carol, dave] = await app.tenant('own', 'carol', 'dave');
    await record(as(carol), { action: 'c.did', objectKind: 'thing' });
    await record(as(dave), { action: 'c.suffered', objectKind: 'user', objectId: carol.id });
    await record(as(dave), { action: 'c.neither', objectKind: 'user', objectId: dave.id });
    await record(
      { tenantId: null, userId: carol.id },
      { action: 'c.account', objectKind: 'user', objectId: carol.id },
    );
    await record(as({ ...carol, tenantId: alice.tenantId }), { action: 'c.elsewhere', objectKind: 'thing' });
    expect(actions(await reader().listConcerning(carol.tenantId, carol.id, 3))).toEqual([
      'c.account',
      'c.suffered',
      'c.did',
    ]);
    expect(actions(await reader().listConcerning(null, carol.id, 3))).toEqual(['c.account']);
    expect((await app.sql(`SELECT tenant_id FROM audit_log WHERE action = 'c.account'`))[0].tenant_id).toBe(
      NO_TENANT,
    );
  });

  test('cannot be changed; only old events can be deleted', async () => {
    await record(as(alice), { action: 't.kept', objectKind: 'thing' });
    for (const sql of [
      `UPDATE audit_log SET action = 'x'`,
      `UPDATE audit_log SET action = 'x' WHERE false`,
      `DELETE FROM audit_log WHERE action = 't.kept'`,
      'TRUNCATE audit_log',
    ])
      await expect(app.sql(sql)).rejects.toThrow('append-only');
    for (const [days, action] of [
      [401, 't.old'],
      [399, 't.young'],
    ] as const) {
      const at = new Date(Date.now() - days * 86_400_000);
      await app.sql(
        `INSERT INTO audit_log (tenant_id, id, occurred_at, origin, action, object_kind, data)
         VALUES ($1, $2, $3, 'job', $4, 'thing', '{}')`,
        [alice.tenantId, firstIdOf(at), at, action],
      );
    }
    await app.get(PeriodicJobs).runDue();
    expect(
      await app.sql(`SELECT action FROM audit_log WHERE action = ANY ('{t.old,t.young,t.kept}') ORDER BY 1`),
    ).toEqual([{ action: 't.kept' }, { action: 't.young' }]);
  });

  test('the application role of docs/database-roles.md serves requests and cannot rewrite the log', async () => {
    const guide = readFileSync(new URL('../../../docs/database-roles.md', import.meta.url), 'utf8');
    const role = `workspace_app_${randomBytes(4).toString('hex')}`;
    const [, sql = ''] = /```sql\n([\s\S]*?)```/.exec(guide) ?? [];
    for (const statement of sql.replaceAll('workspace_app', role).split(';\n').filter(Boolean))
      await app.sql(statement);
    const url = new URL(app.databaseUrl);
    [url.username, url.password] = [role, 'change me'];
    const limited = await TestApp.start({}, url.toString());
    try {
      await prepare(Config.parse({ LOG_LEVEL: 'silent' }), url.toString());
      const api = limited.as(alice.token);
      expect((await api.post('/notes', { title: 'By the application role' })).status).toBe(201);
      expect((await api.post('/rbac/groups', { name: 'Audited' })).status).toBe(201);
      const [event] = await reader().page(alice.tenantId, { action: 'rbac.group.created' }, 1);
      expect(event?.actor_id).toBe(alice.id);
      for (const statement of [
        `UPDATE audit_log SET action = 'x'`,
        `DELETE FROM audit_log WHERE action = 'rbac.group.created'`,
        'TRUNCATE audit_log',
        'ALTER TABLE audit_log DISABLE TRIGGER ALL',
        'DROP TRIGGER audit_log_no_rewrite ON audit_log',
        'DROP TABLE audit_log',
        'CREATE OR REPLACE FUNCTION audit_log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN old; END $$',
        `SET session_replication_role = 'replica'`,
      ]) {
        const outcome = await limited.sql(statement).then(
          () => 'done',
          ({ message }: Error) => message,
        );
        expect([statement, outcome]).toEqual([
          statement,
          expect.stringMatching(/permission denied|must be owner|append-only/),
        ]);
      }
      // A GRANT without the grant option only causes a warning.
      await limited.sql('GRANT UPDATE ON audit_log TO PUBLIC');
      const privilege = `SELECT has_table_privilege(current_user, 'audit_log', 'UPDATE') AS granted`;
      expect(await limited.sql(privilege)).toEqual([{ granted: false }]);
      expect(await reader().page(alice.tenantId, { action: 'rbac.group.created' }, 1)).toEqual([event]);
    } finally {
      await limited.stop();
      await app.sql(`DROP OWNED BY ${role}`);
      await app.sql(`DROP ROLE ${role}`);
    }
  });

  test('a connection that disables ordinary triggers cannot change it', async () => {
    await record(as(alice), { action: 't.replica', objectKind: 'thing' });
    const change = app
      .get(Db)
      .tx((tx) =>
        tx
          .query(either.statement('', `SET LOCAL session_replication_role = 'replica'`), [])
          .then(() => tx.query(either.statement('', `UPDATE audit_log SET action = 'x'`), [])),
      );
    await expect(change).rejects.toThrow('append-only');
  });

  test('`workspace audit` prints it, oldest first, one line per event', async () => {
    const env = { DATABASE_URL: app.databaseUrl };
    const [zoe] = await app.tenant('cli', 'zoe');
    await record(as(zoe), { action: 'z.first', objectKind: 'thing', objectId: '1' });
    await record(operator(zoe.tenantId), { action: 'z.second', objectKind: 'user', objectId: zoe.id });
    const lines = async (...args: string[]) => {
      const { code, stdout, stderr } = await workspace(env, 'audit', ...args);
      expect([code, stderr]).toEqual([0, '']);
      return stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    };
    const of = (...args: string[]) => lines('--tenant', 'cli', ...args);
    const all = await of();
    expect(actions(all).slice(-2)).toEqual(['z.first', 'z.second']);
    expect(all.at(-1)).toMatchObject({ origin: 'cli', actor_id: null, object_id: zoe.id });
    expect(actions(await of('--limit', '1'))).toEqual(['z.second']);
    expect(actions(await of('--actor', zoe.email))).toEqual(['z.first']);
    expect(actions(await of('--action', 'z.second'))).toEqual(['z.second']);
    expect(actions(await of('--object', `user:${zoe.id}`, '--action', 'z.second'))).toEqual(['z.second']);
    expect(await of('--since', new Date(Date.now() + 60_000).toISOString())).toEqual([]);
    expect(await of('--format', 'jsonl')).toEqual(await of());
    const csv = await workspace(env, 'audit', '--tenant', 'cli', '--action', 'z.second', '--format', 'csv');
    const rows = csv.stdout.trimEnd().split('\r\n');
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatch(/^\ufeffid,occurred_at,/);
    expect(rows[1]).toContain(`,z.second,user,${zoe.id},{}`);
    expect(await spawnWorkspace(env, 'audit', '--tenant', 'nowhere')).toMatchObject({
      code: 1,
      stderr: 'The workspace "nowhere" does not exist.\n',
    });
    for (const wrong of [
      ['--since', 'yesterday'],
      ['--limit', '0'],
      ['--format', 'xml'],
      ['--actor', 'nobody@nowhere.example'],
    ])
      expect((await workspace(env, 'audit', ...wrong)).code).toBe(1);
  });

  test('the command follows entries that began before it and commit later, and repeats none', async () => {
    const [zoe] = await app.tenant('follow', 'zoe');
    const entry = (action: string) => ({ action, objectKind: 'followed' });
    await record(as(zoe), entry('f.first'));
    await record(as(zoe), entry('f.second'));
    const args = ['audit', '--tenant', 'follow', '--object', 'followed', '--limit', '1', '--follow'];
    const command = await app.get(Db).tx(async (tx) => {
      await app.get(Audit).record(tx, as(zoe), entry('f.late'));
      const started = startWorkspace('', { DATABASE_URL: app.databaseUrl }, ...args);
      await until('the newest entry', () => started.output.stdout.includes('f.second'));
      return started;
    });
    try {
      await until('the late entry', () => command.output.stdout.includes('f.late'));
    } finally {
      command.child.kill('SIGTERM');
    }
    const { stdout } = await command.result;
    expect(
      actions(
        stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ),
    ).toEqual(['f.second', 'f.late']);
  });
});
