import { Injectable } from '@nestjs/common';
import type { AccountContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Errors } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { CredentialsApi, SessionsApi } from '../../identity/index.js';
import { SecurityErrors, tooManyAttempts } from '../account-security.errors.js';
import { Confirmation } from '../confirmation.js';
import { SECOND_FACTOR } from '../guessables.js';
import { SecondFactorEnrolment } from './second-factor-enrolment.js';
import { type Proof, type Proven, SecondFactors } from './second-factors.js';
import { SecurityLog } from '../security-log.js';
import type {
  DisableTwoFactor,
  EnableTwoFactor,
  InitiateTwoFactor,
  RenewRecoveryCodes,
  VerifyTwoFactor,
} from './two-factor.dto.js';
import type {
  RecoveryCodes,
  TwoFactorDisabled,
  TwoFactorEnabled,
  TwoFactorInitiated,
  TwoFactorVerified,
} from './two-factor.response.js';

/** Turning the second factor on and off, and proving it in a session. */
@Injectable()
export class TwoFactorService {
  constructor(
    private readonly factors: SecondFactors,
    private readonly enrolment: SecondFactorEnrolment,
    private readonly confirmation: Confirmation,
    private readonly credentials: CredentialsApi,
    private readonly sessions: SessionsApi,
    private readonly log: SecurityLog,
    private readonly db: Db,
  ) {}

  /** Begins: nothing depends on the new secret until it is enabled. An active factor stays untouched. */
  async initiate(ctx: AccountContext, body: Checked<InitiateTwoFactor>): Promise<TwoFactorInitiated> {
    this.confirmation.requireLocal();
    if ((await this.enrolment.state(ctx.userId)) === 'active') throw SecurityErrors.alreadyEnabled.with();
    const account = await this.confirmation.password(ctx, body.value.password);
    const begun = await this.enrolment.begin(account);
    if (!begun) throw SecurityErrors.alreadyEnabled.with();
    return begun;
  }

  /** The first code turns it on; this session has proven it thereby, all others have yet to. */
  async enable(ctx: AccountContext, body: Checked<EnableTwoFactor>): Promise<TwoFactorEnabled> {
    this.confirmation.requireLocal();
    const state = await this.enrolment.state(ctx.userId);
    if (state === 'active') throw SecurityErrors.alreadyEnabled.with();
    if (state === null) throw SecurityErrors.notInitiated.with();
    const result = await this.enrolment.enable(ctx.userId, digits(body.value.code), async (tx) => {
      await this.credentials.setSecondFactor(tx, ctx.userId, true);
      await this.raise(tx, ctx);
      await this.sessions.announce(tx, ctx.userId);
      await this.log.record(tx, ctx, 'security.second_factor_enabled');
    });
    if (result.outcome === 'locked') throw tooManyAttempts(result.wait);
    if (result.outcome === 'gone') throw SecurityErrors.notInitiated.with();
    if (result.outcome === 'wrong') throw SecurityErrors.invalidCode.with();
    await this.sessions.noticeNow();
    return { enabled: true, recovery_codes: result.recoveryCodes };
  }

  /** Raises this session to AAL2, from its next request on and on every process. */
  async verify(ctx: AccountContext, body: Checked<VerifyTwoFactor>): Promise<TwoFactorVerified> {
    this.confirmation.requireLocal();
    if ((await this.enrolment.state(ctx.userId)) !== 'active') throw SecurityErrors.notEnabled.with();
    const { method, recoveryCodesLeft } = await this.prove(ctx, proofOf(body.value));
    return {
      verified: true,
      method,
      ...(recoveryCodesLeft !== undefined && { recovery_codes_left: recoveryCodesLeft }),
    };
  }

  async disable(ctx: AccountContext, body: Checked<DisableTwoFactor>): Promise<TwoFactorDisabled> {
    await this.confirm(ctx, body, async (tx) => {
      await this.remove(tx, ctx.userId);
      await this.log.record(tx, ctx, 'security.second_factor_disabled');
    });
    await this.sessions.noticeNow();
    return { enabled: false };
  }

  /** New recovery codes for those that were used up or seen by others. */
  async renewRecoveryCodes(ctx: AccountContext, body: Checked<RenewRecoveryCodes>): Promise<RecoveryCodes> {
    let codes: string[] = [];
    await this.confirm(ctx, body, async (tx) => {
      codes = await this.enrolment.renewCodes(tx, ctx.userId);
      await this.log.record(tx, ctx, 'security.recovery_codes_renewed');
    });
    return { recovery_codes: codes };
  }

  /** Takes the factor away, whoever decided so: the owner, or the operator for somebody who has lost everything. */
  async remove(tx: Tx, accountId: string): Promise<boolean> {
    const was = await this.enrolment.remove(tx, accountId);
    await this.credentials.setSecondFactor(tx, accountId, false);
    await this.sessions.lower(tx, accountId);
    return was;
  }

  /**
   * Proves the second factor in this session, and does `then` in the same transaction.
   * @throws ApiError 422 `invalid_code`, 429 `too_many_attempts`, 409 `second_factor_not_enabled`
   */
  async prove(
    ctx: AccountContext,
    proof: Proof,
    then: (tx: Tx) => Promise<void> = async () => undefined,
  ): Promise<Proven> {
    const result = await this.factors.verify(ctx.userId, proof, ctx, async (tx) => {
      await this.raise(tx, ctx);
      await then(tx);
    });
    if (result.outcome === 'proven') return result;
    if (result.outcome === 'off') throw SecurityErrors.notEnabled.with();
    if (result.outcome === 'locked') throw tooManyAttempts(result.wait);
    // The session that was pending has ended with this failure: it is told so, a wrong code is not what matters now.
    if (result.locked && ctx.secondFactorPending) throw tooManyAttempts(SECOND_FACTOR.lockSeconds);
    throw SecurityErrors.invalidCode.with();
  }

  /** By the password and the second factor; `then` is done in the transaction that uses the code up. */
  private async confirm(
    ctx: AccountContext,
    body: Checked<DisableTwoFactor | RenewRecoveryCodes>,
    then: (tx: Tx) => Promise<void>,
  ): Promise<void> {
    this.confirmation.requireLocal();
    if ((await this.enrolment.state(ctx.userId)) !== 'active') throw SecurityErrors.notEnabled.with();
    const proof = proofOf(body.value);
    await this.confirmation.password(ctx, body.value.password);
    await this.prove(ctx, proof, then);
  }

  private async raise(tx: Tx, ctx: AccountContext): Promise<void> {
    if (ctx.sessionId !== null) await this.sessions.raise(tx, ctx.sessionId);
  }
}

/** Six digits, however they were grouped. */
export const digits = (code: string): string => code.replaceAll(/\D/g, '');

function proofOf({ code, recovery_code: recoveryCode }: VerifyTwoFactor): Proof {
  if ((code === undefined) === (recoveryCode === undefined))
    throw Errors.validationFailed.with({
      details: [
        {
          field: 'code',
          code: 'one_of',
          message: 'either code or recovery_code must be given, and not both',
        },
      ],
    });
  return code === undefined ? { recoveryCode } : { code: digits(code) };
}
