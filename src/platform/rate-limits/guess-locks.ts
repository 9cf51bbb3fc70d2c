import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../database/db.js';
import { directory } from '../database/statement.js';
import type { Tx } from '../database/tx.js';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { deletion, type Sweep } from '../jobs/sweep.js';
import { Keyring } from '../secrets/keyring.js';

/** A guessable secret, and the limit of consecutive failures. */
export interface GuessLimit {
  /** Unique name. */
  readonly purpose: string;
  /** Guesses until the lock. */
  readonly allowed: number;
  /** Seconds of a lock; older failures do not count. */
  readonly lockSeconds: number;
}

type Guess =
  /** Allowed, and counted as a failure until `forget`. `last`: another failure locks. */
  { allowed: true; last: boolean } | { allowed: false; /** Seconds. */ wait: number };

const SUBJECT_BYTES = 16;

const begin = directory.statement<{ failures: number; wait: number }>(
  'guess_locks.begin',
  `SELECT failures, wait FROM guess_begin($1, $2, $3, $4)`,
);

const forget = directory.statement<never>(
  'guess_locks.forget',
  `DELETE FROM guess_locks WHERE purpose = $1 AND subject = $2`,
);

const giveBack = directory.statement<never>(
  'guess_locks.give_back',
  `UPDATE guess_locks SET failures = greatest(0, failures - 1), locked_until = NULL WHERE purpose = $1 AND subject = $2`,
);

const forgetOld: Sweep = directory.statement(
  'guess_locks.forget_old',
  deletion('guess_locks', `last_at < now() - interval '1 day' AND coalesce(locked_until < now(), true)`),
);

/** Locks a secret after failed guesses, across sessions, processes and restarts (docs/adr/0019). */
@Injectable()
export class GuessLocks implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly keyring: Keyring,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'guess-locks.forget',
      everySeconds: 3600,
      deletes: forgetOld,
    });
  }

  /** Counts a guess, and commits before the comparison of the secret. */
  async begin(limit: GuessLimit, subject: string): Promise<Guess> {
    const values = [limit.purpose, this.keyOf(limit, subject), limit.allowed, limit.lockSeconds];
    const [row] = await this.db.single((tx) => tx.query(begin, values));
    const { failures, wait } = row as { failures: number; wait: number };
    return wait > 0 ? { allowed: false, wait } : { allowed: true, last: failures >= limit.allowed };
  }

  /** Resets the count after a correct guess. */
  async forget(tx: Tx, limit: GuessLimit, subject: string): Promise<void> {
    await tx.query(forget, [limit.purpose, this.keyOf(limit, subject)]);
  }

  /** Takes back a counted guess, such as a repeated correct code, or a code that could not be verified. */
  async giveBack(tx: Tx, limit: GuessLimit, subject: string): Promise<void> {
    await tx.query(giveBack, [limit.purpose, this.keyOf(limit, subject)]);
  }

  private keyOf({ purpose }: GuessLimit, subject: string): Buffer {
    return this.keyring.sign('guess-lock', `${purpose} ${subject}`, SUBJECT_BYTES);
  }
}
