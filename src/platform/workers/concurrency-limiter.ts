/** The queue is full. The HTTP layer maps it to 503. */
export class QueueFullError extends Error {
  constructor() {
    super('the queue is full');
    this.name = 'QueueFullError';
  }
}

/** The task was rejected or aborted because the service is stopping. */
export class ClosedError extends Error {
  constructor() {
    super('closed');
    this.name = 'ClosedError';
  }
}

interface Waiter {
  start(slot: number): void;
  reject(error: unknown): void;
}

/**
 * Runs a limited number of tasks at the same time and queues a limited number in order. Each running task has a slot, a
 * number that no other running task has, so that resources of a slot (a thread, a directory) are used by one task at a time.
 */
export class ConcurrencyLimiter {
  private readonly free: number[];
  private readonly waiting = new Set<Waiter>();
  private closed = false;

  /** @param queue maximum number of waiting tasks */
  constructor(
    slots: number,
    private readonly queue: number,
  ) {
    this.free = Array.from({ length: slots }, (_, slot) => slots - 1 - slot);
  }

  /**
   * Runs `task` as soon as a slot is free.
   *
   * @param signal removes a waiting task from the queue; a running task must observe it itself
   * @throws QueueFullError, ClosedError, or the signal's reason, without calling `task`
   */
  async run<T>(task: (slot: number) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const slot = await this.take(signal);
    try {
      return await task(slot);
    } finally {
      this.release(slot);
    }
  }

  /** Rejects waiting and new tasks. Running tasks continue. */
  close(): void {
    this.closed = true;
    for (const waiter of this.waiting) waiter.reject(new ClosedError());
    this.waiting.clear();
  }

  private async take(signal: AbortSignal | undefined): Promise<number> {
    if (this.closed) throw new ClosedError();
    signal?.throwIfAborted();
    const slot = this.free.pop();
    if (slot !== undefined) return slot;
    if (this.waiting.size >= this.queue) throw new QueueFullError();
    return this.wait(signal);
  }

  private async wait(signal: AbortSignal | undefined): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const waiter: Waiter = { start: resolve, reject };
    const leave = (): void => {
      this.waiting.delete(waiter);
      reject(signal?.reason);
    };
    this.waiting.add(waiter);
    signal?.addEventListener('abort', leave, { once: true });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }

  private release(slot: number): void {
    const [next] = this.waiting;
    if (!next) {
      this.free.push(slot);
      return;
    }
    this.waiting.delete(next);
    next.start(slot);
  }
}
