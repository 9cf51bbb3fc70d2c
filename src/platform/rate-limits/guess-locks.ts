import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../database/db.js';
import { directory } from '../database/statement.js';
import type { Tx } from '../database/tx.js';
import { PeriodicJobs } from '../jobs/periodic-jobs.js';
import { Keyring } from '../secrets/keyring.js';

/** Something that can be guessed, and how many wrong guesses in a row it stands. */
export interface Guessable {
  /** Unique name. */
  readonly purpose: string;
  /** Guesses until it locks. */
  readonly allowed: number;
  /** Seconds it stays locked; failures older than that are forgiven. */
  readonly lockSeconds: number;
}

export type Guess =
  /** It may be looked at; counted as a failure until `forget`. `last`: it locks unless it is right. */
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

/** Locks what is being guessed, over all sessions, processes and restarts (docs/adr/0019). */
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

  /** Asks leave to look at a guess. It is counted, and committed, before anything is compared. */
  async begin(what: Guessable, subject: string): Promise<Guess> {
    const values = [what.purpose, this.keyOf(what, subject), what.allowed, what.lockSeconds];
    const [row] = await this.db.single((tx) => tx.query(begin, values));
    const { failures, wait } = row as { failures: number; wait: number };
    return wait > 0 ? { allowed: false, wait } : { allowed: true, last: failures >= what.allowed };
  }

  /** The guess was right: what failed before is forgiven. */
  async forget(tx: Tx, what: Guessable, subject: string): Promise<void> {
    await tx.query(forget, [what.purpose, this.keyOf(what, subject)]);
  }

  /** The guess was no guess (a right code sent twice): it is not counted. */
  async giveBack(tx: Tx, what: Guessable, subject: string): Promise<void> {
    await tx.query(giveBack, [what.purpose, this.keyOf(what, subject)]);
  }

  private keyOf({ purpose }: Guessable, subject: string): Buffer {
    return this.keyring.sign('guess-lock', `${purpose} ${subject}`, SUBJECT_BYTES);
  }
}
