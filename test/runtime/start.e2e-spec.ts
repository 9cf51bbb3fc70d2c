import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import {
  cleanUp,
  freePort,
  madeDataDir,
  makeTemplate,
  removeTemplate,
  isAlive,
  postmasterPid,
  type Running,
  startNode,
} from './support/processes.ts';
import { until } from '../support/until.ts';

interface Server extends Running {
  port: number;
  dataDir: string;
}

/** `npm start` without npm, and without the database of the other tests. */
async function launch(settings: Record<string, string> = {}): Promise<Server> {
  const dataDir = settings['DATA_DIR'] ?? madeDataDir();
  const port = Number(settings['PORT'] ?? (await freePort()));
  const env = {
    DATABASE_URL: '',
    DEMO: 'false',
    METRICS_PORT: '',
    WEB_CONCURRENCY: '',
    LOG_LEVEL: 'info',
    HOST: '',
  };
  const running = startNode('bin/start.mjs', [], {
    ...env,
    DATA_DIR: dataDir,
    PORT: String(port),
    ...settings,
  });
  return { ...running, port, dataDir };
}

async function started(server: Server): Promise<Server> {
  let ended = false;
  void server.exit.then(() => (ended = true));
  await until('the server to be ready', async () => {
    if (ended) throw new Error(`the server ended: ${server.stdout()}${server.stderr()}`);
    return isReady(server.port);
  });
  return server;
}

