import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import type { AccountContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { GuessLocks } from '../../platform/rate-limits/guess-locks.js';
import { CredentialsApi, type CredentialsRow, SessionsApi } from '../identity/index.js';
import { SecurityErrors, tooManyAttempts } from './account-security.errors.js';
import { CONFIRMATION } from './model/guess-limits.js';

/** Seconds for which a sign-in, or a proof of the second factor, allows security changes. */
const FRESH_SECONDS = 600;

/** Confirms the identity of the caller before a security change of the account. */
@Injectable()
export class Confirmation {
  constructor(
    private readonly credentials: CredentialsApi,
    private readonly sessions: SessionsApi,
    private readonly locks: GuessLocks,
    private readonly config: Config,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 409 `managed_externally` */
  requireLocal(): void {
    if (this.config.OIDC_ISSUER) throw SecurityErrors.managedExternally.with();
  }

  /**
   * Verifies the password of the account; five failures in a row lock it for 15 minutes.
   * @returns the account with the compared password hash
   * @throws ApiError 403 `invalid_password`, 429 `too_many_attempts`
   */
  async password(ctx: AccountContext, password: string): Promise<CredentialsRow> {
    const guess = await this.locks.begin(CONFIRMATION, ctx.userId);
    if (!guess.allowed) throw tooManyAttempts(guess.wait);
    const account = await this.credentials.byId(ctx.userId);
    const matches = await this.credentials
      .passwordMatches(account, password)
      .catch(async (error: unknown) => {
        // A password that cannot be compared is no failure.
        await this.db.single((tx) => this.locks.giveBack(tx, CONFIRMATION, ctx.userId));
        throw error;
      });
    if (!matches || !account) throw SecurityErrors.invalidPassword.with();
    await this.db.single((tx) => this.locks.forget(tx, CONFIRMATION, ctx.userId));
    return account;
  }

  /** @throws ApiError 403 `recent_sign_in_required` when the sign-in of this session is older than ten minutes */
  async recentSignIn(ctx: AccountContext): Promise<void> {
    const age = ctx.sessionId === null ? null : await this.sessions.signInAge(ctx.sessionId);
    if (age === null || age >= FRESH_SECONDS) throw SecurityErrors.recentSignInRequired.with();
  }

  /** Whether this session proved the second factor within the last ten minutes. */
  async isFresh(ctx: AccountContext): Promise<boolean> {
    const age = ctx.sessionId === null ? null : await this.sessions.aal2Age(ctx.sessionId);
    return age !== null && age < FRESH_SECONDS;
  }
}
