import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { WorkOwner } from '../current-work/current-work.js';
import { growingTo } from '../memory/cache-size.js';
import { ConcurrencyLimiter } from './concurrency-limiter.js';
import { sampleThread, type ThreadSample } from './thread-sample.js';

/** Milliseconds between two samples. */
const EVERY_MS = 50;
/** Time constant of the averages, milliseconds. */
const AVERAGE_MS = 1_000;
/** A request of another user within this time means that the thread is shared, milliseconds. */
const SHARED_MS = 2_000;
/** Places for requests that wait for their turn, of which a user has 0.4, and the time that they wait. */
const QUEUE = 250;
const MAX_WAIT_MS = 10_000;
/** Batches of a user that run at the same time, because each may have 16 MiB of responses in memory. */
const BATCHES = 2;
/** Maximum number of users whose averages are kept. */
const MAX_USERS = 10_000;

/** The requests of a user in this process, and the processor time of this thread that they used. */
export class ProcessorShare {
  private limiter: ConcurrencyLimiter | undefined;
  private ofBatches: ConcurrencyLimiter | undefined;
  /** Open requests, without those that wait for a change. */
  private open = 0;
  /** Sum of the times of the open requests since the last sample, milliseconds. */
  private openMs = 0;
  private changedAt = 0;
  /** Average part of the time of this thread at `averagedAt`. */
  private average = 0;
  private averagedAt = 0;

  get isOpen(): boolean {
    return this.open > 0;
  }

  /** One request at a time. */
  get turns(): ConcurrencyLimiter {
    return (this.limiter ??= new ConcurrencyLimiter(1, QUEUE, MAX_WAIT_MS));
  }

  /** A limiter gives half of its places to one user. */
  get batches(): ConcurrencyLimiter {
    return (this.ofBatches ??= new ConcurrencyLimiter(2 * BATCHES, QUEUE, MAX_WAIT_MS));
  }

  get hasWaiting(): boolean {
    return this.limiter !== undefined && this.limiter.pending > 0;
  }

  /** @param by requests that begin (1), or end or wait (-1) */
  count(by: 1 | -1, now = performance.now()): void {
    this.openMs += this.open * (now - this.changedAt);
    this.changedAt = now;
    this.open += by;
  }

  /** @returns the sum of the times of the open requests since the last call, milliseconds */
  takeOpenMs(now: number): number {
    const sum = this.openMs + this.open * (now - this.changedAt);
    this.openMs = 0;
    this.changedAt = now;
    return sum;
  }

  charge(ms: number, now: number): void {
    this.average = this.partAt(now) + ms / AVERAGE_MS;
    this.averagedAt = now;
  }

  partAt(now: number): number {
    return this.average * Math.exp((this.averagedAt - now) / AVERAGE_MS);
  }
}

/**
 * Divides the processor time of this thread among the users of the open requests, in proportion to the time that these are open. JavaScript
 * does not tell which of them computed, but a user who sends many expensive requests at the same time has most of this time.
 */
@Injectable()
export class ProcessorShares implements OnModuleDestroy {
  /** All requests without a caller. Their time is counted, so that it is not charged to the users of the other open requests. */
  readonly visitors = new ProcessorShare();
  /** `heavy`: part of the time of this thread from which on the requests of a user take turns. */
  readonly limits = { heavy: 0.25 };
  private readonly byUser = new LRUCache<string, ProcessorShare>(growingTo(MAX_USERS));
  /** The shares with requests since the last sample. */
  private active = new Set<ProcessorShare>();
  /** The user of the last request, its time, and the time of the last request of another user. */
  private latest: ProcessorShare | undefined;
  private latestAt = Number.NEGATIVE_INFINITY;
  private otherAt = Number.NEGATIVE_INFINITY;
  private last: ThreadSample | undefined;
  private timer: NodeJS.Timeout | undefined;

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** The share of a user whose request arrives. */
  arrive({ workspace, user }: WorkOwner, now = performance.now()): ProcessorShare {
    const key = `${workspace} ${user}`;
    let share = this.byUser.get(key);
    if (!share) this.byUser.set(key, (share = new ProcessorShare()));
    if (share !== this.latest) {
      this.otherAt = this.latestAt;
      this.latest = share;
    }
    this.latestAt = now;
    return share;
  }

  /** Whether a request of the user waits for the end of another one: the user has much of a thread that others use, too. */
  mustWait(share: ProcessorShare, now = performance.now()): boolean {
    if (share.hasWaiting) return true;
    const othersAt = share === this.latest ? this.otherAt : this.latestAt;
    return now - othersAt < SHARED_MS && share.partAt(now) > this.limits.heavy;
  }

  /** Counts a request of the user as open, until `share.count(-1)`. */
  begin(share: ProcessorShare, now = performance.now()): void {
    this.timer ??= setInterval(() => this.sample(), EVERY_MS).unref();
    this.active.add(share);
    share.count(1, now);
  }

  /** Charges the users of the requests since the last sample. */
  sample(sample: ThreadSample = sampleThread()): void {
    const { last, active } = this;
    this.last = sample;
    if (active.size === 0) return;
    const times = [...active].map((share) => [share, share.takeOpenMs(sample.at)] as const);
    const sum = times.reduce((total, [, ms]) => total + ms, 0);
    const used = last ? sample.computed - last.computed : 0;
    for (const [share, ms] of times) if (sum > 0) share.charge((used * ms) / sum, sample.at);
    this.active = new Set(times.filter(([share]) => share.isOpen).map(([share]) => share));
  }
}
