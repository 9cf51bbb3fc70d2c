import { QueueFullError, WorkerLimitError, type WorkerLimits, WorkerPool } from '../workers/worker-pool.js';
import { HtmlTooComplexError } from '../../lib/html/index.js';
import type { HtmlVerdict } from './html-policy.worker.js';

/** The queue of large texts is full. The HTTP layer maps it to 503. */
export class HtmlPolicyBusyError extends Error {
  constructor() {
    super('the queue of large HTML texts is full');
    this.name = 'HtmlPolicyBusyError';
  }
}

/** The defaults suit notes of up to a few megabytes. */
const LIMITS: WorkerLimits = { workers: 2, queue: 64, timeoutMs: 10_000, memoryMb: 256 };

/** Cleans large texts outside the event loop. */
export class HtmlWorkerPool {
  private readonly pool: WorkerPool<string, HtmlVerdict>;

  constructor(limits: Partial<WorkerLimits> = {}) {
    this.pool = new WorkerPool(new URL('./html-policy.worker.js', import.meta.url), { ...LIMITS, ...limits });
  }

  /** Same result as cleanHtml(); also rejects when the time, the memory or the queue is used up. */
  async run(html: string): Promise<string> {
    const verdict = await this.pool.run(html).catch((error: unknown) => {
      throw refusal(error);
    });
    if ('tooComplex' in verdict) throw new HtmlTooComplexError(verdict.tooComplex);
    return verdict.clean ?? html;
  }

  /** Ends the workers; texts still being checked or waiting are rejected. */
  close(): Promise<void> {
    return this.pool.close();
  }
}

function refusal(error: unknown): unknown {
  if (error instanceof QueueFullError) return new HtmlPolicyBusyError();
  if (error instanceof WorkerLimitError)
    return new HtmlTooComplexError(error.limit === 'time' ? 'too_slow' : 'too_many_nodes');
  return error;
}
