import { LRUCache } from 'lru-cache';
import { growingTo } from '../../platform/memory/cache-size.js';

const WINDOW_MS = 120_000;
const ALLOWED = 12;

/** Blocks logins after 12 failures in two minutes, counted by account and client address. */
export class FailedLogins {
  private readonly counts = new LRUCache<string, { failures: number }>({
    ...growingTo(10_000),
    ttl: WINDOW_MS,
  });

  blocked(key: string): boolean {
    return (this.counts.get(key)?.failures ?? 0) >= ALLOWED;
  }

  add(key: string): void {
    const entry = this.counts.get(key);
    // The window starts at the first failure; later ones do not extend it.
    if (entry) entry.failures += 1;
    else this.counts.set(key, { failures: 1 });
  }

  clear(key: string): void {
    this.counts.delete(key);
  }
}
