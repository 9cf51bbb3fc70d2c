import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type AccessChange, AccessChanges, concerns } from '../context/access-changes.js';
import type { RequestContext } from '../context/request-context.js';
import { growingTo } from '../memory/cache-size.js';
import { Db } from '../database/db.js';
import { type Statement, workspace } from '../database/statement.js';
import { Lifecycle } from '../observability/lifecycle.js';
import { Bus } from '../bus/bus.js';
import { HeadChanges } from './head-changes.js';

/** Interval of the checks whether a query is due. */
const CHECK_MS = 300;
/** Interval of the queries while the bus is connected, because a process may end between a commit and its report. */
const SAFETY_MS = 5_000;
/** Reports are kept for this time, for requests that have read their counter and do not wait yet. */
const RECENT_MS = 10_000;
const MAX_RECENT = 50_000;
/** Limit of waiting requests, for memory; further requests get their response at once. */
const MAX_WAITING = 10_000;

/** The user of a counter and the session that waits; or an object with its id as `userId`. */
type CounterOwner = Pick<RequestContext, 'tenantId' | 'userId' | 'sessionId'>;

interface Waiter extends CounterOwner {
  head: number;
  wake: (changed: boolean) => void;
}

interface HeadRow {
  tenant_id: string;
  id: string;
  head: number;
}

/**
 * Lets requests wait for a change of a user's counter without a database connection. The bus reports changes. One query reads
 * the counters of all waiting requests of this process: every 5 s, and every 300 ms while the bus is disconnected. Without
 * waiting requests there is no query.
 */
@Injectable()
export class HeadWatch implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(HeadWatch.name);
  private readonly waiters = new Set<Waiter>();
  private readonly byOwner = new Map<string, Set<Waiter>>();
  private readonly counters = ['SELECT tenant_id, user_id AS id, head FROM sync_heads'];
  private heads: Statement<HeadRow> | undefined;
  private readonly recent = new LRUCache<string, number>({ ...growingTo(MAX_RECENT), ttl: RECENT_MS });
  private polledAt = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly db: Db,
    private readonly lifecycle: Lifecycle,
    private readonly bus: Bus,
    private readonly changes: HeadChanges,
    private readonly access: AccessChanges,
  ) {}

  onModuleInit(): void {
    this.changes.onChange((tenantId, userId, head) => this.grown(`${tenantId} ${userId}`, head));
    this.bus.onLoss(() => (this.polledAt = Number.NEGATIVE_INFINITY));
    this.access.onChange((change) => this.accessChanged(change));
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
   * Adds counters of objects. Requests wait for them by the id of the object in place of the id of a user.
   * @param counters SQL of the columns tenant_id, id and head, of a table with the primary key (tenant_id, id)
   */
  addCounters(counters: string): void {
    this.counters.push(counters);
  }

  /**
   * Waits until the counter is above `head`, at most `ms`.
   * @returns false on a timeout, an abort, a change of the user's access, a draining process or too many waiting requests
   */
  async wait(
    { tenantId, userId, sessionId }: CounterOwner,
    head: number,
    ms: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (this.closed || signal.aborted || this.waiters.size >= MAX_WAITING) return false;
    const key = `${tenantId} ${userId}`;
    // Each report is used once: after a rollback, the counter never reaches the reported head.
    if ((this.recent.get(key) ?? 0) > head) return this.recent.delete(key);
    void this.bus.listen();
    return new Promise((resolve) => {
      const done = (changed: boolean) => {
        clearTimeout(timeout);
        signal.removeEventListener('abort', end);
        this.remove(key, waiter);
        resolve(changed);
      };
      const end = () => done(false);
      const waiter: Waiter = { tenantId, userId, sessionId, head, wake: done };
      const timeout = setTimeout(end, ms);
      signal.addEventListener('abort', end);
      this.waiters.add(waiter);
      this.byOwner.set(key, (this.byOwner.get(key) ?? new Set()).add(waiter));
      this.schedule();
    });
  }

  private remove(key: string, waiter: Waiter): void {
    this.waiters.delete(waiter);
    const own = this.byOwner.get(key);
    own?.delete(waiter);
    if (own?.size === 0) this.byOwner.delete(key);
  }

  private grown(key: string, head: number): void {
    this.recent.set(key, head);
    for (const waiter of this.byOwner.get(key) ?? []) if (head > waiter.head) waiter.wake(true);
  }

  /** Ends the waits of a caller whose access has changed, so that no later change is delivered without a new check. */
  private accessChanged(change: AccessChange): void {
    for (const waiter of this.waiters) if (concerns(change, waiter)) waiter.wake(false);
  }

  private schedule(): void {
    if (this.timer || this.closed || this.waiters.size === 0) return;
    this.timer = setTimeout(() => {
      const work = this.isPollDue() ? this.poll() : Promise.resolve();
      void work.finally(() => {
        this.timer = undefined;
        this.schedule();
      });
    }, CHECK_MS);
    this.timer.unref();
  }

  /** True while the bus is disconnected, once after it has connected, and every {@link SAFETY_MS}. */
  private isPollDue(): boolean {
    const since = this.bus.listeningSince;
    return since === undefined || this.polledAt < since || performance.now() - this.polledAt >= SAFETY_MS;
  }

  private async poll(): Promise<void> {
    const started = performance.now();
    const owners = [...this.byOwner.values()].flatMap(([first]) => (first ? [first] : []));
    try {
      const heads = (this.heads ??= headsOf(this.counters));
      const rows = await this.db.byCell(
        owners,
        ({ tenantId }) => tenantId,
        (some) =>
          this.db.query(heads, [some.map(({ tenantId }) => tenantId), some.map(({ userId }) => userId)]),
      );
      for (const row of rows) this.grown(`${row.tenant_id} ${row.id}`, row.head);
      this.polledAt = started;
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

const headsOf = (counters: readonly string[]): Statement<HeadRow> =>
  workspace.statement<HeadRow>(
    'sync.heads',
    `SELECT current.tenant_id, current.id, current.head::float8 AS head
       FROM unnest($1::uuid[], $2::uuid[]) AS waiting (tenant_id, id)
       JOIN (${counters.join(' UNION ALL ')}) current
         ON current.tenant_id = waiting.tenant_id AND current.id = waiting.id`,
    { pipelined: true, reach: 'cell' },
  );
