import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Ticks of the counters in /proc in a second (USER_HZ), on each platform of Linux. */
const TICKS = 100;

/** Counters of `/proc/<pid>/stat`, counted from the field after the name of the program. */
const [OWN, OF_ENDED_CHILDREN] = [11, 13];

/**
 * Measures a test file, where TEST_TIMES is set.
 * @returns a function that appends a line to the file TEST_TIMES: seconds; seconds in which the main thread of this process had
 *   nothing to do; seconds of processor time in this process, in PostgreSQL, and in child processes that have ended; the name.
 *   PostgreSQL serves all workers: its number belongs to the file in a run with `--maxWorkers=1` only. Only the first number
 *   contains the time in which the thread waited for a processor that another process used.
 */
export function startTimes(file) {
  const times = process.env.TEST_TIMES;
  if (!times) return () => undefined;
  const before = readClocks();
  return () => {
    const seconds = readClocks().map((value, n) => (value - before[n]).toFixed(2));
    appendFileSync(times, `${seconds.join('\t')}\t${file}\n`);
  };
}

function readClocks() {
  const seconds = performance.now() / 1e3;
  const { user, system } = process.cpuUsage();
  // Nanoseconds in which the thread ran, and in which it waited for a processor.
  const [ran, queued] = read(`/proc/${process.pid}/schedstat`).split(' ').map(Number);
  return [
    seconds,
    seconds - (ran + (queued ?? 0)) / 1e9,
    (user + system) / 1e6,
    ofPostgres(),
    ticksOf(process.pid, OF_ENDED_CHILDREN) / TICKS,
  ];
}

/** Processor time of the server of the run: its first process, which counts ended ones, and those that run. */
function ofPostgres() {
  const [pid] = read(path.join(process.env.TEST_POSTGRES, 'postmaster.pid')).split('\n');
  const running = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean);
  const ticks = running.map((child) => ticksOf(child, OWN));
  return [...ticks, ticksOf(pid, OWN), ticksOf(pid, OF_ENDED_CHILDREN)].reduce((a, b) => a + b) / TICKS;
}

/** User and system time, which follow each other. */
function ticksOf(pid, field) {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[field] ?? 0) + Number(fields[field + 1] ?? 0);
}

/** Empty where there is no such process, and on systems without /proc. */
function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
