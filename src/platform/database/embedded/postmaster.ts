import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import type { Account } from './account.js';
import type { Binaries } from './binaries.js';
import { SUPERUSER } from './cluster.js';
import { codeOf, EmbeddedDatabaseError, failedProgram, unusableDirectory } from './errors.js';
import { SOCKET_PORT } from './layout.js';
import { PROGRAM_ENV } from './run-program.js';
import { LOG_DIR, serverArguments, type ServerSettings } from './settings.js';

/** The content of `postmaster.pid`. */
export interface RunningServer {
  pid: number;
  socketDir: string;
}

const PID_LINE = 0;
const SOCKET_DIR_LINE = 4;

/** The PostgreSQL that runs on this cluster, in any state, or undefined. */
export async function findServer(cluster: string): Promise<RunningServer | undefined> {
  const { pid, lines } = parse(await readPidFile(pidFile(cluster)));
  if (pid === undefined || (await stateOf(pid, cluster)) !== 'server') return undefined;
  return { pid, socketDir: lines[SOCKET_DIR_LINE]?.trim() ?? '' };
}

/**
 * Removes the pid file of a dead server when its number now belongs to another program (after a reboot, or in a new
 * container): PostgreSQL would take that program for the server and not start. PostgreSQL detects remaining processes of
 * the dead server by its shared memory.
 */
export async function removeStalePidFile(cluster: string): Promise<void> {
  const file = pidFile(cluster);
  const text = await readPidFile(file);
  const { pid } = parse(text);
  if (pid === undefined || (await stateOf(pid, cluster)) !== 'other') return;
  const aside = `${file}.stale-${process.pid}`;
  await rename(file, aside).catch(() => undefined);
  // Another process may have done the same and started a server meanwhile: the file of that server is restored.
  if ((await readPidFile(aside)) === text) await rm(aside, { force: true });
  else await rename(aside, file).catch(() => undefined);
}

/** True when the process has ended. A zombie has ended too, although its parent may never collect it. */
export async function hasEnded(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return true;
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return /\) [ZX] /.test(stat);
}

function pidFile(cluster: string): string {
  return path.join(cluster, 'postmaster.pid');
}

function readPidFile(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

function parse(text: string): { pid?: number; lines: string[] } {
  const lines = text.split('\n');
  const pid = Number(lines[PID_LINE]);
  return Number.isSafeInteger(pid) && pid > 1 ? { pid, lines } : { lines };
}

/** Whether a process is the server of this cluster, another program, or has ended. */
async function stateOf(pid: number, cluster: string): Promise<'server' | 'other' | 'ended'> {
  if (await hasEnded(pid)) return 'ended';
  const words = await commandLine(pid);
  // The process is ending, or is a thread of the kernel.
  if (words === '') return 'ended';
  // A process whose command line cannot be read is left alone.
  return words === undefined || (words.includes('postgres') && words.includes(cluster)) ? 'server' : 'other';
}

/** The command line of a process, undefined when it cannot be read. */
async function commandLine(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    return readFile(`/proc/${pid}/cmdline`, 'utf8').catch((error: unknown) =>
      codeOf(error) === 'ESRCH' ? '' : undefined,
    );
  }
  const { stdout } = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({
    stdout: undefined,
  }));
  return stdout;
}

