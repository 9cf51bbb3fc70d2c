/**
 * Runs the work of all items, of at most `concurrency` at the same time.
 * @throws the first error of the work, once all running work has ended. Each error ends one of the `concurrency` workers, so the work of
 *   the last items may not have run
 */
export async function inParallel<T>(
  items: Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const remaining = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = remaining.next(); !next.done; next = remaining.next()) await work(next.value);
  };
  const results = await Promise.allSettled(Array.from({ length: concurrency }, worker));
  const failed = results.find(({ status }) => status === 'rejected');
  if (failed) throw (failed as PromiseRejectedResult).reason;
}

export const POLL_MS = 1_000;

/**
 * Leases work of a shared queue: every second, and at once when work is due. One pass at a time.
 * @param claimAll one pass, until nothing is due or the process has no room
 * @param onError a pass failed; the next one is in a second
 */
export class ClaimLoop {
  private timer: NodeJS.Timeout | undefined;
  private timerDue = 0;
  private filling: Promise<void> | undefined;
  private stopped = false;

  constructor(
    private readonly claimAll: () => Promise<void>,
    private readonly onError: (error: unknown) => void,
  ) {}

  get isStopped(): boolean {
    return this.stopped;
  }

  start(): void {
    this.schedule(POLL_MS);
  }

  /** Starts no further pass and waits for the present one. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.filling;
  }

  /** The next pass is in `ms` milliseconds at the latest. */
  schedule(ms: number): void {
    const due = Date.now() + ms;
    if (this.stopped || (this.timer && this.timerDue <= due)) return;
    clearTimeout(this.timer);
    this.timerDue = due;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.fill().finally(() => this.schedule(POLL_MS));
    }, ms);
    this.timer.unref();
  }

  /** One pass, after the present one. */
  async fill(): Promise<void> {
    while (this.filling) await this.filling;
    if (this.stopped) return;
    this.filling = this.claimAll()
      .catch(this.onError)
      .finally(() => (this.filling = undefined));
    await this.filling;
  }
}
