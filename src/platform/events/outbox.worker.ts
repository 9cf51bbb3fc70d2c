import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Db } from '../database/db.js';
import { OutboxDelivery } from './outbox-delivery.js';
import { Outbox, type OutboxQueue } from './outbox.js';

/** How often a process looks for cells that were added or removed. */
const CELLS_MS = 5_000;

type Queues = Record<OutboxQueue, OutboxDelivery>;

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
    // A commit does not report its cell: the other cells have nothing to claim.
    this.outbox.onNotice((name) => this.all(name).forEach((queue) => queue.notice()));
    for (const queue of [...this.all('local'), ...this.all('remote')]) queue.start();
    this.started = true;
    this.timer = setInterval(() => this.followCells(), CELLS_MS);
    this.timer.unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all([...this.all('local'), ...this.all('remote')].map((queue) => queue.stop()));
  }

  /** Delivers everything that is due, for tests and shutdown. @returns the number of handled events */
  async drain(): Promise<number> {
    let handled = 0;
    // Local handlers append events of the other queue.
    for (const name of ['local', 'remote'] as const)
      for (const queue of this.all(name)) handled += await queue.drain();
    return handled;
  }

  /** The deliveries of a queue in all cells. */
  private all(queue: OutboxQueue): OutboxDelivery[] {
    this.followCells();
    return [...this.cells.values()].map((queues) => queues[queue]);
  }

  private followCells(): void {
    const { cells } = this.db;
    for (const cell of cells) if (!this.cells.has(cell)) this.cells.set(cell, this.queuesOf(cell));
    for (const [cell, { local, remote }] of this.cells)
      if (!cells.includes(cell)) {
        this.cells.delete(cell);
        void local.stop();
        void remote.stop();
      }
  }

  private queuesOf(cell: string): Queues {
    const queue = (name: OutboxQueue) => {
      const delivery = new OutboxDelivery(this.db, this.outbox, name, cell);
      if (this.started) delivery.start();
      return delivery;
    };
    return { local: queue('local'), remote: queue('remote') };
  }
}
