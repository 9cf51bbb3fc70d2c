import type { ApiError } from '../../../../platform/http/errors.js';
import { GuestErrors } from '../guests.dto.js';
import type { GuestOtp } from '../guests.schema.js';

/** The rules of codes that prove an address, and of the limits of requests for them. */

export const secondsAfter = (time: Date, seconds: number): Date => new Date(time.getTime() + seconds * 1_000);

/** Wrong codes until the next one has to wait for another mail. */
export const CODE_ATTEMPTS = 5;
/** Lifetime of a code, and of the lock after too many wrong ones. */
export const CODE_SECONDS = 600;

/** The code of an address, and what its attempts change. */
export type CodeRow = Pick<GuestOtp, 'code_hmac' | 'attempts' | 'expires_at' | 'consumed_at'>;

export const retryAfter = (seconds: number) => ({
  headers: { 'Retry-After': String(Math.max(1, Math.ceil(seconds))) },
});

/**
 * Compares a code. The attempt counts before the comparison, also for addresses without a code. A correct code is spent.
 * @param codes hashes of the code by each key
 * @returns the row to store; null: it stays
 */
export function checkCode(
  stored: CodeRow,
  codes: readonly Buffer[],
  now: Date,
): { error: ApiError | null; row: CodeRow | null } {
  const { code_hmac: code, attempts, expires_at, consumed_at } = stored;
  if (expires_at <= now) {
    const row = { code_hmac: null, attempts: 1, expires_at: secondsAfter(now, CODE_SECONDS), consumed_at };
    return { error: rejectCode(1), row };
  }
  if (attempts >= CODE_ATTEMPTS) {
    const seconds = (expires_at.getTime() - now.getTime()) / 1_000;
    return { error: GuestErrors.codeLocked.with(retryAfter(seconds)), row: null };
  }
  const counted = { ...stored, attempts: attempts + 1 };
  return code !== null && codes.some((each) => each.equals(code))
    ? { error: null, row: { ...counted, code_hmac: null, consumed_at: now } }
    : { error: rejectCode(counted.attempts), row: counted };
}

const rejectCode = (attempts: number): ApiError =>
  GuestErrors.codeInvalid.with({ body: { attempts_left: CODE_ATTEMPTS - attempts } });

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
 * @returns the times to store, and the seconds until a retry; 0 means that the request is counted
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
