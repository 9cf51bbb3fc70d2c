import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { GuessLocks } from '../../../platform/rate-limits/guess-locks.js';
import { SecretBox } from '../../../platform/secrets/secret-box.js';
import { SessionsApi } from '../../identity/index.js';
import { SECOND_FACTOR } from '../model/guess-limits.js';
import { plainRecoveryCode } from './recovery-codes.js';
import { type FactorMethods, type FactorRow, SecondFactorsRepository } from './second-factors.repository.js';
import { SignInLog } from '../sign-in-log.js';
import { type SecurityActor, SecurityLog } from '../security-log.js';
import { totpStep } from './totp.js';

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
  /** Not verified. `wait` in seconds. */
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
    await this.signIns.failed({ accountId, factor: 'second_factor', ip: actor.ip ?? null, lock });
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
