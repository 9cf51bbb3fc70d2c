import { Logger } from '@nestjs/common';

/** Maximum interval between polls, which find entries of other processes and of workers that have ended. */
const POLL_MS = 10_000;

interface Options<Claim> {
  /** Maximum number of concurrent deliveries. */
  concurrency: number;
  claim: () => Promise<Claim | undefined>;
  deliver: (claim: Claim) => Promise<void>;
  /** Milliseconds until the next entry is due. */
  untilNext: () => Promise<number | undefined>;
  /** Minimum interval between polls, e.g. while due entries cannot be claimed. */
  minimumMs: () => number;
}

/** Claims and delivers due entries with bounded concurrency. */
export class DeliveryLoop<Claim> {
  private readonly logger = new Logger('QueueWorker');
  private readonly running = new Set<Promise<void>>();
  private timer: NodeJS.Timeout | undefined;
  private filling: Promise<void> | undefined;
  private again = false;
  private stopped = true;

  constructor(private readonly options: Options<Claim>) {}

  start(): void {
    this.stopped = false;
    this.wake();
  }

  /** Stops claiming and waits for running deliveries. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.filling;
    await Promise.all(this.running);
  }

  /** Looks for due entries now. */
  wake(): void {
    if (this.stopped) return;
    this.again = true;
    this.filling ??= this.fill()
      .catch((error: unknown) => this.logger.error({ err: error }, 'the queue could not be read'))
      .then(() => this.schedule());
  }

  private async fill(): Promise<void> {
    clearTimeout(this.timer);
    while (this.again && !this.stopped) {
      this.again = false;
      while (!this.stopped && this.running.size < this.options.concurrency) {
        const claimed = await this.options.claim();
        if (claimed === undefined) break;
        this.run(claimed);
      }
    }
  }

  private run(claimed: Claim): void {
    const delivery = this.options.deliver(claimed).finally(() => {
      this.running.delete(delivery);
      this.wake();
    });
    this.running.add(delivery);
  }

  private async schedule(): Promise<void> {
    const due = await this.options.untilNext().catch(() => undefined);
    this.filling = undefined;
    if (this.stopped) return;
    if (this.again) this.wake();
    else {
      const pause = Math.max(this.options.minimumMs(), due ?? POLL_MS);
      this.timer = setTimeout(() => this.wake(), Math.min(POLL_MS, pause)).unref();
    }
  }
}
