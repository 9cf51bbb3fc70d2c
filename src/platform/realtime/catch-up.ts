import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Bus } from '../bus/bus.js';

/** Seconds between two comparisons. */
const EVERY_SECONDS = 30;
/** A row may become visible this long after its time, because its transaction may take this long. */
const OVERLAP_SECONDS = 60;

/**
 * Compares delivered events with the database and delivers the missing ones.
 * @param seconds age of the oldest row that may have been missed
 */
export type Comparison = (seconds: number) => Promise<void>;

/**
 * Finds changes whose report was lost: the process that made them ended between the commit and the report, or this process had no
 * listening connection. All comparisons run every 30 seconds, and as soon as the listening connection is back.
 */
@Injectable()
export class CatchUp implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(CatchUp.name);
  /** Comparisons by name, with the `performance.now()` of the start of their last successful run. */
  private readonly comparisons = new Map<string, { compare: Comparison; since: number }>();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private pending: Promise<void> | undefined;

  constructor(private readonly bus: Bus) {}

  /** Domains register in `onModuleInit`. @param name for the log */
  register(name: string, compare: Comparison): void {
    this.comparisons.set(name, { compare, since: performance.now() });
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.run(), EVERY_SECONDS * 1_000).unref();
    this.bus.onLoss(() => void this.run());
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  /** Runs all comparisons, after a current run. A failed comparison is logged; its next run also covers the time of this one. */
  run(): Promise<void> {
    this.pending ??= this.running.then(() => {
      this.pending = undefined;
      return this.compareAll();
    });
    this.running = this.pending;
    return this.pending;
  }

  private async compareAll(): Promise<void> {
    for (const [name, comparison] of this.comparisons) {
      const started = performance.now();
      try {
        await comparison.compare((started - comparison.since) / 1_000 + OVERLAP_SECONDS);
        comparison.since = started;
      } catch (error) {
        this.logger.warn(
          { err: error, comparison: name },
          'the comparison for lost reports failed; it will be repeated',
        );
      }
    }
  }
}
