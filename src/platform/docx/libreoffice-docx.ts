import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConcurrencyLimiter } from '../workers/concurrency-limiter.js';
import { type WorkerLimits, WorkerPool } from '../workers/worker-pool.js';
import type { DocxEngine } from './docx-engine.js';
import type { DocxSource } from '../../lib/docx/index.js';
import { runProgram } from './run-program.js';

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
