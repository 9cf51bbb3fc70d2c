import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { DEMO_TENANT, DEMO_USERS } from '../../src/demo/demo-client.js';
import {
  DataDirInUseError,
  EmbeddedDatabase,
} from '../../src/platform/database/embedded/embedded-database.js';
import { removeQuietly } from '../../src/platform/database/embedded/upgrade/interrupted-upgrade.js';
import { ensurePackages, removePackages } from '../../src/platform/database/embedded/upgrade/npm-packages.js';
import { Client } from '../support/network/client.ts';
import { memoryDirectory } from '../support/memory-directory.ts';
import { until } from '../support/until.ts';
import { spawnWorkspace } from '../support/installation/cli.ts';
import {
  CELL,
  copyFormer,
  fillFormer,
  FORMER_MAJOR,
  hasFormerPrograms,
  type FormerRelease,
  linkPrograms,
  migrateFormer,
  startFormer,
} from './support/former-cluster.ts';
import {
  cleanUp,
  isAlive,
  postmasterPid,
  query,
  startNode,
  startOpener,
  temporaryDataDir,
} from './support/processes.ts';
import { launch, started } from './support/server.ts';
import { readWholeContent, type WholeContent } from './support/whole-content.ts';

/** Without them and without CI: `npm test` has said why. */
const isRunnable = hasFormerPrograms() || process.env['CI'] !== undefined;
const [describeUpgrade, testUpgrade] = isRunnable ? [describe, test] : [describe.skip, test.skip];

const OLD = `postgres-${FORMER_MAJOR}.old`;
const READY = 'postgres-18.ready';
const INCOMPLETE = 'postgres-18.incomplete';
const REPLACED = 'PG_VERSION.replaced';
const OPENER = 'test/runtime/support/opener.mjs';

const messages: string[] = [];
const say = (message: string) => void messages.push(message);
const log = { info: say, warn: say, error: say };
const opened: EmbeddedDatabase[] = [];

/** A data directory of the former release without the tables of the product, stopped, and all of its content. */
let former = '';
let content: WholeContent = {};
/** The same after an upgrade. */
let upgraded = '';

beforeAll(async () => {
  if (!isRunnable) return;
  const directory = memoryDirectory('workspace-former-');
  former = path.join(directory, 'former');
  await withFormer(former, async (release) => {
    await fillFormer(release);
    content = await readWholeContent(release.url);
  });
  upgraded = path.join(directory, 'upgraded');
  cpSync(former, upgraded, { recursive: true });
  await linkPrograms(upgraded);
  const database = await open(upgraded);
  await expectUpgraded(upgraded, database);
  await database.close();
});

afterAll(() => former && rmSync(path.dirname(former), { recursive: true, force: true }));

afterEach(async () => {
  for (const database of opened.splice(0)) await database.close();
  await cleanUp();
  messages.length = 0;
});

async function open(dataDir: string): Promise<EmbeddedDatabase> {
  const database = await EmbeddedDatabase.open({ dataDir, role: 'server', log });
  opened.push(database);
  return database;
}

const inDatabase =
  ({ url }: EmbeddedDatabase) =>
  (name: string) =>
    url.replace('/workspace?', `/${encodeURI(name)}?`);

async function expectUpgraded(
  dataDir: string,
  database: EmbeddedDatabase,
  expected = content,
): Promise<void> {
  const [row] = await query<{ version: string }>(
    database.url,
    `SELECT current_setting('server_version') AS version`,
  );
  expect(row?.version).toMatch(/^18\./);
  expect(await readWholeContent(inDatabase(database))).toEqual(expected);
  // A killed process leaves the output of the PostgreSQL that it has started.
  const names = readdirSync(dataDir).filter((name) => !name.startsWith('postgres-start-'));
  expect(names.toSorted()).toEqual(['postgres', OLD, 'run']);
  expect(versionIn(dataDir, OLD)).toBe(FORMER_MAJOR);
}

/** A copy of an upgraded data directory, in which a folder has its name during the upgrade. */
function copyUpgraded(folder: string, name: string): string {
  const dataDir = temporaryDataDir();
  cpSync(upgraded, dataDir, { recursive: true });
  renameIn(dataDir, folder, name);
  return dataDir;
}

const renameIn = (dataDir: string, from: string, to: string): void =>
  renameSync(path.join(dataDir, from), path.join(dataDir, to));

const versionIn = (dataDir: string, folder: string): string =>
  readFileSync(path.join(dataDir, folder, 'PG_VERSION'), 'utf8').trim();

