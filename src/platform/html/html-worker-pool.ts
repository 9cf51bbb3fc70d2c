import { Worker } from 'node:worker_threads';
import { HtmlPolicyBusyError, HtmlTooComplexError } from './html-errors.js';
import type { HtmlTooComplexCode } from './html-errors.js';

/** What a worker says about the text it was given; `clean: null` means "as it was". */
export type WorkerAnswer = { clean: string | null } | { tooComplex: HtmlTooComplexCode } | { failed: string };

/** Bounds of the pool; the defaults suit notes of up to a few megabytes. */
export interface HtmlWorkerPoolOptions {
  workers?: number;
  queue?: number;
  timeoutMs?: number;
  memoryMb?: number;
}

interface Job {
  html: string;
  resolve(clean: string): void;
  reject(error: Error): void;
}

/** A worker and what it is doing. */
interface Slot {
  worker: Worker;
  job?: Job;
  timer?: NodeJS.Timeout;
}

const CLOSED = 'the HTML policy is closed';

/** Cleans large texts outside the event loop: workers start on first use, take one text at a time and never hold up exit. */
export class HtmlWorkerPool {
  private readonly slots = new Set<Slot>();
  private readonly waiting: Job[] = [];
  private closed = false;
  private readonly limits: Required<HtmlWorkerPoolOptions>;

  constructor(options: HtmlWorkerPoolOptions = {}) {
    this.limits = { workers: 2, queue: 64, timeoutMs: 10_000, memoryMb: 256, ...options };
  }

  /** Same result as cleanHtml(); also rejects when the time, the memory or the queue is used up. */
  run(html: string): Promise<string> {
    if (this.closed) return Promise.reject(new Error(CLOSED));
    if (this.waiting.length >= this.limits.queue) return Promise.reject(new HtmlPolicyBusyError());
    return new Promise((resolve, reject) => {
      this.waiting.push({ html, resolve, reject });
      this.next();
    });
  }

  /** Ends the workers; texts still being checked or waiting are rejected. */
  async close(): Promise<void> {
    this.closed = true;
    for (const job of this.waiting.splice(0)) job.reject(new Error(CLOSED));
    await Promise.all([...this.slots].map(({ worker }) => worker.terminate()));
  }

  private next(): void {
    if (this.closed || this.waiting.length === 0) return;
    const idle = [...this.slots].find((slot) => slot.job === undefined);
    const slot = idle ?? (this.slots.size < this.limits.workers ? this.start() : undefined);
    const job = slot && this.waiting.shift();
    if (!slot || !job) return;
    slot.job = job;
    slot.timer = setTimeout(
      () => this.drop(slot, new HtmlTooComplexError('too_slow')),
      this.limits.timeoutMs,
    );
    slot.worker.ref();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
    slot.worker.postMessage(job.html);
  }

  private start(): Slot {
    const worker = new Worker(new URL('./html-policy.worker.js', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: this.limits.memoryMb },
      // Neither flags of the main thread (inspectors, loaders) nor its environment are any business of a text filter.
      execArgv: [],
      env: {},
    });
    const slot: Slot = { worker };
    worker.on('message', (answer: WorkerAnswer) => this.finish(slot, answer));
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const memory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.drop(slot, memory ? new HtmlTooComplexError('too_many_nodes') : error);
    });
    worker.on('exit', () => this.drop(slot, new Error(CLOSED)));
    this.slots.add(slot);
    return slot;
  }

  private finish(slot: Slot, answer: WorkerAnswer): void {
    const job = this.release(slot);
    // An idle worker must not keep the process alive.
    slot.worker.unref();
    if (!job) return;
    if ('clean' in answer) job.resolve(answer.clean ?? job.html);
    else
      job.reject(
        'tooComplex' in answer ? new HtmlTooComplexError(answer.tooComplex) : new Error(answer.failed),
      );
    this.next();
  }

  /** Takes a worker out of service, failing what it was doing; the next text gets a new one. */
  private drop(slot: Slot, error: Error): void {
    this.slots.delete(slot);
    this.release(slot)?.reject(error);
    void slot.worker.terminate();
    this.next();
  }

  private release(slot: Slot): Job | undefined {
    clearTimeout(slot.timer);
    const { job } = slot;
    slot.job = undefined;
    return job;
  }
}
