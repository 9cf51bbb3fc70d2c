import { secondsAfter } from './guest-rules.js';

/** Wrong codes until the next one has to wait for another mail. */
export const CODE_ATTEMPTS = 5;
/** Lifetime of a code, and of the lock after too many wrong ones. */
export const CODE_SECONDS = 600;

/** A limit of requests in a sliding window. */
export interface WindowLimit {
  scope: string;
  subject: Buffer;
  max: number;
  seconds: number;
}

/**
 * Counts one request against each limit. If one limit rejects it, no limit counts it.
 * @param counted times of the requests of each limit
 * @returns the times to store, and the seconds until a retry; 0: counted
 */
export function countRequest(
  limits: readonly WindowLimit[],
  counted: readonly (readonly Date[])[],
  now: Date,
): { wait: number; times: Date[][] } {
  const recent = limits.map(({ seconds }, n) =>
    (counted[n] ?? []).filter((time) => secondsAfter(time, seconds) > now),
  );
  const waits = limits.map(({ max, seconds }, n) => {
    const times = recent[n]!;
    if (times.length < max) return 0;
    const oldest = times[times.length - max];
    return oldest ? (secondsAfter(oldest, seconds).getTime() - now.getTime()) / 1_000 : seconds;
  });
  const wait = Math.max(0, ...waits);
  return { wait, times: recent.map((times) => (wait > 0 ? times : [...times, now])) };
}
