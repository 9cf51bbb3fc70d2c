import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { directory } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { GuessLocks } from '../../../platform/rate-limits/guess-locks.js';
import { SecretBox } from '../../../platform/secrets/secret-box.js';
import { SessionsApi } from '../../identity/index.js';
import { SECOND_FACTOR } from '../model/guess-limits.js';
import { type SecurityActor, SecurityLog, SignInLog } from '../security-log.js';
import { plainRecoveryCode, totpStep } from './codes.js';
import type { SecondFactor, RecoveryCode } from '../account-security.schema.js';

export interface FactorRow {
  state: 'pending' | 'active';
  /** Sealed. */
  secret: string;
}

// Expired pending factors are not returned.
const read = directory.statement<FactorRow>(
  'second_factors.read',
  `SELECT state, secret FROM second_factors
    WHERE account_id = $1 AND (state = 'active' OR expires_at > now())`,
);

/** Factors of an account that can be proven. */
export interface FactorMethods {
  /** An authenticator application. */
  totp: boolean;
  passkey: boolean;
  /** Recovery codes, used or not, exist together with any of the others. */
  recovery: boolean;
}

const methods = directory.statement<FactorMethods>(
  'second_factors.methods',
  `SELECT EXISTS (SELECT FROM second_factors WHERE account_id = $1 AND state = 'active') AS totp,
          EXISTS (SELECT FROM passkeys WHERE account_id = $1) AS passkey,
          EXISTS (SELECT FROM recovery_codes WHERE account_id = $1) AS recovery`,
);

const begin = directory.statement<Pick<SecondFactor, 'account_id'>>(
  'second_factors.begin',
  `INSERT INTO second_factors AS factor (account_id, state, secret, expires_at)
   VALUES ($1, 'pending', $2, now() + make_interval(secs => $3))
   ON CONFLICT (account_id) DO UPDATE
     SET secret = excluded.secret, expires_at = excluded.expires_at, last_step = 0, created_at = now()
   WHERE factor.state = 'pending'
   RETURNING account_id`,
);

const activate = directory.statement<Pick<SecondFactor, 'account_id'>>(
  'second_factors.activate',
  `UPDATE second_factors SET state = 'active', last_step = $3, expires_at = NULL
    WHERE account_id = $1 AND state = 'pending' AND secret = $2 AND expires_at > now() RETURNING account_id`,
);

const takeStep = directory.statement<Pick<SecondFactor, 'account_id'>>(
  'second_factors.take_step',
  `UPDATE second_factors SET last_step = $3
    WHERE account_id = $1 AND state = 'active' AND secret = $2 AND last_step < $3 RETURNING account_id`,
);

const remove = directory.statement<{ account_id: string }>(
  'second_factors.remove',
  `WITH codes AS (DELETE FROM recovery_codes WHERE account_id = $1),
        authenticator AS (DELETE FROM second_factors WHERE account_id = $1 RETURNING account_id),
        keys AS (DELETE FROM passkeys WHERE account_id = $1 RETURNING account_id)
   SELECT account_id FROM authenticator UNION SELECT account_id FROM keys`,
);

const putCodes = directory.statement<never>(
  'second_factors.put_codes',
  `INSERT INTO recovery_codes (account_id, n, hash)
   SELECT $1, n, hash FROM unnest($2::text[]) WITH ORDINALITY AS code (hash, n)
   ON CONFLICT (account_id, n) DO UPDATE SET hash = excluded.hash, used_at = NULL`,
);

const useCode = directory.statement<Pick<RecoveryCode, 'n'>>(
  'second_factors.use_code',
  `UPDATE recovery_codes SET used_at = now() WHERE account_id = $1 AND hash = ANY ($2::text[]) AND used_at IS NULL
   RETURNING n`,
);

const codes = directory.statement<{ unused: number; used: boolean }>(
  'second_factors.codes',
  `SELECT (count(*) FILTER (WHERE used_at IS NULL))::int AS unused,
          coalesce(bool_or(used_at IS NOT NULL AND hash = ANY ($2::text[])), false) AS used
     FROM recovery_codes WHERE account_id = $1`,
);