async function withFormer<T>(dataDir: string, work: (release: FormerRelease) => Promise<T>): Promise<T> {
  const release = await startFormer(dataDir);
  try {
    return await work(release);
  } finally {
    await release.stop();
  }
}

describeUpgrade('the upgrade of the embedded database', () => {
  it('copies everything, reports it, and keeps the former cluster', async () => {
    const dataDir = await copyFormer(former);
    const all = await withFormer(dataDir, async (release) => {
      await migrateFormer(release);
      return readWholeContent(release.url);
    });
    const database = await open(dataDir);
    await expectUpgraded(dataDir, database, all);
    expect(messages.at(0)).toMatch(/is of PostgreSQL 17 and is copied into one of PostgreSQL 18/);
    expect(messages.at(-1)).toContain(`Remove ${path.join(dataDir, OLD)} once you do not need it.`);
    const [durable] = await query<{ fsync: string; wal: string }>(
      database.url,
      `SELECT current_setting('fsync') AS fsync, current_setting('wal_level') AS wal`,
    );
    expect(durable).toEqual({ fsync: 'on', wal: 'replica' });
    await database.close();

    // The former release can go on with the former cluster.
    rmSync(path.join(dataDir, 'postgres'), { recursive: true });
    renameIn(dataDir, OLD, 'postgres');
    await withFormer(dataDir, async ({ url }) => expect(await readWholeContent(url)).toEqual(all));
  });

  it('is repeated or continued after the process was killed at any step', async () => {
    const dataDir = await copyFormer(former);
    const has = (...names: string[]) => existsSync(path.join(dataDir, ...names));
    const databases = () =>
      has(INCOMPLETE, 'base') ? readdirSync(path.join(dataDir, INCOMPLETE, 'base')).length : 0;
    const moments = [
      () => has('postgres', 'postmaster.pid'),
      () => has(INCOMPLETE, 'postmaster.pid'),
      // An empty cluster has three.
      () => databases() > 3,
      () => databases() > 4,
      () => has(READY) || has(OLD),
    ];
    for (const moment of moments) {
      const { child, exit } = startNode(OPENER, [dataDir, 'server']);
      const ended = exit.then((code) => Promise.reject(new Error(`the upgrade ended with ${code}`)));
      await Promise.race([until('the moment of the kill', moment), ended]);
      ended.catch(() => undefined);
      child.kill('SIGKILL');
      await exit;
    }
    await expectUpgraded(dataDir, await open(dataDir));
  });

  it('continues between the renames, also while the former server still stops', async () => {
    const marked = copyUpgraded('postgres', READY);
    renameIn(marked, OLD, 'postgres');
    const { stop } = await startFormer(marked);
    renameIn(marked, 'postgres/PG_VERSION', path.join('postgres', REPLACED));
    await expectUpgraded(marked, await open(marked));
    await stop();

    const between = copyUpgraded('postgres', READY);
    renameIn(between, `${OLD}/PG_VERSION`, path.join(OLD, REPLACED));
    await expectUpgraded(between, await open(between));

    const after = copyUpgraded('run', 'run-new');
    renameIn(after, `${OLD}/PG_VERSION`, path.join(OLD, REPLACED));
    mkdirSync(path.join(after, 'upgrade'));
    await expectUpgraded(after, await open(after));
  });

  it('begins again when its result is missing, and creates no empty database beside kept ones', async () => {
    const dataDir = await copyFormer(former);
    renameIn(dataDir, 'postgres/PG_VERSION', path.join('postgres', REPLACED));
    await expectUpgraded(dataDir, await open(dataDir));
    expect(messages.at(0)).toMatch(/18\.ready is missing or incomplete: the upgrade begins again\.$/);

    const lost = copyUpgraded('postgres', 'elsewhere');
    await expect(open(lost)).rejects.toThrow(
      /postgres is missing, and an upgrade has left postgres-17\.old in/,
    );
    expect(existsSync(path.join(lost, 'postgres'))).toBe(false);
  });

  it('leaves a former server that accepts writes when the process is killed', async () => {
    const dataDir = await copyFormer(former);
    const { child, exit } = startNode(OPENER, [dataDir, 'server']);
    await until('the new cluster', () => existsSync(path.join(dataDir, INCOMPLETE, 'postmaster.pid')));
    child.kill('SIGKILL');
    await exit;
    expect(isAlive(postmasterPid(dataDir)!)).toBe(true);
    await withFormer(dataDir, ({ url }) => query(url('workspace'), 'CREATE TABLE added (id int)'));
  });

  it('fetches damaged programs again', async () => {
    const directory = path.join(temporaryDataDir(), 'upgrade');
    const folder = path.join(directory, 'node_modules', 'one');
    mkdirSync(folder, { recursive: true });
    const onFetch = () => {
      throw new Error('fetches');
    };
    const ensure = () =>
      ensurePackages(directory, [{ name: 'one', version: '1.0.0', integrity: '' }], { onFetch });
    writeFileSync(path.join(folder, 'package.json'), '{"version":"1.0.0"}');
    await ensure();
    writeFileSync(path.join(folder, 'package.json'), '{"vers');
    await expect(ensure()).rejects.toThrow('fetches');
    await removePackages(directory);
    expect(readdirSync(path.dirname(directory))).toEqual([]);
  });

  it('ends although what it has left cannot be removed', async () => {
    const log = { warn: say };
    // A folder cannot be removed by its parent when its parent is a file.
    const file = path.join(upgraded, 'postgres', 'PG_VERSION', 'below');
    await removeQuietly(file, log);
    expect(messages).toEqual([expect.stringMatching(/^Cannot remove .*below, which is needed no longer: /)]);
  });

  it('is continued once by processes that start at the same time', async () => {
    const dataDir = copyUpgraded('postgres', READY);
    renameIn(dataDir, OLD, 'postgres');
    renameIn(dataDir, 'postgres/PG_VERSION', path.join('postgres', REPLACED));
    const openers = await Promise.all(
      ['server', 'tool', 'tool'].map((role) => startOpener(dataDir, role as 'tool')),
    );
    const url = openers[0]!.url;
    expect(openers.map(({ output }) => output)).toEqual(openers.map(() => ({ url })));
    for (const { child } of openers) child.stdin?.write('close\n');
    await Promise.all(openers.map(({ exit }) => exit));
    await expectUpgraded(dataDir, await open(dataDir));
  });

  it('is made by one of two servers that start at the same time, and by no command', async () => {
    const dataDir = await copyFormer(former);
    const outcomes = await Promise.allSettled([open(dataDir), open(dataDir)]);
    const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(failed.map(({ reason }) => reason)).toEqual([expect.any(DataDirInUseError)]);
    await expectUpgraded(dataDir, opened[0]!);

    const untouched = await copyFormer(former);
    await expect(EmbeddedDatabase.open({ dataDir: untouched, role: 'tool', log })).rejects.toThrow(
      /is of PostgreSQL 17: start the server, which upgrades it to 18\.$/,
    );
    await expectUnchanged(untouched);
  });

  it('waits for no server of the former release, and takes over one that a killed process has left', async () => {
    const dataDir = await copyFormer(former);
    const { client } = await startFormer(dataDir);
    await client.query(`SELECT pg_advisory_lock_shared(1002), pg_advisory_lock(1001)`);
    const pid = postmasterPid(dataDir)!;
    await expect(open(dataDir)).rejects.toThrow(DataDirInUseError);
    expect(isAlive(pid)).toBe(true);
    await client.end();
    await expectUpgraded(dataDir, await open(dataDir));
    expect(isAlive(pid)).toBe(false);
  });

  it('finishes commits of several databases by the decision of the directory', async () => {
    const dataDir = await copyFormer(former);
    const [kept, undone] = ['01890000-0000-7000-8000-00000000000a', '01890000-0000-7000-8000-00000000000b'];
    await withFormer(dataDir, async ({ url }) => {
      await query(url('workspace'), `CREATE TABLE cells AS SELECT 'a' AS name`);
      await query(
        url('workspace'),
        `CREATE TABLE commit_decisions AS SELECT '${kept}'::uuid AS id, true AS committed`,
      );
      for (const id of [kept, undone])
        await query(
          url(CELL),
          `BEGIN READ WRITE; INSERT INTO kept VALUES ('${id}'); PREPARE TRANSACTION 'workspace:a:${id}'`,
        );
    });
    const database = await open(dataDir);
    expect(await query(inDatabase(database)(CELL), 'SELECT id FROM kept')).toEqual([{ id: kept }]);
    expect(await query(database.url, 'SELECT gid FROM pg_prepared_xacts')).toEqual([]);
  });

  it('fails with the reason and leaves the former cluster as it was', async () => {
    const dataDir = await copyFormer(former);
    await withFormer(dataDir, ({ url }) => query(url('workspace'), 'SELECT lo_create(4711)'));
    const failed = open(dataDir);
    await expect(failed).rejects.toThrow(
      /^The upgrade of the database to PostgreSQL 18 failed: the cluster has contents that it cannot copy \(large objects\)\. Nothing was changed/,
    );
    await expectUnchanged(dataDir);
    await withFormer(dataDir, ({ url }) => query(url('workspace'), 'SELECT lo_unlink(4711)'));

    // PostgreSQL 18 has no such column.
    const view = 'CREATE VIEW removed AS SELECT wal_write FROM pg_stat_wal';
    await withFormer(dataDir, ({ url }) => query(url('workspace'), view));
    await expect(open(dataDir)).rejects.toThrow(/removed; Type: VIEW; .*column "wal_write" does not exist/);
    await expectUnchanged(dataDir);
  });

  it('rejects a data directory with the result of another upgrade', async () => {
    const dataDir = await copyFormer(former);
    mkdirSync(path.join(dataDir, OLD));
    await expect(open(dataDir)).rejects.toThrow(/is the database before an earlier upgrade: move it away/);
    mkdirSync(path.join(dataDir, READY));
    await expect(open(dataDir)).rejects.toThrow(/A former release has created .* during an upgrade/);
    await expectUnchanged(dataDir, [OLD, READY]);
  });

  it('names the packages when npm cannot fetch them', async () => {
    const dataDir = await copyFormer(former);
    rmSync(path.join(dataDir, 'upgrade'));
    const env = {
      npm_config_registry: 'http://127.0.0.1:9',
      npm_config_fetch_retries: '0',
      npm_config_cache: `${dataDir}-cache`,
    };
    const { exit, stdout } = startNode(OPENER, [dataDir, 'server'], env);
    expect(await exit).toBe(1);
    expect(JSON.parse(stdout()).message).toMatch(
      /^npm cannot fetch the programs .*ECONNREFUSED.* Nothing was changed\..*`npm install --prefix upgrade .*@17\.10\.0-beta\.17 @electric-sql\/pglite-tools@0\.4\.8` on .* copy the folder `upgrade` to /,
    );
    expect(readdirSync(dataDir).toSorted()).toEqual(['postgres', 'run']);
  });

  it('ends at once when the server is stopped, and starts again', async () => {
    const dataDir = await copyFormer(former);
    const server = await launch({ DATA_DIR: dataDir });
    await until('the new cluster', () => existsSync(path.join(dataDir, INCOMPLETE, 'postmaster.pid')));
    const pid = postmasterPid(dataDir, INCOMPLETE)!;
    server.child.kill('SIGTERM');
    expect(await server.exit).toBe(0);
    expect(isAlive(pid)).toBe(false);
    await expectUnchanged(dataDir);
    await expectUpgraded(dataDir, await open(dataDir));
  });

  /** The former cluster is stopped and has its content; nothing else is left, except what a repetition uses. */
  async function expectUnchanged(dataDir: string, others: string[] = []): Promise<void> {
    const pid = postmasterPid(dataDir);
    expect(pid).toBeUndefined();
    const names = readdirSync(dataDir).filter((name) => !name.startsWith('run'));
    expect(names.toSorted()).toEqual(['postgres', ...others, 'upgrade'].toSorted());
    await withFormer(dataDir, async ({ url }) =>
      expect(await query(url('workspace'), 'SELECT id FROM "Own".children ORDER BY id')).toEqual([
        { id: 1 },
        { id: 2 },
      ]),
    );
  }
});

