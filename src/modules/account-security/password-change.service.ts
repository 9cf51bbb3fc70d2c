import { Injectable } from '@nestjs/common';
import type { AccountContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import type { Tx } from '../../platform/database/tx.js';
import { Errors } from '../../platform/http/errors.js';
import type { Checked } from '../../platform/http/input.pipe.js';
import { CredentialsApi, Passwords, SessionsApi } from '../identity/index.js';
import { SecurityErrors } from './account-security.errors.js';
import { ApplicationPasswords } from './application-passwords/application-passwords.service.js';
import { Confirmation } from './confirmation.js';
import { PasswordPolicy, weak } from './passwords/password-policy.js';
import { AccountTokens } from './recovery/account-tokens.js';
import { SecurityLog } from './security-log.js';
import type { ChangePassword } from './model/security-settings.dto.js';
import type { PasswordChanged } from './security-settings.response.js';
import { digits, TwoFactorService } from './two-factor/two-factor.service.js';

/** Changes the password of the caller. */
@Injectable()
export class PasswordChangeService {
  constructor(
    private readonly confirmation: Confirmation,
    private readonly twoFactor: TwoFactorService,
    private readonly policy: PasswordPolicy,
    private readonly credentials: CredentialsApi,
    private readonly passwords: Passwords,
    private readonly sessions: SessionsApi,
    private readonly applications: ApplicationPasswords,
    private readonly tokens: AccountTokens,
    private readonly log: SecurityLog,
    private readonly db: Db,
  ) {}

  /**
   * @throws ApiError 403 `second_factor_required` when the proof of the second factor is too old and the code is missing
   * @throws ApiError 403 `invalid_password`, 422 `weak_password`, 422 `invalid_code`
   */
  async change(ctx: AccountContext, body: Checked<ChangePassword>): Promise<PasswordChanged> {
    this.confirmation.requireLocal();
    const input = body.value;
    const proofNeeded = await this.proofNeeded(ctx);
    if (proofNeeded && input.code === undefined) throw Errors.secondFactorRequired.with();
    const account = await this.confirmation.password(ctx, input.current_password);
    if (input.new_password.normalize('NFKC') === input.current_password.normalize('NFKC'))
      throw weak('unchanged', 'is the current password');
    await this.policy.check(input.new_password, account);
    const hash = await this.passwords.hash(input.new_password);
    const write = (tx: Tx) => this.write(tx, ctx, input, account.password_hash, hash);
    await (proofNeeded
      ? this.twoFactor.prove(ctx, { code: digits(input.code ?? '') }, write)
      : this.db.tx(write));
    await this.sessions.refreshNow();
    return { changed: true };
  }

  private async proofNeeded(ctx: AccountContext): Promise<boolean> {
    const account = await this.credentials.byId(ctx.userId);
    return account?.second_factor_since != null && !(await this.confirmation.isFresh(ctx));
  }

  private async write(
    tx: Tx,
    ctx: AccountContext,
    input: ChangePassword,
    oldHash: string | null,
    newHash: string,
  ): Promise<void> {
    // A concurrent change won: the compared password is no longer current.
    if (!(await this.credentials.setPassword(tx, ctx.userId, oldHash, newHash)))
      throw SecurityErrors.invalidPassword.with();
    await this.tokens.endAccessLinks(tx, ctx.userId);
    const sessions = input.revoke_sessions ? await this.sessions.endOthers(tx, ctx.userId, ctx.sessionId) : 0;
    const applications = input.revoke_application_passwords
      ? await this.applications.endAll(tx, ctx.userId, null)
      : 0;
    await this.log.record(tx, ctx, 'security.password_changed', {
      sessions_ended: sessions,
      applications_ended: applications,
    });
  }
}
