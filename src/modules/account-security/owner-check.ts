import { Injectable } from '@nestjs/common';
import type { AccountContext } from '../../platform/context/request-context.js';
import { Errors } from '../../platform/http/errors.js';
import { CredentialsApi } from '../identity/index.js';
import { Confirmation } from './confirmation.js';
import { digits, TwoFactorService } from './two-factor/two-factor.service.js';

/** Confirms the identity of the caller for actions that a stolen token must not allow. */
@Injectable()
export class OwnerCheck {
  constructor(
    private readonly credentials: CredentialsApi,
    private readonly confirmation: Confirmation,
    private readonly twoFactor: TwoFactorService,
  ) {}

  /**
   * Requires the password if the account has one, and a code if this session proved the second factor more than ten minutes
   * ago. An account with neither needs a sign-in within the last ten minutes (docs/adr/0043). Tokens of an external issuer
   * need no proof.
   * @throws ApiError 403 `invalid_password`, 403 `second_factor_required`, 403 `recent_sign_in_required`, 422 `invalid_code`,
   *   429 `too_many_attempts`
   */
  async assert(ctx: AccountContext, proof: { password?: string; code?: string }): Promise<void> {
    if (ctx.sessionId === null) return;
    const account = await this.credentials.byId(ctx.userId);
    const codeNeeded = account?.second_factor_since != null && !(await this.confirmation.isFresh(ctx));
    if (codeNeeded && proof.code === undefined) throw Errors.secondFactorRequired.with();
    if (account?.password_hash != null) await this.confirmation.password(ctx, proof.password ?? '');
    else if (account?.second_factor_since == null) await this.confirmation.recentSignIn(ctx);
    if (codeNeeded) await this.twoFactor.prove(ctx, { code: digits(proof.code ?? '') });
  }
}
