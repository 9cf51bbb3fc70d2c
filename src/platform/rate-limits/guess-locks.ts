import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../database/db.js';
import { directory } from '../database/statement.js';
import type { Tx } from '../database/tx.js';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { Keyring } from '../secrets/keyring.js';

/** A secret that can be guessed, and the number of wrong guesses in a row that lock it. */
export interface Guessable {
  /** Unique name. */
  readonly purpose: string;
  /** Guesses until it locks. */
  readonly allowed: number;
  /** Duration of the lock, seconds. Older failures do not count. */
  readonly lockSeconds: number;
}

type Guess =
  /** The guess may be compared. It counts as a failure until `forget`. `last`: a wrong guess locks the subject. */
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

const forgetOld = directory.statement<never>(
  'guess_locks.forget_old',
  `DELETE FROM guess_locks WHERE last_at < now() - interval '1 day' AND coalesce(locked_until < now(), true)`,
);

/** Locks the subject of repeated wrong guesses, over all sessions, processes and restarts (docs/adr/0019). */
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
      run: async () => void (await this.db.single((tx) => tx.query(forgetOld, []))),
    });
  }

  /** Counts a guess before it is compared. The count is committed first. */
  async begin(what: Guessable, subject: string): Promise<Guess> {
    const values = [what.purpose, this.keyOf(what, subject), what.allowed, what.lockSeconds];
    const [row] = await this.db.single((tx) => tx.query(begin, values));
    const { failures, wait } = row as { failures: number; wait: number };
    return wait > 0 ? { allowed: false, wait } : { allowed: true, last: failures >= what.allowed };
  }

  /** Call it after a right guess. Removes the earlier failures. */
  async forget(tx: Tx, what: Guessable, subject: string): Promise<void> {
    await tx.query(forget, [what.purpose, this.keyOf(what, subject)]);
  }

  /** Call it when the input was not a guess, such as a valid code that is sent twice. Removes the count. */
  async giveBack(tx: Tx, what: Guessable, subject: string): Promise<void> {
    await tx.query(giveBack, [what.purpose, this.keyOf(what, subject)]);
  }

  private keyOf({ purpose }: Guessable, subject: string): Buffer {
    return this.keyring.sign('guess-lock', `${purpose} ${subject}`, SUBJECT_BYTES);
  }
}
