// Runs a program in the foreground of ours: same terminal, same signals, same exit code.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** A Ctrl-C reaches the whole process group, and npm passes it on as well: what comes this soon is the same signal. */
const SAME_SIGNAL_MS = 500;
const PARENT_POLL_MS = 500;

/**
 * @param {string} file
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, channel?: boolean }} [options]
 *   `channel`: keep an IPC channel open, by whose end the program learns that we were killed
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
  const watch = whenNpmIsGone(() => forward('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      // The signals stay ours: one more Ctrl-C must not replace the program's exit code while we end.
      clearInterval(watch);
      if (child.connected) child.disconnect();
      resolve(code ?? 128 + constants.signals[signal]);
    });
  });
}

/** npm, or the shell between it and us, may be killed without a word to us; nobody could stop the program then. */
function whenNpmIsGone(action) {
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    action();
  }, PARENT_POLL_MS);
  return timer;
}