function isReady(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/apis/v1/health/ready`).then(
    (response) => response.ok,
    () => false,
  );
}

function databaseRuns(dataDir: string): boolean {
  const pid = postmasterPid(dataDir);
  return pid !== undefined && isAlive(pid);
}

/** The id of the server process, which every line of its log contains. */
async function serverPid(server: Server): Promise<number> {
  const line = /"pid":(\d+)[^\n]*"msg":"serving"/;
  await until('the log line of a started server', () => line.test(server.stdout()));
  return Number(line.exec(server.stdout())?.[1]);
}

beforeAll(makeTemplate);
afterEach(cleanUp);
afterAll(removeTemplate);

describe('npm start', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('stops cleanly on %s', async (signal) => {
    const server = await started(await launch());
    expect(databaseRuns(server.dataDir)).toBe(true);
    server.child.kill(signal);
    expect(await server.exit).toBe(0);
    expect(await isReady(server.port)).toBe(false);
    expect(databaseRuns(server.dataDir)).toBe(false);
  });

  it.each(['1', '2'])('prints a valid token, with %s processes', async (workers) => {
    const server = await launch({ DEMO: 'true', WEB_CONCURRENCY: workers });
    const line = /^(eyJ\S+)\n/m;
    await until('the token', () => line.test(server.stdout()));
    const authorization = `Bearer ${line.exec(server.stdout())?.[1]}`;
    const response = await fetch(`http://127.0.0.1:${server.port}/apis/v1/notes`, {
      headers: { authorization },
    });
    expect(response.status).toBe(200);
  });

  it('stops cleanly on a signal during the start', async () => {
    const server = await launch();
    await until('PostgreSQL to start', () => postmasterPid(server.dataDir) !== undefined);
    server.child.kill('SIGTERM');
    expect(await server.exit).toBe(0);
    expect(databaseRuns(server.dataDir)).toBe(false);
  });

  it('recovers after kill -9', async () => {
    const first = await started(await launch());
    process.kill(await serverPid(first), 'SIGKILL');
    expect(await first.exit).toBe(137);
    const { dataDir } = first;
    const second = await started(await launch({ DATA_DIR: dataDir }));
    second.child.kill('SIGTERM');
    expect(await second.exit).toBe(0);
    expect(databaseRuns(dataDir)).toBe(false);
  });

  it('stops the server when the launcher is killed', async () => {
    const server = await started(await launch());
    const pid = await serverPid(server);
    server.child.kill('SIGKILL');
    await until('the server to end', () => !isAlive(pid));
    expect(databaseRuns(server.dataDir)).toBe(false);
  });

  it('rejects a data directory in use with one line', async () => {
    const first = await started(await launch());
    const second = await launch({ DATA_DIR: first.dataDir });
    expect(await second.exit).toBe(1);
    expect(second.stderr()).toBe(`Another workspace server is already running on ${first.dataDir}.\n`);
    expect(await isReady(first.port)).toBe(true);
  });

  it.each(['1', '2'])('reports a port in use with one line, with %s processes', async (workers) => {
    const first = await started(await launch());
    const second = await launch({ PORT: String(first.port), WEB_CONCURRENCY: workers });
    expect(await second.exit).toBe(1);
    expect(second.stderr()).toBe(`Port ${first.port} on 127.0.0.1 is in use; set PORT to another one.\n`);
    expect(databaseRuns(second.dataDir)).toBe(false);
  });

  it('reports the setting of a port in use', async () => {
    const first = await started(await launch());
    const second = await launch({ METRICS_PORT: String(first.port) });
    expect(await second.exit).toBe(1);
    expect(second.stderr()).toBe(
      `Port ${first.port} on 127.0.0.1 is in use; set METRICS_PORT to another one.\n`,
    );
  });

  it('reports each invalid setting with one line, and exits with 78', async () => {
    const server = await launch({ PORT: 'eighty', LOG_LEVEL: 'loud' });
    expect(await server.exit).toBe(78);
    expect(server.stderr().trimEnd().split('\n')).toEqual([
      'PORT must be a whole number from 0 to 65535, not "eighty"',
      expect.stringMatching(/^LOG_LEVEL must be one of /),
    ]);
  });

  it('reports an unreachable database with one line', async () => {
    const port = await freePort();
    const server = await launch({ DATABASE_URL: `postgres://nobody:secret@127.0.0.1:${port}/none` });
    expect(await server.exit).toBe(1);
    expect(server.stderr()).toBe('The database of DATABASE_URL does not respond (ECONNREFUSED).\n');
  });

  it('replaces a killed worker, and stops all workers', async () => {
    const server = await started(await launch({ WEB_CONCURRENCY: '2' }));
    const primary = await serverPid(server);
    const [worker] = childrenOf(primary);
    process.kill(worker!, 'SIGKILL');
    await until('a new worker', () => childrenOf(primary).filter((pid) => pid !== worker).length === 2);
    await until('the server to be ready', () => isReady(server.port));
    const workers = childrenOf(primary);
    server.child.kill('SIGTERM');
    expect(await server.exit).toBe(0);
    expect([primary, ...workers].filter(isAlive)).toEqual([]);
    expect(databaseRuns(server.dataDir)).toBe(false);
  });

  it('ends immediately on a second Ctrl-C, and closes the database', async () => {
    const server = await started(await launch());
    const pid = await serverPid(server);
    // A request whose body never ends stays in flight until its time limit.
    const hanging = fetch(`http://127.0.0.1:${server.port}/apis/v1/notes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer x' },
      body: new ReadableStream({ pull: () => delay(60_000, undefined, { ref: false }) }),
      duplex: 'half',
    }).catch(() => undefined);
    server.child.kill('SIGINT');
    await until('the server to begin its shutdown', () => server.stdout().includes('SIGINT: stopping'));
    let ended = false;
    void server.exit.then(() => (ended = true));
    // Repeats the signal until it counts as a second one. A server without requests in flight exits with 0 before that.
    await until('the server to end', () => {
      if (isAlive(pid)) server.child.kill('SIGINT');
      return ended;
    });
    expect([0, 130]).toContain(await server.exit);
    expect(databaseRuns(server.dataDir)).toBe(false);
    await hanging;
  });
});

/** The Node processes that a process has forked. PostgreSQL runs in a session of its own. */
function childrenOf(pid: number): number[] {
  if (process.platform === 'linux') {
    const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? [];
    return pids.map(Number).filter((child) => isAlive(child) && commandOf(child).includes('main.js'));
  }
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,command=']).toString();
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent, ...command]) => Number(parent) === pid && command.join(' ').includes('main.js'))
    .map(([child]) => Number(child));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
