import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds for which a computation runs before it lets other work run. */
const SLICE = 10;

/**
 * Divides a long computation into slices, so that other requests are served between them. Create one for each computation, and
 * `await turns.pause()` after each small step, which takes at most a few milliseconds.
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
    await nextTurn();
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
