import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { AccessChanges } from '../../platform/context/access-changes.js';
import { type AccessChangeRow, IdentityRepository } from './identity.repository.js';

const POLL_MS = 1_000;
/** Cached verifications are unused after this time without a successful poll. With POLL_MS it bounds a revocation to 5 s. */
const FRESH_MS = 3_500;
/** A change becomes visible at its commit, up to one statement timeout after its timestamp: the window is longer. */
const WINDOW_SECONDS = 45;

type Listener = (change: AccessChangeRow) => void;

/**
 * Polls once a second for accounts whose access changed in any process, and notifies listeners, which drop cached
 * verifications. Requests then need no query.
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

  constructor(private readonly repository: IdentityRepository) {
    super();
  }

  async onModuleInit(): Promise<void> {
    await this.poll();
    this.timer = setInterval(() => {
      this.polling ??= this.poll()
        .catch((error: unknown) =>
          this.logger.warn({ err: error }, 'access changes cannot be read; each request is verified'),
        )
        .finally(() => (this.polling = undefined));
    }, POLL_MS);
    this.timer.unref();
  }

  async onModuleDestroy(): Promise<void> {
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
    const rows = await this.repository.recentAccessChanges(WINDOW_SECONDS);
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
}
