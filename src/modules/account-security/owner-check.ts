import { Injectable } from '@nestjs/common';
import type { AccountContext } from '../../platform/context/request-context.js';
import { Errors } from '../../platform/http/errors.js';
import { CredentialsApi } from '../identity/index.js';
import { Confirmation } from './confirmation.js';
import { digits, TwoFactorService } from './two-factor/two-factor.service.js';

/** For what a stolen token must not be enough: makes sure, as far as the account has means to, that its owner asks. */
@Injectable()
export class OwnerCheck {
  constructor(
    private readonly credentials: CredentialsApi,
    private readonly confirmation: Confirmation,
    private readonly twoFactor: TwoFactorService,
  ) {}

  /**
   * Asks for the password where there is one, and for a code where the second factor was proven more than ten minutes ago.
   * A token of an external issuer has nothing to prove here.
   * @throws ApiError 403 `invalid_password`, 403 `second_factor_required`, 422 `invalid_code`, 429 `too_many_attempts`
   */
  async assert(ctx: AccountContext, given: { password?: string; code?: string }): Promise<void> {
    if (ctx.sessionId === null) return;
    const account = await this.credentials.byId(ctx.userId);
    const codeNeeded = account?.second_factor_since != null && !(await this.confirmation.isFresh(ctx));
    if (codeNeeded && given.code === undefined) throw Errors.secondFactorRequired.with();
    if (account?.password_hash != null) await this.confirmation.password(ctx, given.password ?? '');
    if (codeNeeded) await this.twoFactor.prove(ctx, { code: digits(given.code ?? '') });
  }
}
