import { Body, Controller, Injectable } from '@nestjs/common';
import {
  BeforeSecondFactor,
  Tenantless,
  WithoutSecondFactor,
} from '../../platform/context/access.decorators.js';
import { type AccountContext, Ctx } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import type { Tx } from '../../platform/database/tx.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../platform/http/input.pipe.js';
import { RateLimited } from '../../platform/rate-limits/rate-limit.guard.js';
import { CredentialsApi, Passwords, SessionsApi } from '../identity/index.js';
import { SecurityErrors } from './account-security.errors.js';
import { ApplicationPasswords } from './application-passwords/application-passwords.service.js';
import { Confirmation } from './confirmation.js';
import { PASSWORD_LIMIT } from './model/guess-limits.js';
import { PasswordPolicy, makeWeakError } from './passwords/password-policy.js';
import { AccountTokens } from './recovery/account-tokens.js';
import { SecurityLog } from './security-log.js';
import {
  ChangePassword,
  PasswordChanged,
  SecurityState,
  SessionEnded,
  SignedOut,
  SignOut,
} from './security-settings.dto.js';
import { SecuritySettingsService } from './security-settings.service.js';
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
      throw makeWeakError('unchanged', 'is the current password');
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

const CHANGE = {
  current_password: 'correct horse battery staple',
  new_password: 'seven purple teapots dance',
};
const CHANGES = {
  password: { value: CHANGE },
  second_factor: { value: { ...CHANGE, code: '492039' } },
};

@Controller()
export class SecuritySettingsController {
  constructor(
    private readonly security: SecuritySettingsService,
    private readonly passwords: PasswordChangeService,
  ) {}

  @Endpoint('GET settings/security', {
    tag: 'settings',
    id: 'readSecurity',
    summary: 'Read the security state of your account',
    description:
      'Second factor, password, sessions in all your workspaces, and recent security events. Contains no secrets.',
    response: [SecurityState, 'The security state.'],
  })
  @Tenantless()
  @WithoutSecondFactor()
  read(@Ctx() ctx: AccountContext): Promise<SecurityState> {
    return this.security.read(ctx);
  }

  @Endpoint('DELETE settings/security/sessions/:id', {
    tag: 'settings',
    id: 'endSession',
    summary: 'End one of your sessions',
    description: 'Its tokens become invalid within 5 seconds.',
    response: [SessionEnded, 'The session ended.'],
    errors: [SecurityErrors.notFound],
  })
  @Tenantless()
  async endSession(@Ctx() ctx: AccountContext, @Id() id: string): Promise<SessionEnded> {
    await this.security.endSession(ctx, id);
    return { deleted: true };
  }

  @Endpoint('PUT settings/password', {
    tag: 'settings',
    id: 'changePassword',
    summary: 'Change your password',
    description:
      'By default, ends your other sessions and keeps application passwords. A password that is set by the link for a forgotten password, or by the operator, ends both. Cancels a pending change of your e-mail address.',
    response: [PasswordChanged, 'The password was changed.'],
    examples: CHANGES,
    errors: [
      SecurityErrors.invalidPassword,
      SecurityErrors.managedExternally,
      SecurityErrors.weakPassword,
      SecurityErrors.invalidCode,
      SecurityErrors.tooManyAttempts,
      Errors.tooManyRequests,
    ],
  })
  @Tenantless()
  @RateLimited(PASSWORD_LIMIT)
  changePassword(
    @Ctx() ctx: AccountContext,
    @CheckedBody(ChangePassword) body: Checked<ChangePassword>,
  ): Promise<PasswordChanged> {
    return this.passwords.change(ctx, body);
  }

  @Endpoint('POST auth/sign-out', {
    tag: 'auth',
    id: 'signOut',
    summary: 'End this session or all sessions',
    description: 'Access tokens become invalid within 5 seconds.',
    response: [SignedOut, 'The session ended.'],
    errors: [SecurityErrors.managedExternally],
  })
  @Tenantless()
  @BeforeSecondFactor()
  @WithoutSecondFactor()
  signOut(@Ctx() ctx: AccountContext, @Body() body: SignOut): Promise<SignedOut> {
    return this.security.signOut(ctx, body.everywhere);
  }
}
