import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Db } from '../database/db.js';
import { OutboxDelivery } from './outbox-delivery.js';
import { Outbox } from './outbox.js';

/** Delivers the outbox. Any number of processes may run it: rows are claimed with SKIP LOCKED for a limited time. */
@Injectable()
export class OutboxWorker implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly lanes: { local: OutboxDelivery; remote: OutboxDelivery };

  constructor(
    db: Db,
    private readonly outbox: Outbox,
  ) {
    this.lanes = {
      local: new OutboxDelivery(db, outbox, 'local'),
      remote: new OutboxDelivery(db, outbox, 'remote'),
    };
  }

  /** Duration of a claim; tests shorten it. */
  get leaseSeconds(): number {
    return this.lanes.local.leaseSeconds;
  }

  set leaseSeconds(seconds: number) {
    this.lanes.local.leaseSeconds = seconds;
    this.lanes.remote.leaseSeconds = seconds;
  }

  onApplicationBootstrap(): void {
    this.outbox.onNotice((lane) => this.lanes[lane].notice());
    this.lanes.local.start();
    this.lanes.remote.start();
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([this.lanes.local.stop(), this.lanes.remote.stop()]);
  }

  /** Delivers everything that is due, for tests and shutdown. @returns the number of handled events */
  async drain(): Promise<number> {
    // Local handlers append events of the other lane.
    const local = await this.lanes.local.drain();
    return local + (await this.lanes.remote.drain());
  }
}