/** SQL of second factors. */
@Injectable()
export class SecondFactorsRepository {
  constructor(private readonly db: Db) {}

  async read(accountId: string): Promise<FactorRow | null> {
    return (await this.db.query(read, [accountId]))[0] ?? null;
  }

  async methods(reader: Pick<Db, 'query'> | Tx, accountId: string): Promise<FactorMethods> {
    return (await reader.query(methods, [accountId]))[0] as FactorMethods;
  }

  /** @returns false when a factor is active, which stays unchanged */
  async begin(tx: Tx, accountId: string, secret: string, seconds: number): Promise<boolean> {
    return (await tx.query(begin, [accountId, secret, seconds])).length > 0;
  }

  /** @returns false when the pending factor has another secret */
  async activate(tx: Tx, accountId: string, secret: string, step: number): Promise<boolean> {
    return (await tx.query(activate, [accountId, secret, step])).length > 0;
  }

  /** Uses the code of a time step. @returns false when this or a later code was used before */
  async takeStep(tx: Tx, accountId: string, secret: string, step: number): Promise<boolean> {
    return (await tx.query(takeStep, [accountId, secret, step])).length > 0;
  }

  /** Removes authenticator, passkeys and recovery codes. @returns whether the account had a factor */
  async remove(tx: Tx, accountId: string): Promise<boolean> {
    return (await tx.query(remove, [accountId])).length > 0;
  }

  async putCodes(tx: Tx, accountId: string, hashes: string[]): Promise<void> {
    await tx.query(putCodes, [accountId, hashes]);
  }

  /** Uses a recovery code. @param hashes of the code, one per key @returns false unless it is an unused code */
  async useCode(tx: Tx, accountId: string, hashes: string[]): Promise<boolean> {
    return (await tx.query(useCode, [accountId, hashes])).length > 0;
  }

  /** Number of unused codes, and whether the code with these hashes was used. */
  async codes(
    reader: Pick<Db, 'query'> | Tx,
    accountId: string,
    hashes: string[] = [],
  ): Promise<{ unused: number; used: boolean }> {
    return (await reader.query(codes, [accountId, hashes]))[0] as { unused: number; used: boolean };
  }

  async codesLeft(accountId: string): Promise<number> {
    return (await this.codes(this.db, accountId)).unused;
  }
}

/** Proof of the second factor: an authenticator code or a recovery code. */
export interface Proof {
  code?: string;
  recoveryCode?: string;
}

export interface Proven {
  outcome: 'proven';
  method: 'totp' | 'recovery_code';
  /** Set after a recovery code. */
  recoveryCodesLeft?: number;
  /** Clock difference of the authenticator in time steps. */
  skew?: number;
}

type ProofOutcome =
  | Proven
  /** Incorrect or used before. `locked`: the last allowed failure, which ended pending sessions. */
  | { outcome: 'invalid'; locked: boolean }
  /** The proof is not verified. `wait` is in seconds. */
  | { outcome: 'locked'; wait: number }
  /** The account has no second factor, or the proof is a code and the account has no authenticator application. */
  | { outcome: 'not_enabled' };

export const TOTP_SECRET = 'totp secret';
export const RECOVERY_CODE = 'recovery code';

/** The code is correct but was used before. Rolls the transaction back. */
class UsedBefore extends Error {}

/** Verifies codes of second factors: each code once; five failures in a row lock for 15 minutes (docs/adr/0019). */
@Injectable()
export class SecondFactors {
  constructor(
    private readonly repository: SecondFactorsRepository,
    private readonly locks: GuessLocks,
    private readonly box: SecretBox,
    private readonly sessions: SessionsApi,
    private readonly log: SecurityLog,
    private readonly signIns: SignInLog,
    private readonly db: Db,
  ) {}

  /** The factors of the account that can be proven. */
  async methods(accountId: string): Promise<FactorMethods> {
    return this.repository.methods(this.db, accountId);
  }

