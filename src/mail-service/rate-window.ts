import { LRUCache } from 'lru-cache';
import { growingTo } from '../platform/memory/cache-size.js';

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
