import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { WorkspaceMoves } from '../../../src/platform/cells/move/workspace-moves.js';
import { UnfinishedCommits } from '../../../src/platform/cells/unfinished-commits.js';
import { Cells } from '../../../src/platform/cells/cells.js';
import { Db } from '../../../src/platform/database/db.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import { type CliResult, json, startWorkspace, workspace } from '../../support/installation/cli.ts';
import { cellOf } from '../../support/database/cells.ts';
import { emptyDatabase, inDatabase, onServer } from '../../support/database/database.ts';
import { DatabaseProxy } from '../../support/network/proxy.ts';
import { until } from '../../support/until.ts';

/** Two cells in schemas of one database, with roles that have no rights on each other's. */
describe('commands for cells', () => {
  const roles = ['east', 'west'].map((name) => `${name}_${randomUUID().slice(0, 8)}`) as [string, string];
  let app: TestApp;
  let database: { url: string; drop: () => Promise<unknown> };
  /** In front of the database of the cells. */
  let proxy: DatabaseProxy;
  let folder: string;
  let ann: TestUser;

  beforeAll(async () => {
    [app, database] = await Promise.all([TestApp.start(), emptyDatabase()]);
    proxy = await DatabaseProxy.start(database.url);
    folder = mkdtempSync(path.join(tmpdir(), 'workspace-cells-'));
    for (const extension of ['btree_gin', 'pg_trgm'])
      await sql(`CREATE SCHEMA IF NOT EXISTS ext; CREATE EXTENSION ${extension} SCHEMA ext`);
    for (const role of roles) {
      await sql(`CREATE ROLE ${role} LOGIN PASSWORD 'secret of ${role}'`);
      await sql(`GRANT SET ON PARAMETER session_replication_role TO ${role}`);
      await sql(`GRANT USAGE ON SCHEMA ext TO ${role}; CREATE SCHEMA ${role} AUTHORIZATION ${role}`);
    }
  });
  afterAll(async () => {
    await app?.stop();
    await proxy?.cut();
    await database?.drop();
    for (const role of roles) {
      await onServer(`DROP OWNED BY ${role}`);
      await onServer(`DROP ROLE ${role}`);
    }
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  const sql = (text: string) => inDatabase(database.url, text);
  const urlOf = (role: string): string => {
    const url = new URL(proxy.url);
    url.username = role;
    url.password = `secret of ${role}`;
    return url.toString();
  };
  const env = (more: Record<string, string> = {}) => ({
    DATABASE_URL: app.databaseUrl,
    DATA_DIR: app.dataDir,
    LOG_LEVEL: 'silent',
    ...more,
  });
  const run = (...args: string[]): Promise<CliResult> => workspace(env(), ...args);
  const add = (name: string, role: string) =>
    workspace(env(), 'cell', 'add', name, '--url', urlOf(role), '--schema', role);

  test('add lists a cell, whose password no output and no table shows', async () => {
    const [east, west] = roles;
    const first = await add('east', east);
    expect([first.code, first.stderr]).toEqual([0, '']);
    const { cells } = json(await add('west', west));
    expect(cells).toEqual([
      expect.objectContaining({ name: 'main', state: 'open', available: true, workspaces: 0 }),
      expect.objectContaining({ name: 'east', schema: east, state: 'open', available: true, workspaces: 0 }),
      expect.objectContaining({ name: 'west', schema: west, state: 'open', available: true, workspaces: 0 }),
    ]);
    const stored = await inDatabase(app.databaseUrl, 'SELECT cells::text AS row FROM cells');
    for (const text of [first.stdout, ...stored.map(({ row }) => row)])
      expect(text).not.toContain('secret of');
  });

  test('add rejects a used name, a bad name, and the database of an installation', async () => {
    expect((await add('east', roles[0])).stderr).toContain('There is a cell "east" already.');
    expect((await add('Not a name', roles[0])).stderr).toContain('The name of a cell');
    expect((await add('east-2', roles[0])).stderr).toContain('The cell "east" is in this database already.');
    await app.tenant('first', 'fay');
    const own = await workspace(env(), 'cell', 'add', 'own', '--url', app.databaseUrl);
    expect([own.code, own.stderr]).toEqual([
      1,
      expect.stringContaining('The database belongs to an installation'),
    ]);
  });

  test('drain places new workspaces elsewhere; the last open cell stays open', async () => {
    await inDatabase(
      app.databaseUrl,
      `UPDATE cells SET added_at = now() - interval '1 hour' WHERE name <> 'main'`,
    );
    expect((await run('cell', 'drain', 'main')).code).toBe(0);
    expect((await run('cell', 'drain', 'west')).code).toBe(0);
    expect((await run('cell', 'drain', 'east')).stderr).toContain('The only open cell');
    await app.get(Cells).refresh();
    [ann] = await app.tenant('acme', 'ann');
    expect(await cellOf(app, ann.tenantId!)).toBe('east');
    expect((await ann.api.post('/notes', { title: 'In the east' })).status).toBe(201);
    const [east, west] = roles;
    expect(await sql(`SELECT title FROM ${east}.notes`)).toEqual([{ title: 'In the east' }]);
    expect(await sql(`SELECT title FROM ${west}.notes`)).toEqual([]);
  });

  test('migrate reports each cell', async () => {
    expect(json(await run('migrate'))).toEqual({ applied: [], cells: { east: [], west: [] } });
  });

  test('a cell of another version is in the plan, and an error for the doctor', async () => {
    const [east] = roles;
    const [{ hash }] = await sql(`SELECT hash FROM ${east}.schema_sql`);
    await sql(`UPDATE ${east}.schema_sql SET hash = 'other'`);
    const plan = await run('migrate', '--plan');
    const diagnosis = await run('doctor', '--json');
    await sql(`UPDATE ${east}.schema_sql SET hash = '${hash}'`);
    const current = { pending: [], unknown: [], functions: 'current' };
    const changed = { ...current, functions: 'changed' };
    expect([plan.code, json(plan)]).toEqual([2, { ...current, cells: { east: changed, west: current } }]);
    expect([diagnosis.code, json(diagnosis).findings]).toEqual([
      2,
      expect.arrayContaining([
        {
          check: 'cells',
          status: 'error',
          message: 'The cell "east" is not migrated to this version. Its workspaces get 503.',
          action: 'Run "workspace migrate".',
        },
      ]),
    ]);
    expect((await run('migrate', '--plan')).code).toBe(0);
  });

  test('the doctor and the plan change nothing, also with new SECRET_KEYS', async () => {
    const secrets = () =>
      inDatabase(app.databaseUrl, 'SELECT id, sealed_private_key FROM signing_keys ORDER BY id');
    const before = await secrets();
    const changed = env({ SECRET_KEYS: 'new-'.repeat(10) });
    expect((await workspace(changed, 'migrate', '--plan')).code).toBe(0);
    const { findings } = json(await workspace(changed, 'doctor', '--json'));
    expect(findings).toContainEqual(expect.objectContaining({ message: 'The cell "east" responds.' }));
    expect(before).not.toEqual([]);
    expect(await secrets()).toEqual(before);
  });

  test('doctor checks each cell, and names one that does not respond', async () => {
    const [east, west] = roles;
    await sql(
      `INSERT INTO ${east}.outbox (tenant_id, id, type, payload, attempts, parked_at) VALUES ('${ann.tenantId}', gen_random_uuid(), 'x', '{}', 12, now())`,
    );
    await sql(`ALTER ROLE ${west} NOLOGIN`);
    const result = await run('doctor', '--json');
    const { findings } = json(result);
    expect(result.code).toBe(2);
    const of = (text: string) =>
      findings.filter(({ message }: { message: string }) => message.includes(text));
    expect(of('Cell "east": 1 events are parked')).toEqual([expect.objectContaining({ status: 'warning' })]);
    expect(of('The cell "east" responds')).toEqual([expect.objectContaining({ status: 'ok' })]);
    expect(of('The cell "west" cannot be read')).toEqual([expect.objectContaining({ status: 'error' })]);
    expect(result.stdout).not.toContain('secret of');
    await sql(`ALTER ROLE ${west} LOGIN; DELETE FROM ${east}.outbox WHERE type = 'x'`);
  });

  test('remove needs a drained cell without workspaces', async () => {
    expect((await run('cell', 'remove', 'east')).stderr).toContain('Drain the cell first');
    expect((await run('cell', 'remove', 'main')).stderr).toContain('the database of the directory');
    await run('cell', 'open', 'west');
    await run('cell', 'drain', 'east');
    expect((await run('cell', 'remove', 'east')).stderr).toContain('has workspaces');
    await run('cell', 'open', 'east');
  });

  test('a move whose process is killed before the switch leaves nothing; after the switch a job completes it', async () => {
    const moves = app.get(WorkspaceMoves);
    const killedAt = async (phase: string): Promise<void> => {
      const { child, output, result } = startWorkspace('', env(), 'tenant', 'move', 'acme', '--to', 'west');
      await until(phase, () => output.stderr.includes(phase));
      child.kill('SIGKILL');
      await result;
      // `finish` otherwise waits up to a minute without a heartbeat.
      await moves.finish(0);
      await app.get(Cells).refresh();
    };
    await killedAt('waiting');
    expect(await cellOf(app, ann.tenantId!)).toBe('east');
    expect((await ann.api.post('/notes', { title: 'Still here' })).status).toBe(201);
    await killedAt('switched');
    expect(await cellOf(app, ann.tenantId!)).toBe('west');
    const titles = (await ann.api.get('/notes')).body.notes.map(({ title }: any) => title);
    expect(titles.toSorted()).toEqual(['In the east', 'Still here']);
    const [east, west] = roles;
    expect(await sql(`SELECT title FROM ${east}.notes`)).toEqual([]);
    expect(await sql(`SELECT title FROM ${west}.notes ORDER BY title`)).toHaveLength(2);
    expect(await inDatabase(app.databaseUrl, 'SELECT * FROM workspace_moves')).toEqual([]);
    expect((await run('cell', 'drain', 'east')).code).toBe(0);
  });

  /** A file for `provision`, which writes an account in the directory and a membership in the cell. */
  const fileWith = (email: string): string => {
    const file = path.join(folder, `${email}.json`);
    writeFileSync(file, JSON.stringify({ tenants: [{ slug: 'acme', users: [{ email, name: 'Killed' }] }] }));
    return file;
  };
  const prepared = () => sql(`SELECT gid FROM pg_prepared_xacts WHERE database = current_database()`);
  const finishCommits = async (): Promise<void> => {
    const commits = app.get(UnfinishedCommits);
    commits.abandonedSeconds = 0;
    await app.get(Db).inCell('west', () => commits.run());
    expect(await prepared()).toEqual([]);
  };
  /** Rows of the account in the directory, and of its membership in the cell. */
  const rowsOf = async (email: string): Promise<[accounts: number, memberships: number]> => {
    const accounts = await inDatabase(app.databaseUrl, 'SELECT FROM accounts WHERE email = $1', [email]);
    const members = await sql(`SELECT FROM ${roles[1]}.tenant_members WHERE email = '${email}'`);
    return [accounts.length, members.length];
  };

  test('a commit in two databases whose process is killed between its phases is undone in both', async () => {
    const user = { email: 'killed@acme.example' };
    const file = fileWith(user.email);
    const { default: pg } = await import('pg');
    const blocker = new pg.Client({ connectionString: app.databaseUrl });
    await blocker.connect();
    await blocker.query('BEGIN; LOCK TABLE commit_decisions IN SHARE ROW EXCLUSIVE MODE');
    const { child, result } = startWorkspace('', env(), 'provision', '--file', file);
    await until('the part of the cell', async () => (await prepared()).length === 1);
    child.kill('SIGKILL');
    await result;
    await blocker.end();
    await finishCommits();
    expect(await rowsOf(user.email)).toEqual([0, 0]);
    const repeated = json(await run('provision', '--file', file));
    expect(repeated.users).toEqual([expect.objectContaining({ email: user.email, tenant: 'acme' })]);
    expect(await rowsOf(user.email)).toEqual([1, 1]);
  });

  test('a commit in two databases whose process is killed after the decision is completed in both', async () => {
    const email = 'decided@acme.example';
    const held = proxy.hold('COMMIT PREPARED');
    const { child, result } = startWorkspace('', env(), 'provision', '--file', fileWith(email));
    await held;
    child.kill('SIGKILL');
    await result;
    expect([await prepared(), await rowsOf(email)]).toEqual([[expect.anything()], [1, 0]]);
    await finishCommits();
    expect(await rowsOf(email)).toEqual([1, 1]);
  });
});
