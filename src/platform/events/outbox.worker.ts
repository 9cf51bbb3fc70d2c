import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Db } from '../database/db.js';
import { WORK_QUEUES, type WorkQueue } from '../jobs/work-queue.js';
import { OutboxDelivery } from './outbox-delivery.js';
import { Outbox } from './outbox.js';

/** How often a process looks for cells that were added or removed. */
const CELLS_MS = 5_000;

type Queues = ReadonlyMap<WorkQueue, OutboxDelivery>;

/**
 * Delivers the outbox of each cell. Any number of processes may run it: rows are claimed with SKIP LOCKED for a limited time.
 */
@Injectable()
export class OutboxWorker implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly cells = new Map<string, Queues>();
  private started = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly db: Db,
    private readonly outbox: Outbox,
  ) {}

  onApplicationBootstrap(): void {
    // A commit does not report its cell, so the deliveries of all cells run.
    this.outbox.onNotice((name) => this.all([name]).forEach((queue) => queue.notice()));
    for (const queue of this.all()) queue.start();
    this.started = true;
    this.timer = setInterval(() => this.followCells(), CELLS_MS);
    this.timer.unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.all().map((queue) => queue.stop()));
  }

  /** Delivers everything that is due, for tests and shutdown. @returns the number of handled events */
  async drain(): Promise<number> {
    let total = 0;
    // Handlers append events of other queues.
    for (let handled = 1; handled > 0; total += handled) {
      handled = 0;
      for (const queue of this.all()) handled += await queue.drain();
    }
    return total;
  }

  /** The deliveries of these queues in all cells. */
  private all(names: readonly WorkQueue[] = WORK_QUEUES): OutboxDelivery[] {
    this.followCells();
    return names.flatMap((name) =>
      [...this.cells.values()].map((queues) => queues.get(name) as OutboxDelivery),
    );
  }

  private followCells(): void {
    const { cells } = this.db;
    for (const cell of cells) if (!this.cells.has(cell)) this.cells.set(cell, this.queuesOf(cell));
    for (const [cell, queues] of this.cells)
      if (!cells.includes(cell)) {
        this.cells.delete(cell);
        for (const queue of queues.values()) void queue.stop();
      }
  }

  private queuesOf(cell: string): Queues {
    const queue = (name: WorkQueue): [WorkQueue, OutboxDelivery] => {
      const delivery = new OutboxDelivery(this.db, this.outbox, name, cell);
      if (this.started) delivery.start();
      return [name, delivery];
    };
    return new Map(WORK_QUEUES.map(queue));
  }
}
