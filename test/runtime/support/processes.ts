import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import pg from 'pg';
import { memoryDirectory } from '../../support/memory-directory.ts';
import { until } from '../../support/until.ts';

export const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');

/** End of the command of a server process. */
const SERVER = 'dist/main.js';

const children = new Set<ChildProcess>();
const directories = new Set<string>();

/** A data directory that `cleanUp` removes together with the PostgreSQL that may run on it. */
export function temporaryDataDir(): string {
  const directory = realpathSync(memoryDirectory('workspace-runtime-'));
  directories.add(directory);
  return path.join(directory, 'data');
}

/** A data directory that contains a migrated database, like that of an earlier server: initdb and migrations take seconds. */
export function madeDataDir(): string {
  const dataDir = temporaryDataDir();
  cpSync(process.env['TEST_INSTALLATION'] as string, dataDir, { recursive: true });
  return dataDir;
}

/** Folders whose PostgreSQL may run: the cluster, and that of an upgrade. */
const CLUSTERS = ['postgres', 'postgres-18.incomplete'];

/** Ends every process and removes every directory of the test. */
export async function cleanUp(): Promise<void> {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  for (const directory of directories) {
    for (const folder of CLUSTERS) {
      const pid = postmasterPid(path.join(directory, 'data'), folder);
      if (pid === undefined || !isAlive(pid)) continue;
      process.kill(pid, 'SIGQUIT');
      await until('PostgreSQL to end', () => !isAlive(pid));
    }
    rmSync(directory, { recursive: true, force: true });
  }
  directories.clear();
}

/** The process id that a data directory records for its PostgreSQL. @param folder of the cluster */
export function postmasterPid(dataDir: string, folder = 'postgres'): number | undefined {
  const file = path.join(dataDir, folder, 'postmaster.pid');
  if (!existsSync(file)) return undefined;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  return pid > 1 ? pid : undefined;
}

/** True while a process exists and is not a zombie. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = `/proc/${pid}/stat`;
    return !existsSync(stat) || !readFileSync(stat, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

/** Runs one statement on a new connection. */
export async function query<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** A port without a listener. */
export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** A process under test with its output. */
export interface Running {
  child: ChildProcess;
  stdout: () => string;
  stderr: () => string;
  exit: Promise<number | NodeJS.Signals | null>;
}

/** Starts `node script args` in the project with the environment of the test and `env`. */
export function startNode(
  script: string,
  args: string[],
  env: Record<string, string | undefined> = {},
): Running {
  const child = spawn(process.execPath, [path.join(ROOT, script), ...args], {
    cwd: ROOT,
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  children.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const exit = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  return { child, stdout: () => stdout, stderr: () => stderr, exit };
}

/** The first line of support/opener.mjs. */
export interface OpenerOutput {
  url?: string;
  error?: string;
  message?: string;
}

/** Starts a process that opens the database of `dataDir`, and waits for its first line. */
export async function startOpener(
  dataDir: string,
  role: 'server' | 'tool',
): Promise<Running & { output: OpenerOutput; url: string }> {
  const running = startNode('test/runtime/support/opener.mjs', [dataDir, role]);
  const ended = running.exit.then(() => true);
  await until(
    'the first line of the opener',
    async () => running.stdout().includes('\n') || (await Promise.race([ended, Promise.resolve(false)])),
  );
  const line = running.stdout() || JSON.stringify({ error: 'Exit', message: running.stderr() });
  const output: OpenerOutput = JSON.parse(line);
  return { ...running, output, url: output.url ?? '' };
}

/** The server processes that a process has forked: not PostgreSQL and the mail service. */
export function childrenOf(pid: number): number[] {
  if (process.platform === 'linux') {
    const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? [];
    return pids.map(Number).filter((child) => isAlive(child) && commandOf(child).includes(SERVER));
  }
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,command=']).toString();
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent, ...command]) => Number(parent) === pid && command.join(' ').includes(SERVER))
    .map(([child]) => Number(child));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