testUpgrade('the server of this release starts on the data of the former one', async () => {
  const dataDir = temporaryDataDir();
  const release = await startFormer(dataDir);
  const DATABASE_URL = release.url('workspace');
  const before = await started(await launch({ DATA_DIR: dataDir, DATABASE_URL, DEMO: 'true' }));
  const options = ['token', '--email', DEMO_USERS[0].email, '--tenant', DEMO_TENANT.slug];
  const token = (await spawnWorkspace({ DATABASE_URL }, ...options)).stdout.trim();
  const read = (port: number) => readLists(new Client(`http://127.0.0.1:${port}`, token));
  const shown = await read(before.port);
  expect(shown.map((body) => itemsOf(body).length > 0)).toEqual(LISTS.map(() => true));
  before.child.kill('SIGTERM');
  expect(await before.exit).toBe(0);
  await release.stop();

  await linkPrograms(dataDir);
  const after = await started(await launch({ DATA_DIR: dataDir, DEMO: 'true' }));
  expect(after.stdout()).toMatch(/"msg":"The database is of PostgreSQL 18 now/);
  expect(await read(after.port)).toEqual(shown);
  after.child.kill('SIGTERM');
  expect(await after.exit).toBe(0);
});

const LISTS = ['/notes', '/tasks', '/chat/rooms', '/mail/users/me/mailboxes'];

const itemsOf = (body: object): unknown[] => Object.values(body).find((value) => Array.isArray(value)) ?? [];

const readLists = (api: Client) => Promise.all(LISTS.map(async (list) => (await api.get(list)).body));
