import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import type { AccountContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { GuessLocks } from '../../platform/rate-limits/guess-locks.js';
import { CredentialsApi, type CredentialsRow, SessionsApi } from '../identity/index.js';
import { SecurityErrors, tooManyAttempts } from './account-security.errors.js';
import { CONFIRMATION } from './guessables.js';

/** How long a proof of the second factor is fresh enough for changes to the account's safety, seconds. */
const FRESH_SECONDS = 600;

/** Makes sure, before a change to the safety of an account, that it is its owner who asks. */
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
   * Compares the account's password; five wrong ones in a row lock for 15 minutes.
   * @returns the account as it was compared with
   * @throws ApiError 403 `invalid_password`, 429 `too_many_attempts`
   */
  async password(ctx: AccountContext, password: string): Promise<CredentialsRow> {
    const guess = await this.locks.begin(CONFIRMATION, ctx.userId);
    if (!guess.allowed) throw tooManyAttempts(guess.wait);
    const account = await this.credentials.byId(ctx.userId);
    if (!(await this.credentials.passwordMatches(account, password)) || !account)
      throw SecurityErrors.invalidPassword.with();
    await this.db.single((tx) => this.locks.forget(tx, CONFIRMATION, ctx.userId));
    return account;
  }

  /** Whether the second factor was proven in this session within the last ten minutes. */
  async isFresh(ctx: AccountContext): Promise<boolean> {
    const age = ctx.sessionId === null ? null : await this.sessions.aal2Age(ctx.sessionId);
    return age !== null && age < FRESH_SECONDS;
  }
}
