import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Db } from '../database/db.js';
import { directory } from '../database/statement.js';
import { type ApiError, Errors } from '../http/errors.js';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { deletion, type Sweep } from '../jobs/sweep.js';
import { growingTo } from '../memory/cache-size.js';
import { Keyring } from '../secrets/keyring.js';

/** Only the stored function `rate_limit_take` reads and writes it. */
@Entity('rate_limits')
@Index('rate_limits_paid', ['paid_until'])
export class RateLimitRow {
  @PrimaryColumn('text') scope!: string;
  @PrimaryColumn('bytea') subject!: Buffer;
  @Column('timestamptz') paid_until!: Date;
}

/** The stored function `guess_begin` counts a guess; statements only reset it. */
@Entity('guess_locks')
@Index('guess_locks_last', ['last_at'])
export class GuessLockRow {
  @PrimaryColumn('text') purpose!: string;
  @PrimaryColumn('bytea') subject!: Buffer;
  @Column('int') failures!: number;
  @Column('timestamptz') last_at!: Date;
  @Column('timestamptz', { nullable: true }) locked_until!: Date | null;
}

/** A maximum rate. */
export interface RateLimit {
  /** Unique name; requests of a scope are counted together. */
  readonly scope: string;
  /** Allowed requests per `perSeconds`. */
  readonly requests: number;
  readonly perSeconds: number;
  /** Allowed burst after an idle time. Default: `requests`. */
  readonly burst?: number;
}

/** A limit and the subject that it counts. */
export interface RateLimitKey {
  readonly limit: RateLimit;
  /** An address, an account id, ... Stored only as HMAC. */
  readonly subject: string;
}

const MAX_REMEMBERED = 10_000;
const SUBJECT_BYTES = 16;

const take = directory.statement<{ wait: number }>(
  'rate_limits.take',
  `SELECT rate_limit_take($1::text[], $2::bytea[], $3::float8[], $4::int[]) AS wait`,
);

const forgetPaid: Sweep = directory.statement(
  'rate_limits.forget_paid',
  deletion('rate_limits', `paid_until < now() - interval '1 minute'`),
);

/**
 * Rate limits, counted in PostgreSQL across processes (generic cell rate algorithm with burst). One round trip for any
 * number of limits; none while a previous rejection is still valid.
 */
@Injectable()
export class RateLimits implements OnModuleInit {
  /** Ends of rejections (`performance.now()`) by scope and subject. They are only extended. */
  private readonly rejections = new LRUCache<string, number>(growingTo(MAX_REMEMBERED));

  constructor(
    private readonly db: Db,
    private readonly keyring: Keyring,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'rate-limits.forget',
      everySeconds: 300,
      deletes: forgetPaid,
    });
  }

  /** Counts one request against each limit. @returns 0, or seconds until a retry */
  async take(...keys: RateLimitKey[]): Promise<number> {
    // A fixed order, so that concurrent requests with the same limits do not deadlock.
    const sorted = keys
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
    // Only for a single limit: with several, it is unknown which one has rejected the request.
    if (wait > 0 && sorted.length === 1) {
      const [{ limit, key }] = sorted as [(typeof sorted)[number]];
      this.rejections.set(name(limit.scope, key), performance.now() + wait * 1000);
    }
    return wait;
  }

  /** @throws ApiError 429 `too_many_requests` with `Retry-After` */
  async enforce(...keys: RateLimitKey[]): Promise<void> {
    const wait = await this.take(...keys);
    if (wait > 0) throw tooManyRequests(wait);
  }

  private remembered(scope: string, key: Buffer): number {
    const until = this.rejections.get(name(scope, key));
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
