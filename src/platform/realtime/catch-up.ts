import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Bus } from '../bus/bus.js';
import { Db } from '../database/db.js';

/** Seconds between two comparisons. */
const EVERY_SECONDS = 30;
/** A row may become visible this long after its time, because its transaction may take this long. */
const OVERLAP_SECONDS = 60;

/**
 * Compares delivered events with the rows of the cell that it runs in (`Db.inCell`) and delivers the missing ones.
 * @param seconds age of the oldest row that may have been missed
 */
export type Comparison = (seconds: number) => Promise<void>;

/**
 * Finds changes whose report was lost: the process that made them ended between the commit and the report, or this process had no
 * listening connection. All comparisons run every 30 seconds, and as soon as the listening connection is back, in each cell by
 * itself: a lost database delays the reports of its own workspaces only.
 */
@Injectable()
export class CatchUp implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger(CatchUp.name);
  private readonly comparisons = new Map<string, Comparison>();
  /** `performance.now()` of the start of the last successful run, by comparison and cell. */
  private readonly since = new Map<string, number>();
  private readonly createdAt = performance.now();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private pending: Promise<void> | undefined;

  constructor(
    private readonly bus: Bus,
    private readonly db: Db,
  ) {}

  /** Domains register in `onModuleInit`. @param name for the log */
  register(name: string, compare: Comparison): void {
    this.comparisons.set(name, compare);
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
    await Promise.all(this.db.cells.map((cell) => this.db.inCell(cell, () => this.compareIn(cell))));
  }

  private async compareIn(cell: string): Promise<void> {
    for (const [name, compare] of this.comparisons) {
      const run = `${name} ${cell}`;
      const started = performance.now();
      try {
        await compare((started - (this.since.get(run) ?? this.createdAt)) / 1_000 + OVERLAP_SECONDS);
        this.since.set(run, started);
      } catch (error) {
        this.logger.warn(
          { err: error, comparison: name, cell },
          'the comparison for lost reports failed; it will be repeated',
        );
      }
    }
  }
}
