import { Worker } from 'node:worker_threads';
import { ClosedError, ConcurrencyLimiter } from './concurrency-limiter.js';
import type { WorkerAnswer } from './worker-script.js';

export { ClosedError, QueueFullError } from './concurrency-limiter.js';

/** A piece of work used up its time or its memory; its worker has been replaced. */
export class WorkerLimitError extends Error {
  constructor(readonly limit: 'time' | 'memory') {
    super(`a worker used up its ${limit}`);
    this.name = 'WorkerLimitError';
  }
}

/** Bounds of a pool. */
export interface WorkerLimits {
  workers: number;
  /** How many pieces of work may wait beyond those being worked on. */
  queue: number;
  timeoutMs: number;
  memoryMb: number;
}

/**
 * Does work outside the event loop: threads start on first use, take one piece at a time, never hold up exit, and are
 * replaced when a piece of work exceeds its bounds.
 *
 * @typeParam Input what a piece of work is given; it is copied to the thread
 * @typeParam Output what the script's function returns
 */
export class WorkerPool<Input, Output> {
  private readonly lanes: ConcurrencyLimiter;
  private readonly threads = new Map<number, Worker>();
  private closed = false;

  /** @param script a module that calls `serveWork()` */
  constructor(
    private readonly script: URL,
    private readonly limits: WorkerLimits,
  ) {
    this.lanes = new ConcurrencyLimiter(limits.workers, limits.queue);
  }

  /**
   * @param signal breaks the work off, wherever it stands
   * @throws QueueFullError, ClosedError, WorkerLimitError, the signal's reason, or an Error with what the script threw
   */
  run(input: Input, signal?: AbortSignal): Promise<Output> {
    return this.lanes.run((lane) => this.work(lane, input, signal), signal);
  }

  /** Ends the threads; work under way or waiting is rejected. */
  async close(): Promise<void> {
    this.closed = true;
    this.lanes.close();
    await Promise.all([...this.threads.values()].map((thread) => thread.terminate()));
  }

  private async work(lane: number, input: Input, signal: AbortSignal | undefined): Promise<Output> {
    if (this.closed) throw new ClosedError();
    signal?.throwIfAborted();
    const thread = this.threads.get(lane) ?? this.start(lane);
    const { promise, resolve, reject } = Promise.withResolvers<WorkerAnswer<Output>>();
    const fail = (error: NodeJS.ErrnoException): void => reject(asLimit(error));
    const exit = (): void => reject(new ClosedError());
    const timer = setTimeout(() => reject(new WorkerLimitError('time')), this.limits.timeoutMs);
    const abort = (): void => reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    thread.on('message', resolve).on('error', fail).on('exit', exit);
    thread.ref();
    let answer: WorkerAnswer<Output>;
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
      thread.postMessage(input);
      answer = await promise;
    } catch (error) {
      // Whatever it is doing now, nobody waits for it: the next piece of work gets a new thread.
      this.drop(lane, thread);
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      thread.off('message', resolve).off('error', fail).off('exit', exit);
      // An idle thread must not keep the process alive.
      thread.unref();
    }
    if ('failed' in answer) throw new Error(answer.failed);
    return answer.done;
  }

  private start(lane: number): Worker {
    const thread = new Worker(this.script, {
      resourceLimits: { maxOldGenerationSizeMb: this.limits.memoryMb },
      // Neither flags of the main thread (inspectors, loaders) nor its environment are any business of a worker.
      execArgv: [],
      env: {},
    });
    // A thread may die while it has nothing to do, and while it is being ended.
    thread.on('error', () => this.forget(lane, thread));
    thread.on('exit', () => this.forget(lane, thread));
    this.threads.set(lane, thread);
    return thread;
  }

  private drop(lane: number, thread: Worker): void {
    this.forget(lane, thread);
    void thread.terminate();
  }

  private forget(lane: number, thread: Worker): void {
    if (this.threads.get(lane) === thread) this.threads.delete(lane);
  }
}

function asLimit(error: NodeJS.ErrnoException): Error {
  return error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new WorkerLimitError('memory') : error;
}