  /**
   * The last allowed failure ends the sessions that have not proven the factor.
   * @param by the actor, for the audit log
   * @param then runs in the transaction that uses the code
   */
  async verify(
    accountId: string,
    proof: Proof,
    by: Partial<SecurityActor> = {},
    then: (tx: Tx) => Promise<void> = async () => undefined,
  ): Promise<ProofOutcome> {
    const actor = { tenantId: null, ...by, userId: accountId };
    const factor = await this.repository.read(accountId);
    const isOn =
      factor?.state === 'active' || (proof.code === undefined && (await this.methods(accountId)).recovery);
    if (!isOn) return { outcome: 'not_enabled' };
    const guess = await this.locks.begin(SECOND_FACTOR, accountId);
    if (!guess.allowed) return { outcome: 'locked', wait: guess.wait };
    try {
      const proven = await this.db.tx((tx) => this.prove(tx, actor, factor, proof, then));
      if (proven) return proven;
    } catch (error) {
      if (!(error instanceof UsedBefore)) throw error;
      // A correct code is not a guess: a double submit must not lock the account.
      await this.db.single((tx) => this.locks.giveBack(tx, SECOND_FACTOR, accountId));
      return { outcome: 'invalid', locked: false };
    }
    const lock = guess.last ? 'account' : null;
    await this.signIns.recordFailure({ accountId, factor: 'second_factor', ip: actor.ip ?? null, lock });
    if (guess.last) await this.handleLock(actor);
    return { outcome: 'invalid', locked: guess.last };
  }

  private async prove(
    tx: Tx,
    actor: SecurityActor,
    factor: FactorRow | null,
    { code, recoveryCode }: Proof,
    then: (tx: Tx) => Promise<void>,
  ): Promise<Proven | null> {
    const accountId = actor.userId;
    const proven =
      code === undefined || factor === null
        ? await this.useRecoveryCode(tx, accountId, recoveryCode ?? '')
        : await this.useCode(tx, accountId, factor, code);
    if (!proven) return null;
    await this.locks.forget(tx, SECOND_FACTOR, accountId);
    await this.logProof(tx, actor, proven);
    await then(tx);
    return proven;
  }

  private async logProof(tx: Tx, actor: SecurityActor, proven: Proven): Promise<void> {
    if (proven.method === 'recovery_code')
      await this.log.record(tx, actor, 'security.recovery_code_used', {
        codes_left: proven.recoveryCodesLeft,
      });
    else
      await this.log.recordOnly(tx, actor, 'security.second_factor_verified', {
        clock_skew_steps: proven.skew,
      });
  }

  private async handleLock(actor: SecurityActor): Promise<void> {
    await this.db.tx(async (tx) => {
      await this.sessions.endPending(tx, actor.userId);
      await this.log.record(tx, actor, 'security.second_factor_locked');
    });
  }

  /** Compare-and-set on the time step: exactly one of concurrent requests with the same code succeeds. */
  private async useCode(tx: Tx, accountId: string, factor: FactorRow, code: string): Promise<Proven | null> {
    const secret = this.box.open(TOTP_SECRET, accountId, factor.secret);
    const found = totpStep(secret, code, Date.now());
    if (!found) return null;
    if (!(await this.repository.takeStep(tx, accountId, factor.secret, found.step))) throw new UsedBefore();
    return { outcome: 'proven', method: 'totp', skew: found.skew };
  }

  private async useRecoveryCode(tx: Tx, accountId: string, typed: string): Promise<Proven | null> {
    const plain = plainRecoveryCode(typed);
    if (plain === null) return null;
    const hashes = this.box.hashes(RECOVERY_CODE, accountId, plain);
    const taken = await this.repository.useCode(tx, accountId, hashes);
    const { unused, used } = await this.repository.codes(tx, accountId, hashes);
    if (taken) return { outcome: 'proven', method: 'recovery_code', recoveryCodesLeft: unused };
    if (used) throw new UsedBefore();
    return null;
  }
}
