import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { withModules } from '../../../src/app.prepare.js';
import { createBackup } from '../../../src/backup/create-backup.js';
import { restoreBackup } from '../../../src/backup/restore-backup.js';
import { formatManifest, parseManifest } from '../../../src/backup/store/manifest.js';
import { verifyBackup } from '../../../src/backup/verify-backup.js';
import { exportWorkspace } from '../../../src/backup/workspace/export-workspace.js';
import { importWorkspace, type ImportOptions } from '../../../src/backup/workspace/import-workspace.js';
import { Installation } from '../../../src/backup/workspace/installation.js';
import { DIRECTORY_ROWS, LEFT_OUT } from '../../../src/backup/workspace/transferred-tables.js';
import type { Report } from '../../../src/backup/reporting.js';
import { migrateMailService } from '../../../src/mail-service/mail-service.js';
import { createDemoWorkspace } from '../../../src/demo/demo-workspace.js';
import { DEMO_PASSWORD, DEMO_USERS } from '../../../src/demo/demo-client.js';
import { ChatNotifier } from '../../../src/modules/chat/chat-notifier.js';
import { IdentityApi } from '../../../src/modules/identity/index.js';
import { RawMessages } from '../../../src/mail-service/storage/raw-messages.js';
import { BlobCollector } from '../../../src/platform/blobs/blob-collector.js';
import { BlobStore } from '../../../src/platform/blobs/store/blob-store.js';
import { UnfinishedCommits } from '../../../src/platform/cells/unfinished-commits.js';
import { Db } from '../../../src/platform/database/db.js';
import { OutboxWorker } from '../../../src/platform/events/outbox.worker.js';
import { provision } from '../../../src/provision/provision.js';
import { TestApp, type TestUser } from '../../support/app.ts';
import {
  atFirst,
  BusyInstallation,
  configOf,
  Directories,
  onDatabase,
  silent,
} from '../../support/installation/backup.ts';
import { json, startWorkspace, workspace } from '../../support/installation/cli.ts';
import type { Client } from '../../support/network/client.ts';
import { addCells, type TestCell } from '../../support/database/cells.ts';
import { cloneDatabase } from '../../support/database/database.ts';
import { loseResponse, socketError } from '../../support/database/lost-response.ts';
import { everythingReadable } from '../../support/contract/everything-readable.ts';
import { TestMailService } from '../../support/mail/mail-service.ts';
import { upload } from '../../support/network/multipart.ts';
import { until } from '../../support/until.ts';

/** True for data of the installation (sessions, passwords, the key of push messages), and for the audit log, to which the import and reads add entries. */
const ofInstallation = (route: string): boolean =>
  /\/audit|\/forms\/.*export|sessions|security|application-passwords|jwks|well-known|dav\/profile|push-key/.test(
    route,
  );

/** Sorts all lists of the value: members are listed by id, and their ids differ between the installations. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) {
    const texts = value.map((each) => [JSON.stringify(ordered(each)), each] as const);
    return texts.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => ordered(each));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, ordered(each)]));
}

/** Runs `work` like the command line does, on the database of an installation. */
const at = <T>(
  { databaseUrl, dataDir }: { databaseUrl: string; dataDir: string },
  work: (installation: Installation) => Promise<T>,
): Promise<T> =>
  withModules(configOf(databaseUrl, dataDir), databaseUrl, (app) => work(new Installation(app, databaseUrl)));

const exported = (
  from: { databaseUrl: string; dataDir: string },
  slug: string,
  to: string,
  report: Report = silent,
) => at(from, (installation) => exportWorkspace(installation, { slug, to }, report));

const imported = (
  into: { databaseUrl: string; dataDir: string },
  options: ImportOptions,
  report: Report = silent,
) => at(into, (installation) => importWorkspace(installation, options, report));

/** Numbers of rows of all tables with rows. */
async function rowsOf(url: string): Promise<Record<string, number>> {
  const tables = await onDatabase(
    url,
    `SELECT format('%I.%I', nspname, relname) AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE relkind = 'r' AND nspname IN ('public', 'mail_service') ORDER BY 1`,
  );
  const counts = tables.map(({ name }) => `SELECT '${name}' AS name, count(*)::int AS rows FROM ${name}`);
  const rows = await onDatabase(url, counts.join(' UNION ALL '));
  return Object.fromEntries(rows.filter(({ rows: n }) => n > 0).map(({ name, rows: n }) => [name, n]));
}

