/** As many pieces of work wait already as may; the caller answers 503. */
export class QueueFullError extends Error {
  constructor() {
    super('too many pieces of work wait already');
    this.name = 'QueueFullError';
  }
}

/** The work was refused or broken off because the service is stopping. */
export class ClosedError extends Error {
  constructor() {
    super('closed');
    this.name = 'ClosedError';
  }
}

interface Waiter {
  start(lane: number): void;
  refuse(error: unknown): void;
}

/**
 * Lets a bounded number of pieces of work run at once and a bounded number wait, in their order. Each runs in a lane, a
 * number that no other running piece has, so that what a lane owns (a thread, a directory) is used by one at a time.
 */
export class ConcurrencyLimiter {
  private readonly free: number[];
  private readonly waiting = new Set<Waiter>();
  private closed = false;

  /** @param queue how many may wait beyond those running */
  constructor(
    lanes: number,
    private readonly queue: number,
  ) {
    this.free = Array.from({ length: lanes }, (_, lane) => lanes - 1 - lane);
  }

  /**
   * Runs `work` as soon as a lane is free.
   *
   * @param signal gives up the place in the queue; work that has begun has to look at it itself
   * @throws QueueFullError, ClosedError, or the signal's reason, without having called `work`
   */
  async run<T>(work: (lane: number) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const lane = await this.take(signal);
    try {
      return await work(lane);
    } finally {
      this.give(lane);
    }
  }

  /** Refuses all that waits and all that comes; what runs goes on. */
  close(): void {
    this.closed = true;
    for (const waiter of this.waiting) waiter.refuse(new ClosedError());
    this.waiting.clear();
  }

  private async take(signal: AbortSignal | undefined): Promise<number> {
    if (this.closed) throw new ClosedError();
    signal?.throwIfAborted();
    const lane = this.free.pop();
    if (lane !== undefined) return lane;
    if (this.waiting.size >= this.queue) throw new QueueFullError();
    return this.wait(signal);
  }

  private async wait(signal: AbortSignal | undefined): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const waiter: Waiter = { start: resolve, refuse: reject };
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

  private give(lane: number): void {
    const [next] = this.waiting;
    if (!next) {
      this.free.push(lane);
      return;
    }
    this.waiting.delete(next);
    next.start(lane);
  }
}
