import { LRUCache } from 'lru-cache';

const WINDOW_MS = 120_000;
const ALLOWED = 12;

/** Counts wrong passwords of an account and the address they come from: after 12 in two minutes it is enough. */
export class FailedLogins {
  private readonly counts = new LRUCache<string, { failures: number }>({ max: 10_000, ttl: WINDOW_MS });

  blocked(key: string): boolean {
    return (this.counts.get(key)?.failures ?? 0) >= ALLOWED;
  }

  add(key: string): void {
    const entry = this.counts.get(key);
    // The window begins with the first failure: later ones do not prolong it.
    if (entry) entry.failures += 1;
    else this.counts.set(key, { failures: 1 });
  }

  clear(key: string): void {
    this.counts.delete(key);
  }
}
