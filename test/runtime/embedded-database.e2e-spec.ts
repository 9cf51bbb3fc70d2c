import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import {
  DataDirInUseError,
  EmbeddedDatabase,
  EmbeddedDatabaseError,
} from '../../src/platform/database/embedded/embedded-database.js';
import {
  cleanUp,
  isAlive,
  madeDataDir,
  postmasterPid,
  query,
  startOpener,
  temporaryDataDir,
} from './support/processes.ts';
import { until } from '../support/until.ts';

const messages: string[] = [];
const say = (message: string) => void messages.push(message);
const log = { info: say, warn: say, error: say };
const opened: EmbeddedDatabase[] = [];

async function open(dataDir: string, role: 'server' | 'tool' = 'server'): Promise<EmbeddedDatabase> {
  const database = await EmbeddedDatabase.open({ dataDir, role, log });
  opened.push(database);
  return database;
}

function runningPid(dataDir: string): number {
  const pid = postmasterPid(dataDir);
  if (pid === undefined || !isAlive(pid)) throw new Error('PostgreSQL does not run');
  return pid;
}

afterEach(async () => {
  for (const database of opened.splice(0)) await database.close();
  await cleanUp();
  messages.length = 0;
});

describe('the embedded database', () => {
  it('is made on the first open, durable and private, and stops on close', async () => {
    const dataDir = temporaryDataDir();
    const database = await open(dataDir);
    const [settings] = await query<Record<string, string>>(
      database.url,
      `SELECT current_database() AS database, current_setting('fsync') AS fsync, current_setting('listen_addresses') AS tcp,
        current_setting('synchronous_commit') AS commit, current_setting('data_checksums') AS checksums,
        current_setting('server_encoding') AS encoding, current_setting('max_connections') AS connections,
        lower('ÄÖ') AS folded`,
    );
    expect(settings).toEqual({
      database: 'workspace',
      fsync: 'on',
      tcp: '',
      commit: 'on',
      checksums: 'on',
      encoding: 'UTF8',
      connections: '200',
      folded: 'äö',
    });
    const socketDir = new URL(database.url).searchParams.get('host') ?? '';
    expect(statSync(socketDir).mode & 0o777).toBe(0o700);
    expect(readdirSync(dataDir).sort()).toEqual(['postgres', 'run']);

    const pid = runningPid(dataDir);
    await Promise.all([database.close(), database.close()]);
    expect(isAlive(pid)).toBe(false);
    expect(postmasterPid(dataDir)).toBeUndefined();
  });

  it('rejects a second server with one line, and leaves the first one running', async () => {
    const dataDir = madeDataDir();
    const database = await open(dataDir);
    const second = open(dataDir);
    await expect(second).rejects.toThrow(DataDirInUseError);
    await expect(second).rejects.toThrow(`Another workspace server is already running on ${dataDir}.`);
    expect(await query(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('serves tools beside the server; the last process to close it stops PostgreSQL', async () => {
    const dataDir = madeDataDir();
    const server = await open(dataDir);
    const tool = await startOpener(dataDir, 'tool');
    expect(tool.output).toEqual({ url: server.url });
    const pid = runningPid(dataDir);
    await server.close();
    expect(isAlive(pid)).toBe(true);
    tool.child.stdin?.write('close\n');
    expect(await tool.exit).toBe(0);
    expect(isAlive(pid)).toBe(false);
  });

  it('lets a server join a tool that came first, and stay when the tool leaves', async () => {
    const dataDir = madeDataDir();
    const tool = await open(dataDir, 'tool');
    const server = await open(dataDir);
    await tool.close();
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('is created once by processes that open a new directory at the same time', async () => {
    const dataDir = temporaryDataDir();
    const roles = ['server', 'tool', 'tool', 'tool'] as const;
    const openers = await Promise.all(roles.map((role) => startOpener(dataDir, role)));
    const { url } = openers[0]!;
    expect(openers.map(({ output }) => output)).toEqual(roles.map(() => ({ url })));
    const pid = runningPid(dataDir);
    for (const { child } of openers) child.stdin?.write('close\n');
    expect(await Promise.all(openers.map(({ exit }) => exit))).toEqual([0, 0, 0, 0]);
    expect(isAlive(pid)).toBe(false);
    expect(readdirSync(dataDir).sort()).toEqual(['postgres', 'run']);
  });

  it('opens repeatedly while other processes close it', async () => {
    const dataDir = madeDataDir();
    for (let round = 0; round < 5; round += 1) {
      const leaving = await open(dataDir, 'tool');
      const [, staying] = await Promise.all([leaving.close(), open(dataDir, 'tool')]);
      expect(await query(staying.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      await staying.close();
    }
    expect(postmasterPid(dataDir)).toBeUndefined();
  });

  it('adopts the PostgreSQL of a server that was killed', async () => {
    const dataDir = madeDataDir();
    const killed = await startOpener(dataDir, 'server');
    const { url } = killed;
    await query(url, 'CREATE TABLE kept (n int)');
    await query(url, 'INSERT INTO kept VALUES (42)');
    const pid = runningPid(dataDir);
    killed.child.kill('SIGKILL');
    await killed.exit;

    const database = await open(dataDir);
    expect(runningPid(dataDir)).toBe(pid);
    expect(await query(database.url, 'SELECT n FROM kept')).toEqual([{ n: 42 }]);
  });

  it('keeps committed data when the server and PostgreSQL are killed', async () => {
    const dataDir = madeDataDir();
    const killed = await startOpener(dataDir, 'server');
    const { url } = killed;
    await query(url, 'CREATE TABLE kept (n int)');
    await query(url, 'INSERT INTO kept SELECT generate_series(1, 1000)');
    const pid = runningPid(dataDir);
    killed.child.kill('SIGKILL');
    process.kill(pid, 'SIGKILL');
    await killed.exit;

    const database = await open(dataDir);
    expect(runningPid(dataDir)).not.toBe(pid);
    expect(await query(database.url, 'SELECT count(*)::int AS n FROM kept')).toEqual([{ n: 1000 }]);
  });

  it('starts although the pid of a dead PostgreSQL belongs to another program now', async () => {
    const dataDir = madeDataDir();
    await (await open(dataDir)).close();
    const file = path.join(dataDir, 'postgres', 'postmaster.pid');
    writeFileSync(file, `${process.pid}\n${path.dirname(file)}\n1\n5432\n/nowhere\n\n\nready\n`);
    const database = await open(dataDir);
    expect(await query(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('starts PostgreSQL again when it ends while the server runs', async () => {
    const dataDir = madeDataDir();
    const database = await open(dataDir);
    const pid = runningPid(dataDir);
    process.kill(pid, 'SIGKILL');
    await until('PostgreSQL to come back', () => messages.includes('The embedded PostgreSQL is back.'));
    expect(await query(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await expect(open(dataDir)).rejects.toThrow(DataDirInUseError);
    const again = runningPid(dataDir);
    await database.close();
    expect(isAlive(again)).toBe(false);
  });

  it('creates the socket in another directory when the path is too long for a socket', async () => {
    const dataDir = path.join(temporaryDataDir(), 'long'.repeat(30));
    const database = await open(dataDir);
    const socketDir = new URL(database.url).searchParams.get('host') ?? '';
    expect(socketDir).toMatch(/workspace-[0-9a-f]{16}$/);
    const again = await open(dataDir, 'tool');
    expect(again.url).toBe(database.url);
    await Promise.all([database.close(), again.close()]);
    rmSync(socketDir, { recursive: true });
  });

  it('works below a directory with any name', async () => {
    const dataDir = path.join(temporaryDataDir(), 'Büro, "alt"');
    const database = await open(dataDir);
    expect(await query(database.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(readdirSync(dataDir).sort()).toEqual(['postgres', 'run']);
    await database.close();
    expect(readdirSync(path.dirname(dataDir))).toEqual([path.basename(dataDir)]);
  });

  it('removes what a killed creation has left, also when a later one succeeded', async () => {
    const dataDir = madeDataDir();
    const left = path.join(dataDir, 'postgres.new-killed');
    mkdirSync(left);
    utimesSync(left, 0, 0);
    await open(dataDir);
    expect(existsSync(left)).toBe(false);
  });

  it('reports a failure in one line', async () => {
    const dataDir = temporaryDataDir();
    mkdirSync(path.join(dataDir, 'postgres'), { recursive: true });
    writeFileSync(path.join(dataDir, 'postgres', 'holiday.jpg'), '');
    const notOurs = open(dataDir);
    await expect(notOurs).rejects.toThrow(EmbeddedDatabaseError);
    await expect(notOurs).rejects.toThrow(/exists and is not a PostgreSQL database; move it away\.$/);

    writeFileSync(path.join(dataDir, 'postgres', 'PG_VERSION'), '12\n');
    await expect(open(dataDir)).rejects.toThrow(/was created by PostgreSQL 12 and this is PostgreSQL 18/);

    writeFileSync(path.join(dataDir, 'file'), '');
    await expect(open(path.join(dataDir, 'file'))).rejects.toThrow(
      /something that is not a directory is in the way/,
    );
  });

  it('writes no statement of the application into its log', async () => {
    const dataDir = madeDataDir();
    const database = await open(dataDir);
    await expect(query(database.url, `SELECT 'private matter'::int`)).rejects.toThrow(
      'invalid input syntax for type integer',
    );
    await database.close();
    const logs = path.join(dataDir, 'postgres', 'log');
    expect(existsSync(logs)).toBe(true);
    for (const name of readdirSync(logs)) {
      expect(readFileSync(path.join(logs, name), 'utf8')).not.toContain('private matter');
    }
  });
});
