import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Db } from '../database/db.js';
import { workspace } from '../database/statement.js';
import { Lifecycle } from '../observability/lifecycle.js';

const POLL_MS = 300;
/** Limit of waiting requests, for memory; further requests get their response at once. */
const MAX_WAITING = 10_000;

interface Waiter {
  tenantId: string;
  userId: string;
  head: number;
  wake: (changed: boolean) => void;
}

const heads = workspace.statement<{ tenant_id: string; user_id: string; head: number }>(
  'sync.heads',
  `SELECT current.tenant_id, current.user_id, current.head::float8 AS head
     FROM unnest($1::uuid[], $2::uuid[]) AS waiting (tenant_id, user_id)
     JOIN sync_heads current ON current.tenant_id = waiting.tenant_id AND current.user_id = waiting.user_id`,
  { pipelined: true },
);

/**
 * Lets requests wait for a change of a user's counter without a database connection: one query every 300 ms reads the
 * counters of all waiting requests of this process. Without waiting requests there is no query.
 */
@Injectable()
export class HeadWatch implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(HeadWatch.name);
  private readonly waiters = new Set<Waiter>();
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly db: Db,
    private readonly lifecycle: Lifecycle,
  ) {}

  onModuleInit(): void {
    this.lifecycle.onDraining(() => this.close());
  }

  onModuleDestroy(): void {
    this.close();
  }

  /** Number of waiting requests in this process. */
  get waiting(): number {
    return this.waiters.size;
  }

  /**
   * Waits until the counter is above `head`, at most `ms`.
   * @returns false on a timeout, an abort, a draining process or too many waiting requests
   */
  async wait(
    owner: { tenantId: string; userId: string },
    head: number,
    ms: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (this.closed || signal.aborted || this.waiters.size >= MAX_WAITING) return false;
    return new Promise((resolve) => {
      const done = (changed: boolean) => {
        clearTimeout(timeout);
        signal.removeEventListener('abort', end);
        this.waiters.delete(waiter);
        resolve(changed);
      };
      const end = () => done(false);
      const waiter: Waiter = { tenantId: owner.tenantId, userId: owner.userId, head, wake: done };
      const timeout = setTimeout(end, ms);
      signal.addEventListener('abort', end);
      this.waiters.add(waiter);
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.timer || this.closed || this.waiters.size === 0) return;
    this.timer = setTimeout(() => {
      void this.poll().finally(() => {
        this.timer = undefined;
        this.schedule();
      });
    }, POLL_MS);
    this.timer.unref();
  }

  private async poll(): Promise<void> {
    const byOwner = Map.groupBy(this.waiters, (waiter) => `${waiter.tenantId} ${waiter.userId}`);
    const owners = [...byOwner.values()].map(([first]) => first as Waiter);
    try {
      const rows = await this.db.query(heads, [owners.map((o) => o.tenantId), owners.map((o) => o.userId)]);
      for (const row of rows) {
        for (const waiter of byOwner.get(`${row.tenant_id} ${row.user_id}`) ?? [])
          if (row.head > waiter.head) waiter.wake(true);
      }
    } catch (error) {
      this.logger.warn({ err: error }, 'feed counters not read; waiting requests keep waiting');
    }
  }

  private close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    for (const waiter of this.waiters) waiter.wake(false);
  }
}