/** Numbers of rows of the tables of an export. Without the outbox, whose rows a server removes when they are handled or old. */
function rowsIn(place: string, snapshot: string): Map<string, number> {
  const text = readFileSync(path.join(place, 'snapshots', snapshot, 'manifest.json'), 'utf8');
  const tables = parseManifest(text).schemas.flatMap((schema) => schema.tables);
  return new Map(tables.filter(({ table }) => table !== 'outbox').map(({ table, rows }) => [table, rows]));
}

/** Foreign keys with rows that refer to no row. */
async function brokenKeys(url: string): Promise<string[]> {
  const keys = await onDatabase(
    url,
    `SELECT conname AS name, conrelid::regclass::text AS child, confrelid::regclass::text AS parent,
            ARRAY(SELECT attname::text FROM unnest(conkey) WITH ORDINALITY AS k (n, o) JOIN pg_attribute ON attrelid = conrelid AND attnum = n ORDER BY o) AS own,
            ARRAY(SELECT attname::text FROM unnest(confkey) WITH ORDINALITY AS k (n, o) JOIN pg_attribute ON attrelid = confrelid AND attnum = n ORDER BY o) AS other
       FROM pg_constraint WHERE contype = 'f' AND connamespace::regnamespace::text IN ('public', 'mail_service')`,
  );
  const broken: string[] = [];
  for (const { name, child, parent, own, other } of keys) {
    const pairs = own.map((column: string, n: number) => `parent.${other[n]} = child.${column}`);
    const set = own.map((column: string) => `child.${column} IS NOT NULL`);
    const [row] = await onDatabase(
      url,
      `SELECT count(*)::int AS rows FROM ${child} AS child WHERE ${set.join(' AND ')}
         AND NOT EXISTS (SELECT FROM ${parent} AS parent WHERE ${pairs.join(' AND ')})`,
    );
    if (row.rows > 0) broken.push(name);
  }
  return broken;
}

