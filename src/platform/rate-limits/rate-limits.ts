import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Db } from '../database/db.js';
import { directory } from '../database/statement.js';
import { Errors } from '../http/errors.js';
import type { ApiError } from '../http/api-error.js';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { Keyring } from '../secrets/keyring.js';
import type { Taking } from './rate-limit.js';

const MAX_REMEMBERED = 10_000;
const SUBJECT_BYTES = 16;

const take = directory.statement<{ wait: number }>(
  'rate_limits.take',
  `SELECT rate_limit_take($1::text[], $2::bytea[], $3::float8[], $4::int[]) AS wait`,
);

const forgetPaid = directory.statement<never>(
  'rate_limits.forget_paid',
  `DELETE FROM rate_limits WHERE paid_until < now() - interval '1 minute'`,
);

/**
 * Limits how often something is done, counted over all processes in PostgreSQL (generic cell rate algorithm: an even pace,
 * with a burst). One round trip for any number of limits; none while a refusal given before still holds.
 */
@Injectable()
export class RateLimits implements OnModuleInit {
  /** Refusals, by scope and subject: until when (`performance.now()`). They only ever get longer. */
  private readonly refused = new LRUCache<string, number>({ max: MAX_REMEMBERED });

  constructor(
    private readonly db: Db,
    private readonly keyring: Keyring,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'rate-limits.forget',
      everySeconds: 300,
      run: async () => void (await this.db.single((tx) => tx.query(forgetPaid, []))),
    });
  }

  /** Takes one from each limit. @returns 0, or how many seconds to wait until it is worth asking again */
  async take(...takings: Taking[]): Promise<number> {
    // One order everywhere: two requests that meet on two limits do not wait for each other.
    const sorted = takings
      .map(({ limit, subject }) => ({ limit, key: this.keyOf(limit.scope, subject) }))
      .toSorted((a, b) => (a.limit.scope < b.limit.scope ? -1 : 1));
    const remembered = Math.max(0, ...sorted.map(({ limit, key }) => this.remembered(limit.scope, key)));
    if (remembered > 0 || sorted.length === 0) return remembered;
    const [row] = await this.db.single((tx) =>
      tx.query(take, [
        sorted.map(({ limit }) => limit.scope),
        sorted.map(({ key }) => key),
        sorted.map(({ limit }) => limit.perSeconds / limit.requests),
        sorted.map(({ limit }) => limit.burst ?? limit.requests),
      ]),
    );
    const wait = row?.wait ?? 0;
    // Which of several refused is not told; a single one can be remembered.
    if (wait > 0 && sorted.length === 1) {
      const [{ limit, key }] = sorted as [(typeof sorted)[number]];
      this.refused.set(name(limit.scope, key), performance.now() + wait * 1000);
    }
    return wait;
  }

  /** @throws ApiError 429 `too_many_requests` with `Retry-After` */
  async enforce(...takings: Taking[]): Promise<void> {
    const wait = await this.take(...takings);
    if (wait > 0) throw tooManyRequests(wait);
  }

  private remembered(scope: string, key: Buffer): number {
    const until = this.refused.get(name(scope, key));
    return until === undefined ? 0 : Math.max(0, (until - performance.now()) / 1000);
  }

  private keyOf(scope: string, subject: string): Buffer {
    return this.keyring.sign('rate-limit', `${scope} ${subject}`, SUBJECT_BYTES);
  }
}

const name = (scope: string, key: Buffer): string => `${scope} ${key.toString('base64')}`;

/** @param wait seconds */
export function tooManyRequests(wait: number): ApiError {
  return Errors.tooManyRequests.with({ headers: { 'Retry-After': String(Math.ceil(wait)) } });
}
