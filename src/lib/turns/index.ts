/** Milliseconds for which a computation runs before it lets other work run. */
const SLICE = 10;

/** Computations that wait for their next slice. */
const waiting: (() => void)[] = [];

/** One slice in each turn of the event loop, so that several computations together delay other requests no more than one does. */
function continueNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(continueNext);
}

/** Ends a slice of the computation, which goes on in a later turn of the event loop. */
export function waitForSlice(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(continueNext);
  });
}

/**
 * Divides a long computation into slices, so that other requests and slices of other computations run between them. Create one for each
 * computation, and `await turns.pause()` after each small step, which takes at most a few milliseconds.
 */
export class Turns {
  private started: number;

  /**
   * @param slice milliseconds
   * @param now the clock, milliseconds
   */
  constructor(
    private readonly slice = SLICE,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.started = this.now();
  }

  /** Once the slice is over, lets all pending work of the event loop run. Undefined means that the slice continues. */
  pause(): Promise<void> | undefined {
    return this.now() - this.started < this.slice ? undefined : this.next();
  }

  private async next(): Promise<void> {
    await waitForSlice();
    this.started = this.now();
  }
}

/** Work has taken longer than it may. */
export class LateError extends Error {
  constructor(ms: number) {
    super(`no response within ${ms / 1000} s`);
    this.name = 'LateError';
  }
}

/**
 * The result of `work`. A response that has arrived while the event loop was blocked is in time: timers run before sockets are read.
 * @throws LateError when it takes longer; `work` goes on
 */
export function awaitWithin<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(() => reject(new LateError(ms))), ms);
    void work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
