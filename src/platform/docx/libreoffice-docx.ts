import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DocxSource } from '../../lib/docx/index.js';
import { ConcurrencyLimiter } from '../workers/concurrency-limiter.js';
import { type WorkerLimits, WorkerPool } from '../workers/worker-pool.js';

/** Converts HTML to a document. */
export interface DocxEngine {
  /**
   * @param signal aborts the conversion while it waits or runs
   * @throws QueueFullError, ClosedError, MissingProgramError, the signal's reason; other errors mean a failed conversion
   */
  convert(source: DocxSource, signal?: AbortSignal): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** The program of an engine is not installed. */
export class MissingProgramError extends Error {
  constructor(program: string) {
    super(`the program ${program} is not installed`);
    this.name = 'MissingProgramError';
  }
}

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

const MAX_RESULT_BYTES = 256 * 1024 * 1024;

/**
 * Runs LibreOffice, one process for each document. Each slot has its own profile directory, because two processes cannot share
 * one. The program gets a page without external references, and no environment variables of the server.
 */
export class LibreOfficeDocx implements DocxEngine {
  private readonly limiter: ConcurrencyLimiter;
  /** Creates the pages. Its queue is as long as the number of concurrent conversions, so it never rejects one. */
  private readonly pages: WorkerPool<DocxSource, string>;
  private home: Promise<string> | undefined;
  private readonly closing = new AbortController();
  private readonly running = new Set<Promise<unknown>>();

  /** @param program name or path of `soffice` */
  constructor(
    private readonly program: string,
    private readonly limits: WorkerLimits,
  ) {
    this.limiter = new ConcurrencyLimiter(limits.workers, limits.queue);
    this.pages = new WorkerPool(new URL('./closed-page.worker.js', import.meta.url), {
      ...limits,
      queue: limits.workers,
    });
  }

  convert(source: DocxSource, signal?: AbortSignal): Promise<Uint8Array> {
    const stop = signal ? AbortSignal.any([signal, this.closing.signal]) : this.closing.signal;
    return this.limiter.run((slot) => this.tracked(this.run(slot, source, stop)), stop);
  }

  async close(): Promise<void> {
    this.limiter.close();
    this.closing.abort(new Error('closed'));
    await Promise.allSettled(this.running);
    await this.pages.close();
    if (this.home) await rm(await this.home, { recursive: true, force: true });
  }

  /** Registers running work, so that close() deletes the directories only after it. */
  private async tracked<T>(work: Promise<T>): Promise<T> {
    this.running.add(work);
    try {
      return await work;
    } finally {
      this.running.delete(work);
    }
  }

  private async run(slot: number, source: DocxSource, signal: AbortSignal): Promise<Uint8Array> {
    const page = await this.pages.run(source, signal);
    const home = await this.createdHome();
    const profile = path.join(home, `profile-${slot}`);
    const directory = path.join(home, `work-${slot}`);
    await mkdir(directory, { recursive: true });
    try {
      const input = path.join(directory, 'note.html');
      await writeFile(input, page);
      await runProgram(this.program, this.options(profile, directory, input), {
        directory,
        timeoutMs: this.limits.timeoutMs,
        signal,
      });
      return await result(path.join(directory, 'note.docx'));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  /** Creates the directory at the first use, and again after a failure: the disk may have been full. */
  private createdHome(): Promise<string> {
    this.home ??= mkdtemp(path.join(tmpdir(), 'docx-')).catch((error: unknown) => {
      this.home = undefined;
      throw error;
    });
    return this.home;
  }

  private options(profile: string, directory: string, input: string): string[] {
    return [
      `-env:UserInstallation=${pathToFileURL(profile).href}`,
      '--headless',
      '--norestore',
      '--nologo',
      '--nodefault',
      '--infilter=HTML (StarWriter)',
      '--convert-to',
      'docx:MS Word 2007 XML',
      '--outdir',
      directory,
      input,
    ];
  }
}

/** LibreOffice exits with 0 even when it has written nothing. */
async function result(file: string): Promise<Uint8Array> {
  if ((await stat(file)).size > MAX_RESULT_BYTES) throw new Error('the document is too large');
  return readFile(file);
}