/** Log of the embedded database. */
export interface EmbeddedLog {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

const POLL_MS = 25;
const SLOW_START_NOTE_MS = 10_000;
/** Duration for which a start may fail because an earlier server is still ending. */
const LEFTOVERS_MS = 15_000;
/** Maximum number of starts. A server that ends after each of them is broken. */
const MAX_STARTS = 3;
const FAST_SHUTDOWN_MS = 60_000;
const CONNECT_MS = 10_000;
const LOG_TAIL = 10_000;
/** SQLSTATE classes of a server that is starting, stopping, recovering or out of connections. */
const TEMPORARY = /^(?:57|53)/;
const LEFTOVERS = /lock file .* already exists|pre-existing shared memory block/;

/**
 * Stops the PostgreSQL that runs on this cluster, if any: cleanly, ending its connections. Waits until it has ended.
 * @param waitMs time for a clean stop, which writes everything to the disk
 */
export async function stopServer(
  cluster: string,
  log: Pick<EmbeddedLog, 'warn'>,
  waitMs = FAST_SHUTDOWN_MS,
): Promise<void> {
  const running = await findServer(cluster);
  if (!running || (await endsAfter(running.pid, 'SIGINT', waitMs))) return;
  log.warn('PostgreSQL takes too long to stop; it is stopped at once and recovers at the next start.');
  await endsAfter(running.pid, 'SIGQUIT');
}

/** Ends the PostgreSQL of a cluster that nobody needs, without writing anything. @throws Error when it goes on */
export async function killServer(cluster: string): Promise<void> {
  const running = await findServer(cluster);
  if (running && !(await endsAfter(running.pid, 'SIGQUIT')))
    throw new EmbeddedDatabaseError(`The PostgreSQL of ${cluster} does not stop: end it and start again.`);
}

/** Place and value of `state` in `global/pg_control`, the same in all versions: the server has written everything and ended. */
const STATE_OFFSET = 16;
const SHUT_DOWN = 1;

/** Whether the last server of this cluster has stopped cleanly: the cluster needs no recovery. */
export async function isShutDown(cluster: string): Promise<boolean> {
  if ((await readPidFile(pidFile(cluster))) !== '') return false;
  const control = await readFile(path.join(cluster, 'global', 'pg_control'));
  return control.readInt32LE(STATE_OFFSET) === SHUT_DOWN;
}

/** @returns whether the process has ended in time after the signal */
async function endsAfter(pid: number, signal: NodeJS.Signals, waitMs = FAST_SHUTDOWN_MS): Promise<boolean> {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // Another process has stopped it.
    if (codeOf(error) === 'ESRCH') return true;
    throw error;
  }
  for (const deadline = Date.now() + waitMs; Date.now() < deadline; await delay(POLL_MS))
    if (await hasEnded(pid)) return true;
  return false;
}

/** Finds, starts and stops the PostgreSQL process of one cluster. */
export class Postmaster {
  constructor(
    private readonly dataDir: string,
    private readonly cluster: string,
    /** Directory of the socket of a server that this process starts; a running server may use another. */
    private socketDir: string,
    private readonly account: Account,
    private readonly binaries: Binaries,
    private readonly log: EmbeddedLog,
    /** Settings of a server that this process starts, beyond the usual ones. */
    private readonly settings: ServerSettings = {},
  ) {}

  /** A connection string for `database`. */
  url(database: string): string {
    const host = encodeURIComponent(this.socketDir);
    // `sslmode` overrides a PGSSLMODE of the operator's shell, which is for other servers.
    return `postgres://${SUPERUSER}@localhost:${SOCKET_PORT}/${encodeURI(database)}?host=${host}&sslmode=disable`;
  }

  /** The same without an URL, which some names of databases do not fit into. */
  connection(database: string): Pick<pg.ClientConfig, 'host' | 'port' | 'user' | 'database' | 'ssl'> {
    return { host: this.socketDir, port: SOCKET_PORT, user: SUPERUSER, database, ssl: false };
  }

  /**
   * Connects to the maintenance database, starting PostgreSQL when none runs on the cluster. Any number of processes
   * may do this at once: only one of the servers that they start keeps running, and all connect to it.
   * @throws EmbeddedDatabaseError when PostgreSQL does not start
   */
  async connect(): Promise<pg.Client> {
    const began = Date.now();
    let nextNote = began + SLOW_START_NOTE_MS;
    let starts = 0;
    for (;;) {
      const running = await findServer(this.cluster);
      if (running?.socketDir) this.socketDir = running.socketDir;
      const client = running && (await this.tryConnect());
      if (client) return client;
      if (running) await delay(POLL_MS);
      else if (await this.start(began + LEFTOVERS_MS)) starts += 1;
      if (starts > MAX_STARTS) throw failedProgram('PostgreSQL', await this.lastLog(), this.dataDir);
      if (Date.now() > nextNote) {
        this.log.warn('PostgreSQL is not ready yet; after a crash it first recovers the committed data.');
        nextNote = Date.now() + SLOW_START_NOTE_MS;
      }
    }
  }