describe('a workspace that moves to another installation', () => {
  const directories = new Directories();
  const place = directories.make();
  const owner = DEMO_USERS[0];
  /** The user with an account in both installations. */
  const twin = DEMO_USERS[1];
  let source: BusyInstallation;
  let from: { databaseUrl: string; dataDir: string };
  let demo: TestUser[];
  let target: TestApp;
  let targetMail: TestMailService;
  let database: Awaited<ReturnType<typeof cloneDatabase>>;
  let existing: TestUser;

  const sourceApi = (token: string): Client => source.app.as(token);

  beforeAll(async () => {
    source = await BusyInstallation.start(directories.make());
    from = { databaseUrl: source.url, dataDir: source.config.DATA_DIR };
    await createDemoWorkspace(source.app.served.nest, { mail: true });
    const users = DEMO_USERS.map((user) => ({ ...user, password: DEMO_PASSWORD }));
    const made = await provision(source.app.served.nest, { tenants: [{ slug: 'demo', users }] }, true);
    demo = made.users.map(({ id, email, token, tenant_id: tenantId }) => ({
      id,
      email,
      tenantId,
      token: token as string,
      api: sourceApi(token as string),
    }));
    await demo[0]!.api.post('/chat/rooms', { type: 'direct', member_ids: [demo[1]!.id] });
    const { body } = await demo[0]!.api.post('/tasks', { title: 'Files' });
    await upload(demo[0]!.api, `/tasks/${body.task.id}/attachments`, Buffer.from('a file'));
    await source.app.get<ChatNotifier>(ChatNotifier).run();
    await source.app.get<OutboxWorker>(OutboxWorker).drain();

    database = await cloneDatabase();
    const dataDir = directories.make();
    targetMail = await TestMailService.start({ DATA_DIR: dataDir }, database.url);
    target = await TestApp.start({ ...targetMail.settings, DATA_DIR: dataDir }, database.url);
    await provision(target.served.nest, {
      tenants: [{ slug: 'other', users: [{ email: twin.email, name: 'Another name' }] }],
    });
    [existing] = await target.tenant('host', 'hanna');
  });
  afterAll(async () => {
    await target?.stop();
    await targetMail?.stop();
    await database?.drop();
    await source?.stop();
    directories.remove();
  });

  const accountOf = async (email: string): Promise<string> => {
    const [{ id }] = await target.sql('SELECT id FROM accounts WHERE email = $1', [email]);
    return id;
  };
  const apiOf = async (email: string): Promise<Client> => {
    const tokens = await target
      .get<IdentityApi>(IdentityApi)
      .issueTokens([{ accountId: await accountOf(email), tenantId: demo[0]!.tenantId }], 'test');
    return target.as(tokens[0]!);
  };

  test('is exported beside writers, and verified', async () => {
    const writers = { stopped: false };
    const [first] = source.users;
    const writing = (async () => {
      while (!writers.stopped)
        expect((await first!.api.post('/notes', { title: 'of another workspace' })).status).toBe(201);
    })();
    const summary = await exported(from, 'demo', place);
    writers.stopped = true;
    await writing;
    expect(summary).toMatchObject({ faults: [], removed: [] });
    expect(summary.files).toBeGreaterThan(5);
    expect(await verifyBackup(place, undefined, silent)).toMatchObject({ faults: [], files: summary.files });
    const again = await exported(from, 'demo', place);
    expect([again.files_copied, again.files]).toEqual([0, summary.files]);
  });

  test('is rejected by a restore, and a backup by an import', async () => {
    await expect(
      restoreBackup(configOf(database.url, directories.make()), database.url, { from: place }, silent),
    ).rejects.toThrow('workspace tenant import');
    const backup = directories.make();
    await createBackup(source.config, source.url, { to: backup }, silent);
    await expect(imported(target, { from: backup })).rejects.toThrow('workspace restore');
    await expect(exported(from, 'demo', backup)).rejects.toThrow(
      'backups of the installation or of another workspace',
    );
  });

  test('an import that fails leaves nothing', async () => {
    const before = await rowsOf(target.databaseUrl);
    const failure = new Error('stopped');
    for (const phase of ['file', 'table'] as const) {
      let files = false;
      const stop: Report = (step) => {
        files ||= step.phase === 'file';
        if (step.phase === phase && files && (phase === 'file' || step.name === 'mailboxes')) throw failure;
      };
      await expect(imported(target, { from: place }, stop)).rejects.toThrow('stopped');
      const { 'public.blobs': blobs, 'mail_service.raws': raws, ...left } = await rowsOf(target.databaseUrl);
      expect(left).toEqual(before);
      expect([blobs, raws]).not.toEqual([undefined, undefined]);
      expect(await target.get<BlobCollector>(BlobCollector).collect()).toBe(blobs);
    }
  });

  test('keeps everything that each user can read; an account with the address of a member is that member', async () => {
    const summary = await imported(target, { from: place });
    expect(summary).toMatchObject({
      id: demo[0]!.tenantId,
      slug: 'demo',
      cell: 'main',
      accounts: { created: DEMO_USERS.length - 1, matched: 1, without_password: 0 },
      mail: { users: DEMO_USERS.length, taken: [] },
    });
    const own = await accountOf(twin.email);
    const former = demo.find(({ email }) => email === twin.email)!.id;
    expect(own).not.toBe(former);
    const here = (content: unknown): unknown =>
      JSON.parse((JSON.stringify(content) ?? 'null').replaceAll(former, own));
    for (const user of demo) {
      const [expected, found] = [
        await everythingReadable(user.api, ofInstallation),
        await everythingReadable(await apiOf(user.email), ofInstallation),
      ];
      expect(ordered(Object.fromEntries(found))).toEqual(ordered(here(Object.fromEntries(expected))));
      expect([...found.values()].filter(({ status }) => status === 200).length).toBeGreaterThan(110);
      expect([...found.keys()].filter((each) => /mailboxes\/\w+\/messages\/\d+/.test(each))).not.toEqual([]);
    }
    expect(await brokenKeys(target.databaseUrl)).toEqual([]);
  });

  test('continues: sign-in, writes, direct rooms, mail; cursors of the former installation expire', async () => {
    const api = await apiOf(owner.email);
    expect((await api.post('/notes', { title: 'after the import' })).status).toBe(201);
    const room = { type: 'direct', member_ids: [await accountOf(twin.email)] };
    const direct = await api.post('/chat/rooms', room);
    const before = await demo[0]!.api.post('/chat/rooms', { type: 'direct', member_ids: [demo[1]!.id] });
    expect(direct.body.room.id).toBe(before.body.room.id);
    const { cursor } = (await demo[0]!.api.get('/notes/changes')).body;
    expect(await api.get(`/notes/changes?cursor=${cursor}`)).toMatchObject({
      status: 410,
      body: { error: 'cursor_expired' },
    });
    const [{ password_hash: hash }] = await target.sql(
      'SELECT password_hash FROM accounts WHERE email = $1',
      [owner.email],
    );
    expect(hash).not.toBeNull();
    const { body } = await api.get('/tenant/audit?action=tenant.imported');
    expect(body.events[0]).toMatchObject({ action: 'tenant.imported', origin: 'cli' });
  });

  test('neither has nor changes rows of other workspaces, and is not imported twice', async () => {
    expect(await target.sql(`SELECT FROM notes WHERE title = 'of another workspace'`)).toEqual([]);
    expect(await target.sql('SELECT id FROM tenants ORDER BY slug')).toHaveLength(3);
    expect((await existing.api.get('/users/me')).status).toBeLessThan(500);
    expect((await existing.api.get('/notes')).body.notes).toEqual([]);
    await expect(imported(target, { from: place, slug: 'second' })).rejects.toThrow(
      'has this workspace already',
    );
  });

  test('a damaged file, a damaged table and other tables are rejected', async () => {
    const copy = directories.make();
    await exported(from, 'busy', copy);
    const { snapshot } = await verifyBackup(copy, undefined, silent);
    await expect(imported(target, { from: copy, slug: 'host' })).rejects.toThrow('pass another --slug');
    const name = path.join(copy, 'snapshots', snapshot, 'manifest.json');
    const text = readFileSync(name, 'utf8');
    const manifest = parseManifest(text);
    manifest.schemas[0]!.migrations.pop();
    writeFileSync(name, formatManifest(manifest));
    await expect(imported(target, { from: copy })).rejects.toThrow('Install the same version');
    writeFileSync(name, text);
    const table = path.join(copy, 'snapshots', snapshot, 'tables', 'workspace.notes.copy.zst');
    const rows = readFileSync(table);
    writeFileSync(table, rows.subarray(1));
    await expect(imported(target, { from: copy })).rejects.toThrow('workspace.notes.copy.zst is damaged');
    writeFileSync(table, rows);
    await expect(imported(target, { from: copy, cell: 'nowhere' })).rejects.toThrow('There is no cell');
    expect(await target.sql('SELECT FROM tenants WHERE slug = $1', ['busy'])).toEqual([]);
  });

  test('an account with a second factor sets a new password; its secret stays behind', async () => {
    const [, pia] = source.users;
    await source.app.sql(
      `WITH marked AS (UPDATE accounts SET second_factor_since = now(), password_hash = 'a hash' WHERE id = $1 RETURNING id)
       INSERT INTO second_factors (account_id, state, secret) SELECT id, 'active', 'sealed' FROM marked`,
      [pia!.id],
    );
    const to = directories.make();
    await exported(from, 'busy', to);
    const { accounts } = await imported(target, { from: to, slug: 'busy-2' });
    expect(accounts).toEqual({ created: 3, matched: 0, without_password: 1 });
    const rows = await target.sql('SELECT password_hash, second_factor_since FROM accounts WHERE id = $1', [
      pia!.id,
    ]);
    expect(rows).toEqual([{ password_hash: null, second_factor_since: null }]);
    const [tenant] = await target.sql('SELECT slug FROM tenants WHERE id = $1', [pia!.tenantId]);
    expect(tenant.slug).toBe('busy-2');
  });

  test('two accounts of the export are never one account of the installation', async () => {
    const [ann, bob] = await source.app.tenant('swap', 'ann', 'bob');
    const note = async ({ api }: TestUser, title: string) =>
      expect((await api.post('/notes', { title })).status).toBe(201);
    await note(ann, 'of ann');
    await note(bob, 'of bob');
    const to = directories.make();
    await exported(from, 'swap', to);
    // Here, ann has the address that bob has in the export.
    await target.sql(`INSERT INTO accounts (id, email, email_key, display_name) VALUES ($1, $2, $2, 'Ann')`, [
      ann.id,
      bob.email,
    ]);
    const { accounts } = await imported(target, { from: to });
    expect(accounts).toEqual({ created: 1, matched: 1, without_password: 0 });
    expect(await accountOf(bob.email)).toBe(ann.id);
    const owners = await target.sql(
      `SELECT note.title, member.email, member.user_id FROM notes note
         JOIN tenant_members member ON member.tenant_id = note.tenant_id AND member.user_id = note.owner_id
        WHERE note.tenant_id = $1 ORDER BY note.title`,
      [ann.tenantId],
    );
    expect(owners).toEqual([
      { title: 'of ann', email: ann.email, user_id: await accountOf(ann.email) },
      { title: 'of bob', email: bob.email, user_id: ann.id },
    ]);
    expect(owners[0].user_id).not.toBe(bob.id);
  });

  test('a process that is killed in the middle leaves nothing, and the next import works', async () => {
    const to = directories.make();
    const other = await cloneDatabase();
    const dataDir = directories.make();
    await exported(from, 'demo', to);
    // The import has loaded most tables when it waits for this one.
    const blocker = new pg.Client({ connectionString: other.url });
    await blocker.connect();
    await blocker.query('BEGIN; LOCK TABLE tasks');
    const env = { DATABASE_URL: other.url, DATA_DIR: dataDir, LOG_LEVEL: 'silent' };
    const { child } = startWorkspace('', env, 'tenant', 'import', '--from', to);
    const imports = async (condition: string): Promise<number> => {
      const active = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'backup' AND ${condition}`;
      return (await onDatabase(other.url, active)).length;
    };
    await until('the import waits', async () =>
      (await imports(`wait_event_type = 'Lock'`)) > 0 ? true : undefined,
    );
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    await blocker.query('ROLLBACK');
    await blocker.end();
    await until('its transaction has ended', async () => ((await imports('true')) > 0 ? undefined : true));
    const rows = await rowsOf(other.url);
    expect(Object.keys(rows).filter((name) => /notes|tenants|accounts|members|messages/.test(name))).toEqual(
      [],
    );
    const second = json(await workspace(env, 'tenant', 'import', '--from', to));
    expect(second).toMatchObject({ slug: 'demo', accounts: { created: DEMO_USERS.length } });
    expect(await onDatabase(other.url, `SELECT FROM blobs WHERE state <> 'kept'`)).toEqual([]);
    await other.drop();
  });

  describe('beside collectors', () => {
    let here: { databaseUrl: string; dataDir: string };
    let other: Awaited<ReturnType<typeof cloneDatabase>>;
    let app: TestApp;
    let mail: TestMailService;

    beforeEach(async () => {
      other = await cloneDatabase();
      here = { databaseUrl: other.url, dataDir: directories.make() };
      mail = await TestMailService.start({ DATA_DIR: here.dataDir }, other.url);
      app = await TestApp.start({ ...mail.settings, DATA_DIR: here.dataDir }, other.url);
    });
    afterEach(async () => {
      await app?.stop();
      await mail?.stop();
      await other?.drop();
    });

    const missingFiles = async () => (await exported(here, 'demo', directories.make())).faults;

    test('keeps its files when they take longer than their reservation', async () => {
      const afterDays = async (): Promise<void> => {
        await onDatabase(other.url, `UPDATE blobs SET due_at = now() - interval '1 hour'`);
        await onDatabase(other.url, `UPDATE mail_service.raws SET collect_after = now() - interval '1 hour'`);
        await app.get<BlobCollector>(BlobCollector).collect();
        await mail.get<RawMessages>(RawMessages).collect();
      };
      await imported(here, { from: place }, atFirst('file', afterDays));
      expect(await missingFiles()).toEqual([]);
    });

    test('copies files again that a collector is removing after an aborted import', async () => {
      const stopped = atFirst('file', () => {
        throw new Error('stopped');
      });
      await expect(imported(here, { from: place }, stopped)).rejects.toThrow('stopped');
      const removals = Promise.withResolvers<void>();
      const store = app.get<BlobStore>(BlobStore);
      const remove = store.remove.bind(store);
      store.remove = (key) => removals.promise.then(() => remove(key));
      const collecting = app.get<BlobCollector>(BlobCollector).collect();
      const has = async (sql: string) => ((await onDatabase(other.url, sql)).length > 0 ? true : undefined);
      await until('claims', () => has(`SELECT FROM blobs WHERE state = 'released' AND due_at > now()`));

      let isCopying = false;
      const importing = imported(
        here,
        { from: place },
        atFirst('file', () => void (isCopying = true)),
      );
      const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'backup'
                          AND state = 'idle' AND query LIKE 'INSERT INTO blobs%'`;
      await until('the import waits or copies', async () => isCopying || (await has(waiting)));
      removals.resolve();
      await Promise.all([collecting, importing]);
      expect(await missingFiles()).toEqual([]);
    });
  });

  test('the mail of a user of the mail service here stays when the export has a user with this id', async () => {
    const other = await cloneDatabase();
    const here = { databaseUrl: other.url, dataDir: directories.make() };
    await migrateMailService(configOf(here.databaseUrl, here.dataDir), here.databaseUrl);
    const [{ id }] = await source.app.sql('SELECT mail_user_id AS id FROM mail_accounts WHERE user_id = $1', [
      demo[0]!.id,
    ]);
    await onDatabase(
      other.url,
      `WITH own AS (INSERT INTO mail_service.users (id, username, address, name) VALUES ('${id}', 'own', 'own@here.test', 'Own') RETURNING id)
       INSERT INTO mail_service.mailboxes (user_id, id, path) SELECT id, 'own', 'INBOX' FROM own`,
    );
    const { mail } = await imported(here, { from: place });
    expect(mail).toEqual({ users: DEMO_USERS.length - 1, taken: [owner.email] });
    expect(
      await onDatabase(other.url, `SELECT id FROM mail_service.mailboxes WHERE user_id = '${id}'`),
    ).toEqual([{ id: 'own' }]);
    const [rows] = await onDatabase(
      other.url,
      'SELECT count(DISTINCT user_id)::int AS users FROM mail_service.messages',
    );
    expect(rows.users).toBe(DEMO_USERS.length - 1);
    expect(await brokenKeys(other.url)).toEqual([]);
    await other.drop();
  });

  test('each table is in an export, or is left out for a reason', async () => {
    const tables = await source.app.sql(
      `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
          AND relname NOT LIKE 'schema%'`,
    );
    const names = await at(from, async ({ workspaceTables }) => workspaceTables);
    const known = [...names, ...Object.keys(DIRECTORY_ROWS), ...Object.keys(LEFT_OUT)];
    expect(known.toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
  });

  describe('with cells', () => {
    let cells: TestCell[];
    let spread: TestApp;

    beforeAll(async () => {
      spread = await TestApp.start();
      cells = await addCells(spread.served.nest, 'east');
    });
    afterAll(async () => {
      await spread?.stop();
      for (const cell of cells ?? []) await cell.drop();
    });

    test.each(['ECONNRESET', 'ENETDOWN'])(
      'has both parts after an import whose response was lost (%s)',
      async (code) => {
        const app = await TestApp.start();
        const [west] = (await addCells(app.served.nest, 'west')) as [TestCell];
        try {
          const lost = at(app, (installation) => {
            const { open, db } = installation;
            installation.open = async (of) =>
              of === db.main ? loseResponse(await open(of), 'COMMIT', socketError(code)) : open(of);
            return importWorkspace(installation, { from: place, cell: 'west' }, silent);
          });
          await expect(lost).rejects.toMatchObject({ code });
          const commits = app.get<UnfinishedCommits>(UnfinishedCommits);
          commits.abandonedSeconds = 0;
          await app.get<Db>(Db).inCell('west', () => commits.run());
          const slugs = await app.sql('SELECT slug FROM tenants');
          const notes = await west.sql('SELECT FROM notes');
          expect([slugs, notes.length > 0]).toEqual([[{ slug: 'demo' }], true]);
        } finally {
          await app.stop();
          await west.drop();
        }
      },
    );

    test('is imported into a cell, and exported from it', async () => {
      const summary = await imported(spread, { from: place });
      expect(summary).toMatchObject({ cell: 'east', accounts: { created: DEMO_USERS.length, matched: 0 } });
      const [east] = cells as [TestCell];
      expect(await spread.sql('SELECT FROM notes')).toEqual([]);
      expect((await east.sql('SELECT FROM notes')).length).toBeGreaterThan(0);
      expect(await spread.sql(`SELECT workspaces::int FROM cells WHERE name = 'east'`)).toEqual([
        { workspaces: 1 },
      ]);
      const [token] = await spread
        .get<IdentityApi>(IdentityApi)
        .issueTokens([{ accountId: demo[0]!.id, tenantId: demo[0]!.tenantId }], 'test');
      const listed = await spread.as(token!).get('/notes');
      expect(listed.body.notes).toEqual((await demo[0]!.api.get('/notes')).body.notes);

      const to = directories.make();
      const second = await exported(spread, 'demo', to);
      const now = rowsIn(to, second.snapshot);
      const fewer = [...rowsIn(place, summary.snapshot)].filter(
        ([table, rows]) => rows > (now.get(table) ?? 0),
      );
      expect(fewer).toEqual([]);
      const back = await cloneDatabase();
      const dataDir = directories.make();
      expect(await imported({ databaseUrl: back.url, dataDir }, { from: to })).toMatchObject({
        slug: 'demo',
        cell: 'main',
      });
      await back.drop();
    });
  });
});
