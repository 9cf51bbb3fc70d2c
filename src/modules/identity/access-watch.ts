import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { type AccessChange, AccessChanges } from '../../platform/context/access-changes.js';
import { Bus } from '../../platform/bus/bus.js';
import { CommitNotices } from '../../platform/bus/commit-notices.js';
import { Db } from '../../platform/database/db.js';
import { directory } from '../../platform/database/statement.js';

const POLL_MS = 1_000;
/** After this time without a successful poll, cached verifications are not used: a revocation takes effect within 5 s. */
const FRESH_MS = 3_500;
/** Longer than the statement timeout: a change becomes visible at its commit, up to that long after its timestamp. */
const WINDOW_SECONDS = 45;

/** Raised by a trigger of access_changes. */
const NOTICE = 'identity.access';
/** Message of the bus: read the changes. */
const CHANGED = 'identity.access_changed';

/** A stored change of access. */
export interface AccessChangeRow extends AccessChange {
  id: string;
}

const recentAccessChanges = directory.statement<AccessChangeRow>(
  'identity.recent_access_changes',
  `SELECT id, account_id, tenant_id, session_id FROM access_changes
    WHERE created_at > now() - make_interval(secs => $1)`,
);

type Listener = (change: AccessChangeRow) => void;

/**
 * Reads accounts whose access changed in any process, and notifies listeners, which drop cached verifications. Requests then
 * need no query. The bus reports a change at once; the poll once a second covers its failures.
 */
@Injectable()
export class AccessWatch extends AccessChanges implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(AccessWatch.name);
  /** Changes of the window by id, with the time when this process first read them. */
  private readonly seen = new Map<string, { change: AccessChangeRow; at: number }>();
  private readonly listeners: Listener[] = [];
  private polledAt = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  private polling: Promise<void> | undefined;
  private pollAgain = false;
  private closed = false;

  constructor(
    private readonly db: Db,
    private readonly bus: Bus,
    private readonly notices: CommitNotices,
  ) {
    super();
  }

  async onModuleInit(): Promise<void> {
    await this.poll();
    this.timer = setInterval(() => {
      if (!this.polling) this.pollNow();
    }, POLL_MS);
    this.timer.unref();
    this.bus.subscribe(CHANGED, () => this.pollNow());
    this.notices.on(NOTICE, () => {
      this.bus.publish(CHANGED, {});
      // A process that listens receives its own message.
      if (this.bus.listeningSince === undefined) this.pollNow();
    });
  }

  async onModuleDestroy(): Promise<void> {
    this.closed = true;
    clearInterval(this.timer);
    await this.polling;
  }

  override onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Whether the last poll is recent enough to use cached verifications. */
  get fresh(): boolean {
    return performance.now() - this.polledAt < FRESH_MS;
  }

  /**
   * Whether a matching change was first read at or after `since` (a `performance.now()` time). A verification that started
   * before then may have read the earlier state.
   */
  changedSince(since: number, matches: (change: AccessChangeRow) => boolean): boolean {
    for (const { change, at } of this.seen.values()) if (at >= since && matches(change)) return true;
    return false;
  }

  /** Reads the changes now. */
  async poll(): Promise<void> {
    const started = performance.now();
    // After an interruption, the changes since the last successful poll count too.
    const missed = Number.isFinite(this.polledAt) ? (started - this.polledAt) / 1_000 : 0;
    const rows = await this.db.queryAlways(recentAccessChanges, [WINDOW_SECONDS + missed]);
    const now = performance.now();
    const current = new Set(rows.map((row) => row.id));
    for (const id of this.seen.keys()) if (!current.has(id)) this.seen.delete(id);
    for (const change of rows) {
      if (this.seen.has(change.id)) continue;
      this.seen.set(change.id, { change, at: now });
      for (const listener of this.listeners) listener(change);
    }
    this.polledAt = started;
  }

  /** Reads the changes. If a poll is running, reads again after it: that poll may have read before the commit. */
  private pollNow(): void {
    if (this.closed) return;
    if (this.polling) {
      this.pollAgain = true;
      return;
    }
    this.polling = this.poll()
      .catch((error: unknown) =>
        this.logger.warn({ err: error }, 'access changes cannot be read; each request is verified'),
      )
      .finally(() => {
        this.polling = undefined;
        if (!this.pollAgain) return;
        this.pollAgain = false;
        this.pollNow();
      });
  }
}
