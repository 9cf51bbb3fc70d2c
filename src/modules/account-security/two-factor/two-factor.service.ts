import { Injectable } from '@nestjs/common';
import type { AccountContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { fieldError } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { CredentialsApi, SessionsApi } from '../../identity/index.js';
import { TenantErrors, TenantPolicies, TenantsApi } from '../../tenants/index.js';
import { SecurityErrors, tooManyAttempts } from '../account-security.errors.js';
import { Confirmation } from '../confirmation.js';
import { SECOND_FACTOR } from '../model/guess-limits.js';
import { type SecurityActor, SecurityLog } from '../security-log.js';
import { SecondFactorEnrolment } from './second-factor-enrolment.js';
import { type Proof, type Proven, SecondFactors } from './second-factors.js';
import type {
  DisableTwoFactor,
  EnableTwoFactor,
  InitiateTwoFactor,
  RecoveryCodes,
  RenewRecoveryCodes,
  TwoFactorDisabled,
  TwoFactorEnabled,
  TwoFactorInitiated,
  TwoFactorVerified,
  VerifyTwoFactor,
} from './two-factor.dto.js';

/** Enables, disables and verifies the second factor. */
@Injectable()
export class TwoFactorService {
  constructor(
    private readonly factors: SecondFactors,
    private readonly enrolment: SecondFactorEnrolment,
    private readonly confirmation: Confirmation,
    private readonly credentials: CredentialsApi,
    private readonly sessions: SessionsApi,
    private readonly tenants: TenantsApi,
    private readonly policies: TenantPolicies,
    private readonly log: SecurityLog,
    private readonly db: Db,
  ) {}

  /** Starts an enrolment: the new secret has no effect until it is enabled. An active factor stays unchanged. */
  async initiate(ctx: AccountContext, body: Checked<InitiateTwoFactor>): Promise<TwoFactorInitiated> {
    this.confirmation.requireLocal();
    if ((await this.enrolment.state(ctx.userId)) === 'active') throw SecurityErrors.alreadyEnabled.with();
    const account = await this.confirmation.password(ctx, body.value.password);
    const started = await this.enrolment.begin(account);
    if (!started) throw SecurityErrors.alreadyEnabled.with();
    return started;
  }

  /** Enables the factor with its first code. This session is then verified; all others must prove the factor. */
  async enable(ctx: AccountContext, body: Checked<EnableTwoFactor>): Promise<TwoFactorEnabled> {
    this.confirmation.requireLocal();
    const state = await this.enrolment.state(ctx.userId);
    if (state === 'active') throw SecurityErrors.alreadyEnabled.with();
    if (state === null) throw SecurityErrors.notInitiated.with();
    const code = digits(body.value.code);
    const result = await this.enrolment.enable(ctx.userId, code, (tx) => this.enabled(tx, ctx));
    if (result.outcome === 'locked') throw tooManyAttempts(result.wait);
    if (result.outcome === 'not_pending') throw SecurityErrors.notInitiated.with();
    if (result.outcome === 'invalid') throw SecurityErrors.invalidCode.with();
    await this.sessions.refreshNow();
    return { enabled: true, recovery_codes: result.recoveryCodes };
  }

  /** Requires the new second factor from all sessions except the actor's. */
  async enabled(tx: Tx, actor: SecurityActor): Promise<void> {
    await this.credentials.setSecondFactor(tx, actor.userId, true);
    await this.raise(tx, actor);
    await this.sessions.invalidate(tx, actor.userId);
    await this.log.record(tx, actor, 'security.second_factor_enabled');
  }

  /** Raises this session to AAL2, from its next request on in every process. */
  async verify(ctx: AccountContext, body: Checked<VerifyTwoFactor>): Promise<TwoFactorVerified> {
    this.confirmation.requireLocal();
    await this.requireEnabled(ctx);
    const { method, recoveryCodesLeft } = await this.prove(ctx, proofOf(body.value));
    return {
      verified: true,
      method,
      ...(recoveryCodesLeft !== undefined && { recovery_codes_left: recoveryCodesLeft }),
    };
  }

  /** @throws ApiError 403 `required_by_policy` */
  async disable(ctx: AccountContext, body: Checked<DisableTwoFactor>): Promise<TwoFactorDisabled> {
    if (await this.isRequired(ctx.userId)) throw TenantErrors.requiredByPolicy.with();
    await this.confirm(ctx, body, async (tx) => {
      await this.remove(tx, ctx.userId);
      await this.log.record(tx, ctx, 'security.second_factor_disabled');
    });
    await this.sessions.refreshNow();
    return { enabled: false };
  }

  /** Whether a workspace of the account requires a second factor. */
  async isRequired(accountId: string): Promise<boolean> {
    const workspaces = await this.tenants.workspacesOf(accountId);
    const policies = await Promise.all(workspaces.map(({ id }) => this.policies.readPolicy(id)));
    return policies.some((policy) => policy.second_factor_required);
  }

  /** Replaces all recovery codes. */
  async renewRecoveryCodes(ctx: AccountContext, body: Checked<RenewRecoveryCodes>): Promise<RecoveryCodes> {
    let codes: string[] = [];
    await this.confirm(ctx, body, async (tx) => {
      codes = await this.enrolment.renewCodes(tx, ctx.userId);
      await this.log.record(tx, ctx, 'security.recovery_codes_renewed');
    });
    return { recovery_codes: codes };
  }

  /** Removes all factors, for the owner or the operator. @returns whether the account had one */
  async remove(tx: Tx, accountId: string): Promise<boolean> {
    const removed = await this.enrolment.remove(tx, accountId);
    await this.credentials.setSecondFactor(tx, accountId, false);
    await this.sessions.clearAal2(tx, accountId);
    return removed;
  }

  /**
   * Proves the second factor in this session and runs `then` in the same transaction.
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
    if (result.outcome === 'not_enabled') throw SecurityErrors.notEnabled.with();
    if (result.outcome === 'locked') throw tooManyAttempts(result.wait);
    // This failure ended the pending session, so report the lock instead of the invalid code.
    if (result.locked && ctx.secondFactorPending) throw tooManyAttempts(SECOND_FACTOR.lockSeconds);
    throw SecurityErrors.invalidCode.with();
  }

  /** Verifies password and second factor, and runs `then` in the transaction that uses the code. */
  private async confirm(
    ctx: AccountContext,
    body: Checked<DisableTwoFactor | RenewRecoveryCodes>,
    then: (tx: Tx) => Promise<void>,
  ): Promise<void> {
    this.confirmation.requireLocal();
    await this.requireEnabled(ctx);
    const proof = proofOf(body.value);
    await this.confirmation.password(ctx, body.value.password);
    await this.prove(ctx, proof, then);
  }

  /** @throws ApiError 409 `second_factor_not_enabled` */
  private async requireEnabled({ userId }: AccountContext): Promise<void> {
    const { totp, passkey } = await this.factors.methods(userId);
    if (!totp && !passkey) throw SecurityErrors.notEnabled.with();
  }

  private async raise(tx: Tx, { sessionId = null }: Pick<SecurityActor, 'sessionId'>): Promise<void> {
    if (sessionId !== null) await this.sessions.setAal2(tx, sessionId);
  }
}

/** Removes grouping from a six-digit code. */
export const digits = (code: string): string => code.replaceAll(/\D/g, '');

function proofOf({ code, recovery_code: recoveryCode }: VerifyTwoFactor): Proof {
  if ((code === undefined) === (recoveryCode === undefined))
    throw fieldError('code', 'one_of', 'exactly one of code and recovery_code is required');
  return code === undefined ? { recoveryCode } : { code: digits(code) };
}
