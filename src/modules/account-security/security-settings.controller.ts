import { Body, Controller } from '@nestjs/common';
import {
  BeforeSecondFactor,
  Tenantless,
  WithoutSecondFactor,
} from '../../platform/context/access.decorators.js';
import { type AccountContext, Ctx } from '../../platform/context/request-context.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../platform/http/input.pipe.js';
import { RateLimited } from '../../platform/rate-limits/rate-limit.guard.js';
import { SecurityErrors } from './account-security.errors.js';
import { PasswordChangeService } from './password-change.service.js';
import { PASSWORD_LIMIT } from './model/route-limits.js';
import { ChangePassword, SignOut } from './model/security-settings.dto.js';
import { PasswordChanged, SecurityState, SessionEnded, SignedOut } from './security-settings.response.js';
import { SecuritySettingsService } from './security-settings.service.js';

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
