import { Worker } from 'node:worker_threads';
import { outsideRequests } from '../current-work/current-work.js';
import { ClosedError, ConcurrencyLimiter, QueueFullError } from './concurrency-limiter.js';
import type { WorkerResult } from './worker-script.js';

export { ClosedError, QueueFullError } from './concurrency-limiter.js';

/** A task exceeded its time or memory limit. Its thread has been replaced. */
export class WorkerLimitError extends Error {
  constructor(readonly limit: 'time' | 'memory') {
    super(`a task exceeded its ${limit} limit`);
    this.name = 'WorkerLimitError';
  }
}

/** Limits of a pool. */
export interface WorkerLimits {
  workers: number;
  /** Maximum number of waiting tasks. */
  queue: number;
  /** Processor time of a task, milliseconds. On a busy machine a task may take ten times as long, and 10 s in any case. */
  timeoutMs: number;
  memoryMb: number;
}

/** Time without a task after which a thread ends. Its heap, up to `memoryMb` after a large task, would stay in the process. */
const IDLE_MS = 60_000;
/** Maximum time of a task, as a multiple of its limit of processor time. A task that needs longer means an overloaded machine. */
const MAX_STRETCH = 10;
/** Every task may take this time, because a busy machine needs seconds to start a thread. */
const MIN_STRETCH_MS = 10_000;
/** Minimum time between two readings of the processor time of a thread. */
const MIN_RECHECK_MS = 50;

/**
 * Runs tasks in worker threads. Threads start on first use, run one task at a time, do not keep the process alive, end after
 * {@link IDLE_MS} without a task, and are replaced when a task exceeds its limits.
 *
 * @typeParam Input argument of a task; it is copied to the thread
 * @typeParam Output result of a task
 */
export class WorkerPool<Input, Output> {
  private readonly limiter: ConcurrencyLimiter;
  private readonly threads = new Map<number, Worker>();
  /** Timers that end idle threads. */
  private readonly idle = new WeakMap<Worker, NodeJS.Timeout>();
  private closed = false;

  /** @param script a module that calls `serveWork()` */
  constructor(
    private readonly script: URL,
    private readonly limits: WorkerLimits,
  ) {
    this.limiter = new ConcurrencyLimiter(limits.workers, limits.queue);
  }

  /**
   * @param signal aborts the task while it waits or runs
   * @throws QueueFullError (also when the machine is too busy for the task), ClosedError, WorkerLimitError, the signal's reason, or an Error with the message of the script's error
   */
  run(input: Input, signal?: AbortSignal): Promise<Output> {
    return this.limiter.run((slot) => this.work(slot, input, signal), signal);
  }

  /** Stops the threads. Running and waiting tasks are rejected. */
  async close(): Promise<void> {
    this.closed = true;
    this.limiter.close();
    await Promise.all([...this.threads.values()].map((thread) => thread.terminate()));
  }

  private async work(slot: number, input: Input, signal: AbortSignal | undefined): Promise<Output> {
    if (this.closed) throw new ClosedError();
    signal?.throwIfAborted();
    const thread = this.threads.get(slot) ?? this.start(slot);
    clearTimeout(this.idle.get(thread));
    this.idle.delete(thread);
    const { promise, resolve, reject } = Promise.withResolvers<WorkerResult<Output>>();
    const fail = (error: NodeJS.ErrnoException): void => reject(asLimit(error));
    const exit = (): void => reject(new ClosedError());
    const stopTimer = limitTime(thread, this.limits.timeoutMs, reject);
    const abort = (): void => reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    thread.on('message', resolve).on('error', fail).on('exit', exit);
    thread.ref();
    let result: WorkerResult<Output>;
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
      thread.postMessage(input);
      result = await promise;
    } catch (error) {
      // The thread may still be busy, so the next task gets a new one.
      this.drop(slot, thread);
      throw error;
    } finally {
      stopTimer();
      signal?.removeEventListener('abort', abort);
      thread.off('message', resolve).off('error', fail).off('exit', exit);
      // An idle thread must not keep the process alive.
      thread.unref();
    }
    // A timer keeps the request in whose work it is set.
    const timer = outsideRequests(() => setTimeout(() => this.drop(slot, thread), IDLE_MS));
    this.idle.set(thread, timer.unref());
    if ('failed' in result) throw new Error(result.failed);
    return result.done;
  }

  private start(slot: number): Worker {
    const thread = new Worker(this.script, {
      resourceLimits: { maxOldGenerationSizeMb: this.limits.memoryMb },
      // A worker needs neither the flags of the main thread (inspectors, loaders) nor its environment.
      execArgv: [],
      env: {},
    });
    // A thread may fail while it is idle and while it is stopped.
    thread.on('error', () => this.forget(slot, thread));
    thread.on('exit', () => this.forget(slot, thread));
    this.threads.set(slot, thread);
    return thread;
  }

  private drop(slot: number, thread: Worker): void {
    this.forget(slot, thread);
    void thread.terminate();
  }

  private forget(slot: number, thread: Worker): void {
    if (this.threads.get(slot) === thread) this.threads.delete(slot);
  }
}

function asLimit(error: NodeJS.ErrnoException): Error {
  return error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new WorkerLimitError('memory') : error;
}

/**
 * Limits the processor time of a thread: a valid task is not rejected because other work keeps the processors busy.
 * @param reject receives WorkerLimitError, or QueueFullError when the machine is too busy for the task
 * @returns a function that ends the limit
 */
function limitTime(thread: Worker, timeoutMs: number, reject: (error: Error) => void): () => void {
  const deadline = performance.now() + Math.max(timeoutMs * MAX_STRETCH, MIN_STRETCH_MS);
  const before = processorMs(thread);
  let timer: NodeJS.Timeout;
  let stopped = false;
  const check = async (): Promise<void> => {
    const left = timeoutMs - (await processorMs(thread)) + (await before);
    if (stopped) return;
    if (left <= 0) reject(new WorkerLimitError('time'));
    else if (performance.now() > deadline) reject(new QueueFullError());
    else recheck(Math.max(left, MIN_RECHECK_MS));
  };
  const recheck = (ms: number): void => {
    timer = setTimeout(() => void check(), ms);
  };
  recheck(timeoutMs);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/** Processor time of a thread since its start, milliseconds; 0 for a thread that has ended, which its `exit` reports. */
async function processorMs(thread: Worker): Promise<number> {
  try {
    const { user, system } = await thread.cpuUsage();
    return (user + system) / 1_000;
  } catch {
    return 0;
  }
}
