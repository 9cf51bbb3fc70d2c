import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { growingTo } from '../platform/memory/cache-size.js';

const MB = 1024 * 1024;

/** Limits the bytes that all requests and SMTP sessions together hold in memory or in temporary files. */
@Injectable()
export class ByteBudget {
  private left = 512 * MB;

  /** @returns false, without a reservation, when fewer bytes are left */
  take(bytes: number): boolean {
    if (bytes > this.left) return false;
    this.left -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.left += bytes;
  }
}

/** The bytes that one request or SMTP session holds. */
export class ByteReservation {
  private taken = 0;

  constructor(private readonly budget: ByteBudget) {}

  /** @returns false when fewer bytes are left */
  take(bytes: number): boolean {
    if (!this.budget.take(bytes)) return false;
    this.taken += bytes;
    return true;
  }

  /** Returns all bytes. Idempotent. */
  release(): void {
    this.budget.give(this.taken);
    this.taken = 0;
  }
}

/** Limits events per key in a window of time, which begins at the first event. */
export class RateWindow {
  private readonly counts: LRUCache<string, { used: number }>;

  constructor(
    private readonly allowed: number,
    windowMs: number,
  ) {
    this.counts = new LRUCache({ ...growingTo(10_000), ttl: windowMs });
  }

  /** @returns false above the limit */
  take(key: string): boolean {
    const entry = this.counts.get(key);
    if (!entry) this.counts.set(key, { used: 1 });
    else if (entry.used >= this.allowed) return false;
    else entry.used += 1;
    return true;
  }

  /** Whether the limit is reached. */
  isFull(key: string): boolean {
    return (this.counts.get(key)?.used ?? 0) >= this.allowed;
  }

  forget(key: string): void {
    this.counts.delete(key);
  }
}
