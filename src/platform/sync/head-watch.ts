import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Bus } from '../bus/bus.js';
import { CommitNotices } from '../bus/commit-notices.js';
import { currentWork } from '../current-work/current-work.js';
import { type AccessChange, AccessChanges, concerns } from '../context/access-changes.js';
import type { RequestContext } from '../context/request-context.js';
import { Db } from '../database/db.js';
import { type Statement, workspace } from '../database/statement.js';
import { growingTo } from '../memory/cache-size.js';
import { Lifecycle } from '../observability/lifecycle.js';

const TOPIC = 'sync.heads';
/** Milliseconds in which changes are collected, so that one statement of the bus sends them. */
const COLLECT_MS = 20;
/** Counters in one message of the bus. */
const MAX_HEADS = 80;

type Listener = (tenantId: string, userId: string, head: number) => void;

interface HeadsMessage {
  tenant: string;
  /** Pairs of a user and the new head. */
  heads: [string, number][];
}

/** Reports counters of change feeds that have grown in any process, within about 30 ms. The bus may lose reports. */
@Injectable()
export class HeadChanges implements OnModuleInit, OnModuleDestroy {
  /** New heads by workspace and user. */
  private collected = new Map<string, Map<string, number>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly bus: Bus,
    private readonly notices: CommitNotices,
  ) {}

  onModuleInit(): void {
    this.notices.on(TOPIC, (detail) => {
      const [tenant = '', user = '', head = ''] = detail.split(' ');
      this.report(tenant, user, Number(head));
    });
  }

  onModuleDestroy(): void {
    this.send();
  }

  onChange(listener: Listener): void {
    this.bus.subscribe(TOPIC, (message) => {
      const { tenant, heads } = message as unknown as HeadsMessage;
      for (const [user, head] of heads) listener(tenant, user, head);
    });
  }

  /** Reports a counter that a committed write has returned, in place of a notice. */
  report(tenant: string, user: string, head: number): void {
    const heads = this.collected.get(tenant) ?? new Map<string, number>();
    heads.set(user, Math.max(heads.get(user) ?? 0, head));
    this.collected.set(tenant, heads);
    this.timer ??= setTimeout(() => this.send(), COLLECT_MS).unref();
  }

  private send(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { collected } = this;
    this.collected = new Map();
    for (const [tenant, heads] of collected) {
      const all = [...heads];
      for (let at = 0; at < all.length; at += MAX_HEADS)
        this.bus.publish(TOPIC, { tenant, heads: all.slice(at, at + MAX_HEADS) });
    }
  }
}

/** Interval of the checks whether a query is due. */
const CHECK_MS = 300;
/** Interval of the queries while the bus is connected, because a process may end between a commit and its report. */
const SAFETY_MS = 5_000;
/** Reports are kept for this time, for requests that have read their counter and do not wait yet. */
const RECENT_MS = 10_000;
const MAX_RECENT = 50_000;
/** Limit of waiting requests, and of the counters that they follow; further requests get their response at once. */
const MAX_WAITING = 10_000;

type Caller = Pick<RequestContext, 'tenantId' | 'userId' | 'sessionId'>;

interface Waiter extends Caller {
  /** Known heads by the key of their counter. */
  heads: ReadonlyMap<string, number>;
  wake: (changed: boolean) => void;
}

interface ReportedHead {
  head: number;
  /** The signals of the requests that have used it. */
  usedBy: WeakSet<AbortSignal>;
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
  /** The key consists of the workspace and the id of the user or object. */
  private readonly byCounter = new Map<string, Set<Waiter>>();
  private readonly counters = ['SELECT tenant_id, user_id AS id, head FROM sync_heads'];
  private heads: Statement<HeadRow> | undefined;
  private readonly recent = new LRUCache<string, ReportedHead>({ ...growingTo(MAX_RECENT), ttl: RECENT_MS });
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
   * Adds counters of objects. Requests wait for them by the id of the object.
   * @param counters SQL of the columns tenant_id, id and head, of a table with the primary key (tenant_id, id)
   */
  addCounters(counters: string): void {
    this.counters.push(counters);
  }

  /**
   * Waits until one of the counters is above its head, at most `ms`.
   * @param counters ids of users or objects with their known heads
   * @param signal of the request, the same for all its waits
   * @returns false on a timeout, an abort, a change of the user's access, a draining process or too many waiting requests
   */
  async wait(
    { tenantId, userId, sessionId }: Caller,
    counters: readonly (readonly [id: string, head: number])[],
    ms: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (this.closed || signal.aborted || Math.max(this.waiters.size, this.byCounter.size) >= MAX_WAITING)
      return false;
    const heads = new Map(counters.map(([id, head]) => [`${tenantId} ${id}`, head]));
    for (const [key, head] of heads) if (this.useReport(key, head, signal)) return true;
    void this.bus.listen();
    const share = currentWork()?.share;
    share?.count(-1);
    return new Promise((resolve) => {
      const done = (changed: boolean) => {
        share?.count(1);
        clearTimeout(timeout);
        signal.removeEventListener('abort', end);
        this.remove(waiter);
        resolve(changed);
      };
      const end = () => done(false);
      const waiter: Waiter = { tenantId, userId, sessionId, heads, wake: done };
      const timeout = setTimeout(end, ms);
      signal.addEventListener('abort', end);
      this.waiters.add(waiter);
      for (const key of heads.keys())
        this.byCounter.set(key, (this.byCounter.get(key) ?? new Set()).add(waiter));
      this.schedule();
    });
  }

  private remove(waiter: Waiter): void {
    this.waiters.delete(waiter);
    for (const key of waiter.heads.keys()) {
      const own = this.byCounter.get(key);
      own?.delete(waiter);
      if (own?.size === 0) this.byCounter.delete(key);
    }
  }

  private grown(key: string, head: number): void {
    this.recent.set(key, { head, usedBy: new WeakSet() });
    for (const waiter of this.byCounter.get(key) ?? [])
      if (head > (waiter.heads.get(key) ?? head)) waiter.wake(true);
  }

  /** Each request uses a report once: after a rollback, the counter never reaches the reported head. */
  private useReport(key: string, head: number, signal: AbortSignal): boolean {
    const report = this.recent.get(key);
    if (!report || report.head <= head || report.usedBy.has(signal)) return false;
    report.usedBy.add(signal);
    return true;
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
    const counters: readonly (readonly [tenantId: string, id: string])[] = [...this.byCounter.keys()].map(
      (key) => key.split(' ') as [tenantId: string, id: string],
    );
    try {
      const heads = (this.heads ??= headsOf(this.counters));
      const report = async (some: typeof counters): Promise<never[]> => {
        const values = [some.map(([tenantId]) => tenantId), some.map(([, id]) => id)];
        for (const row of await this.db.query(heads, values))
          this.grown(`${row.tenant_id} ${row.id}`, row.head);
        return [];
      };
      await this.db.byCell(counters, ([tenantId]) => tenantId, report);
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
