import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { cleanHtml, HtmlTooComplexError, isPlainlyClean } from '../../lib/html/index.js';
import { WorkerLimitError, type WorkerLimits, WorkerPool } from '../workers/worker-pool.js';
import type { HtmlCheckResult } from './html-policy.worker.js';
export { HtmlTooComplexError } from '../../lib/html/index.js';

/** Sufficient for notes of a few megabytes. */
const LIMITS: WorkerLimits = { workers: 2, queue: 64, timeoutMs: 10_000, memoryMb: 256 };

/** Cleans large texts outside the event loop. */
export class HtmlWorkerPool {
  private readonly pool: WorkerPool<string, HtmlCheckResult>;

  constructor(limits: Partial<WorkerLimits> = {}) {
    this.pool = new WorkerPool(new URL('./html-policy.worker.js', import.meta.url), { ...LIMITS, ...limits });
  }

  /** Returns the result of cleanHtml(). @throws also when the time, memory or queue limit is exceeded */
  async run(html: string): Promise<string> {
    const result = await this.pool.run(html).catch((error: unknown) => {
      throw asHtmlError(error);
    });
    if ('tooComplex' in result) throw new HtmlTooComplexError(result.tooComplex);
    return result.clean ?? html;
  }

  /** Stops the workers. Running and waiting checks are rejected. */
  close(): Promise<void> {
    return this.pool.close();
  }
}

function asHtmlError(error: unknown): unknown {
  if (error instanceof WorkerLimitError)
    return new HtmlTooComplexError(error.limit === 'time' ? 'too_slow' : 'too_many_nodes');
  return error;
}

/** Texts from this length on that need the parser are checked in a worker thread. Characters. */
const LARGE = 64 * 1024;

/**
 * Applies the HTML policy when a text is stored, not when it is read. Clean text is stored unchanged, because editors compare,
 * hash and diff their texts.
 */
@Injectable()
export class HtmlPolicy implements OnModuleDestroy {
  private readonly pool = new HtmlWorkerPool();

  /**
   * Returns the input when it is clean, the cleaned text otherwise.
   *
   * @throws HtmlTooComplexError when the text is too deep, too large or takes too long
   * @throws QueueFullError when the queue of large texts is full
   */
  async check(html: string): Promise<string> {
    if (isPlainlyClean(html)) return html;
    return html.length < LARGE ? cleanHtml(html) : this.pool.run(html);
  }

  async onModuleDestroy(): Promise<void> {
    await this.pool.close();
  }
}
