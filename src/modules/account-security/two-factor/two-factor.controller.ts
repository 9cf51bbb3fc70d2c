import { Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  BeforeSecondFactor,
  Tenantless,
  WithoutSecondFactor,
} from '../../../platform/context/access.decorators.js';
import { type AccountContext, Ctx } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { RateLimited } from '../../../platform/rate-limits/rate-limit.guard.js';
import { TenantErrors } from '../../tenants/index.js';
import { SecurityErrors } from '../account-security.errors.js';
import { PASSWORD_LIMIT, PROOF_LIMIT } from '../model/guess-limits.js';
import {
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
import { TwoFactorService } from './two-factor.service.js';

const COMMON = [SecurityErrors.managedExternally, SecurityErrors.tooManyAttempts, Errors.tooManyRequests];

/** Errors of routes that require the password and a code. */
const CONFIRMATION = [
  SecurityErrors.invalidPassword,
  SecurityErrors.notEnabled,
  SecurityErrors.invalidCode,
  ...COMMON,
];

const PASSWORD = 'correct horse battery staple';
const WITH_PASSWORD = {
  code: { value: { password: PASSWORD, code: '492039' } },
  recovery: { value: { password: PASSWORD, recovery_code: 'k7m2x-9qd4t' } },
};

@ApiTags('auth')
@Controller('auth')
export class TwoFactorController {
  constructor(private readonly twoFactor: TwoFactorService) {}

  @Endpoint('POST initiate-2fa', {
    id: 'initiateTwoFactor',
    summary: 'Start the enrolment of a second factor',
    description:
      'Returns a secret for an authenticator application (TOTP, RFC 6238). Nothing changes until `enable-2fa`; each call returns a new secret.',
    response: [TwoFactorInitiated, 'The secret, returned only once.'],
    errors: [SecurityErrors.invalidPassword, SecurityErrors.alreadyEnabled, ...COMMON],
  })
  @Tenantless()
  @WithoutSecondFactor()
  @RateLimited(PASSWORD_LIMIT)
  initiate(
    @Ctx() ctx: AccountContext,
    @CheckedBody(InitiateTwoFactor) body: Checked<InitiateTwoFactor>,
  ): Promise<TwoFactorInitiated> {
    return this.twoFactor.initiate(ctx, body);
  }

  @Endpoint('POST enable-2fa', {
    id: 'enableTwoFactor',
    summary: 'Enable the second factor with its first code',
    description:
      'All your other sessions must then prove the factor with `verify-2fa`. This session is verified by the code.',
    response: [TwoFactorEnabled, 'The second factor is enabled.'],
    errors: [
      SecurityErrors.alreadyEnabled,
      SecurityErrors.notInitiated,
      SecurityErrors.invalidCode,
      ...COMMON,
    ],
  })
  @Tenantless()
  @WithoutSecondFactor()
  @RateLimited(PROOF_LIMIT)
  enable(
    @Ctx() ctx: AccountContext,
    @CheckedBody(EnableTwoFactor) body: Checked<EnableTwoFactor>,
  ): Promise<TwoFactorEnabled> {
    return this.twoFactor.enable(ctx, body);
  }

  @Endpoint('POST verify-2fa', {
    id: 'verifyTwoFactor',
    summary: 'Prove the second factor in this session',
    description:
      'With an authenticator code or a recovery code; each is valid once. Five failures in a row lock the second factor for 15 minutes and end the sessions that have not proven it.',
    response: [TwoFactorVerified, 'The session has proven the second factor.'],
    examples: { code: { value: { code: '492039' } }, recovery: { value: { recovery_code: 'k7m2x-9qd4t' } } },
    errors: [SecurityErrors.notEnabled, SecurityErrors.invalidCode, ...COMMON],
  })
  @Tenantless()
  @BeforeSecondFactor()
  @RateLimited(PROOF_LIMIT)
  verify(
    @Ctx() ctx: AccountContext,
    @CheckedBody(VerifyTwoFactor) body: Checked<VerifyTwoFactor>,
  ): Promise<TwoFactorVerified> {
    return this.twoFactor.verify(ctx, body);
  }

  @Endpoint('POST disable-2fa', {
    id: 'disableTwoFactor',
    summary: 'Disable the second factor',
    description: 'Not while the policy of one of your workspaces requires it.',
    response: [TwoFactorDisabled, 'The second factor is disabled, and its recovery codes are invalid.'],
    examples: WITH_PASSWORD,
    errors: [...CONFIRMATION, TenantErrors.requiredByPolicy],
  })
  @Tenantless()
  @RateLimited(PASSWORD_LIMIT)
  disable(
    @Ctx() ctx: AccountContext,
    @CheckedBody(DisableTwoFactor) body: Checked<DisableTwoFactor>,
  ): Promise<TwoFactorDisabled> {
    return this.twoFactor.disable(ctx, body);
  }

  @Endpoint('POST recovery-codes', {
    id: 'renewRecoveryCodes',
    summary: 'Create new recovery codes',
    description: 'Replaces all previous recovery codes, which become invalid.',
    response: [RecoveryCodes, 'The new codes, returned only once.'],
    examples: WITH_PASSWORD,
    errors: CONFIRMATION,
  })
  @Tenantless()
  @RateLimited(PASSWORD_LIMIT)
  renewRecoveryCodes(
    @Ctx() ctx: AccountContext,
    @CheckedBody(RenewRecoveryCodes) body: Checked<RenewRecoveryCodes>,
  ): Promise<RecoveryCodes> {
    return this.twoFactor.renewRecoveryCodes(ctx, body);
  }
}
