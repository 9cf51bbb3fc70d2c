import { execFile } from 'node:child_process';
import { readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { codeOf } from './errors.js';

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
