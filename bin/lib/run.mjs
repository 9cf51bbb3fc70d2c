// Runs a program in the foreground: same terminal, same signals, same exit code.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** Signals that a program gets from the process that waits for it. */
export const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Ctrl-C signals the whole process group, and npm forwards it. Signals within this time are the same. */
const SAME_SIGNAL_MS = 500;
const PARENT_POLL_MS = 500;

/**
 * @param {string} file
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, channel?: boolean }} [options]
 *   `channel`: keep an IPC channel open; its end signals to the program that this process was killed
 * @returns {Promise<number>} the exit code; 128 + n when a signal n ended the program
 */
export function run(file, args, { cwd, env, channel = false } = {}) {
  const stdio = channel ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit';
  const child = spawn(file, args, { cwd, env, stdio });
  const last = new Map();
  const forward = (signal) => {
    const now = Date.now();
    if (now - (last.get(signal) ?? 0) > SAME_SIGNAL_MS) child.kill(signal);
    last.set(signal, now);
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  const watch = whenNpmEnds(() => forward('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      // Keep the signal handlers: another Ctrl-C must not replace the program's exit code.
      clearInterval(watch);
      if (child.connected) child.disconnect();
      resolve(code ?? 128 + constants.signals[signal]);
    });
  });
}

/** Runs `action` when npm, or its shell, ends without a signal to this process: then nothing else would stop the program. */
function whenNpmEnds(action) {
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    action();
  }, PARENT_POLL_MS);
  return timer;
}
