// Allows one installation or build of a clone at a time, across processes.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 200;
const EMPTY_MS = 5_000;

/**
 * Runs `work` while no other process of this user does so for the same directory. A holder that has ended is ignored, even
 * if its id belongs to another process now: ids start again when a container restarts.
 */
export async function withLock(directory, work) {
  const file = lockFile(directory);
  let isAnnounced = false;
  while (!take(file)) {
    if (!isAnnounced)
      process.stderr.write('Waiting for another process that is installing or building ...\n');
    isAnnounced = true;
    await delay(POLL_MS);
  }
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

/** Outside the clone: an installation replaces node_modules, and git would show other files. */
function lockFile(directory) {
  const key = createHash('sha256').update(`${os.userInfo().uid}:${directory}`).digest('hex').slice(0, 16);
  return path.join(os.tmpdir(), `workspace-prepare-${key}.lock`);
}

function take(file) {
  try {
    writeFileSync(file, `${process.pid} ${startOf(process.pid)}`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  if (!holderIsAlive(file)) rmSync(file, { force: true });
  return false;
}

function holderIsAlive(file) {
  try {
    const [id, start = ''] = readFileSync(file, 'utf8').split(' ');
    const pid = Number(id);
    // The file is empty for a moment after its creation. It stays empty only when its creator was killed in that moment.
    if (pid === 0) return Date.now() - statSync(file).mtimeMs < EMPTY_MS;
    process.kill(pid, 0);
    return startOf(pid) === start;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** The start time of a process, as text. A later process with the same id has another start time. */
function startOf(pid) {
  if (process.platform !== 'linux') return execFileSync('ps', ['-o', 'lstart=', '-p', pid]).toString().trim();
  // The 20th field after the name of the program, which may contain spaces (proc_pid_stat(5)).
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ')[19];
}
