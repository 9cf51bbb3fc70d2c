import { spawn } from 'node:child_process';
import { MissingProgramError } from './docx-engine.js';

/** The PATH of the programs, independent of the PATH of this process. */
const PATH =
  '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/libreoffice/program:/Applications/LibreOffice.app/Contents/MacOS';

/**
 * Runs a program until it exits, in its own process group. The whole group is killed at the end, because office programs are
 * scripts that start further processes.
 *
 * @param options.directory its working and home directory
 * @throws MissingProgramError; the signal's reason; Error on timeout and on a non-zero exit code
 */
export async function runProgram(
  program: string,
  args: string[],
  options: { directory: string; timeoutMs: number; signal: AbortSignal },
): Promise<void> {
  const { directory, timeoutMs, signal } = options;
  signal.throwIfAborted();
  const child = spawn(program, args, {
    cwd: directory,
    detached: true,
    stdio: 'ignore',
    env: { PATH, HOME: directory, TMPDIR: directory, LANG: 'C.UTF-8' },
  });
  const stopped = Promise.withResolvers<never>();
  const timer = setTimeout(() => stopped.reject(new Error(`${program} timed out`)), timeoutMs);
  const abort = (): void => stopped.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ENOENT' || error.code === 'EACCES' ? new MissingProgramError(program) : error),
    );
    child.once('exit', resolve);
  });
  try {
    const code = await Promise.race([ended, stopped.promise]);
    if (code !== 0) throw new Error(`${program} exited with ${code ?? 'a signal'}`);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    // Also after success: processes of the group may still run.
    killGroup(child.pid);
    await ended.catch(() => undefined);
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has already exited.
  }
}