  /** See `stopServer`. */
  async stop(waitMs?: number): Promise<void> {
    await stopServer(this.cluster, this.log, waitMs);
  }

  /** A connection, or undefined while PostgreSQL is starting, recovering or stopping. */
  private async tryConnect(): Promise<pg.Client | undefined> {
    const client = new pg.Client({
      connectionString: this.url('postgres'),
      application_name: 'workspace instance',
      connectionTimeoutMillis: CONNECT_MS,
    });
    // The end of the connection is detected by its `end` event. Without this listener its error would end the process.
    client.on('error', () => undefined);
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      const code = codeOf(error);
      if (['EACCES', 'EPERM'].includes(code)) throw unusableDirectory(this.dataDir, error);
      if (error instanceof pg.DatabaseError && !TEMPORARY.test(code)) {
        throw new EmbeddedDatabaseError(`PostgreSQL rejects the connection: ${error.message}`, {
          cause: error,
        });
      }
      return undefined;
    }
  }

  /**
   * Starts a server and waits until it has written its pid file, or has ended.
   * @returns false when it ended because of another server that runs or is still ending
   */
  private async start(retryUntil: number): Promise<boolean> {
    await removeStalePidFile(this.cluster);
    const { cluster, socketDir, account, binaries, settings } = this;
    const args = await serverArguments(cluster, socketDir, account, binaries, settings);
    const output = path.join(this.dataDir, `postgres-start-${process.pid}.log`);
    const child = this.spawn(args, output);
    const ended = new Promise<Error | 'exit'>((resolve) => {
      child.once('error', resolve);
      child.once('exit', () => resolve('exit'));
    });
    try {
      while (!(await findServer(this.cluster))) {
        const end = await Promise.race([ended, delay(POLL_MS)]);
        if (end === undefined) continue;
        const printed = end === 'exit' ? await readFile(output, 'utf8').catch(() => '') : end.message;
        const server = await findServer(this.cluster);
        if (!server && !(LEFTOVERS.test(printed) && Date.now() < retryUntil)) {
          throw failedProgram('PostgreSQL', printed, this.dataDir);
        }
        await delay(POLL_MS);
        return false;
      }
      return true;
    } finally {
      // The server keeps this file open and does not need its name. After the start it writes to its own log.
      await rm(output, { force: true });
    }
  }

  /**
   * Starts the program in its own process group: a Ctrl-C in the terminal must not end the database before the application has
   * finished the requests in flight. Its output goes to a file, because a pipe would break at the end of this process.
   */
  private spawn(args: string[], output: string): ChildProcess {
    const { file, args: argv, options } = this.account.command(this.binaries.postgres, args);
    const fd = openOutput(output);
    try {
      const child = spawn(file, argv, {
        ...options,
        cwd: '/',
        env: PROGRAM_ENV,
        detached: true,
        stdio: ['ignore', fd, fd],
      });
      child.unref();
      return child;
    } finally {
      closeSync(fd);
    }
  }

  /** The end of the server's own log. */
  private async lastLog(): Promise<string> {
    const directory = path.join(this.cluster, LOG_DIR);
    const names = await readdir(directory).catch(() => []);
    const files = await Promise.all(
      names.map(async (name) => {
        const file = path.join(directory, name);
        return { file, mtimeMs: (await stat(file)).mtimeMs };
      }),
    );
    const newest = files.sort((a, b) => b.mtimeMs - a.mtimeMs)[0];
    return newest ? (await readFile(newest.file, 'utf8')).slice(-LOG_TAIL) : '';
  }
}

function openOutput(file: string): number {
  try {
    return openSync(file, 'w', 0o600);
  } catch (error) {
    throw unusableDirectory(path.dirname(file), error);
  }
}
