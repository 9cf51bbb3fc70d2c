import { Controller, HttpCode, Post } from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import { BeforeSecondFactor, Tenantless } from '../../../platform/context/access.decorators.js';
import { type AccountContext, Ctx } from '../../../platform/context/request-context.js';
import { BODY_ERRORS, Operation } from '../../../platform/http/api-docs.js';
import { Errors } from '../../../platform/http/errors.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { RateLimited } from '../../../platform/rate-limits/rate-limit.guard.js';
import { SecurityErrors } from '../account-security.errors.js';
import { PASSWORD_LIMIT, PROOF_LIMIT } from '../route-limits.js';
import {
  DisableTwoFactor,
  EnableTwoFactor,
  InitiateTwoFactor,
  RenewRecoveryCodes,
  VerifyTwoFactor,
} from './two-factor.dto.js';
import {
  RecoveryCodes,
  TwoFactorDisabled,
  TwoFactorEnabled,
  TwoFactorInitiated,
  TwoFactorVerified,
} from './two-factor.response.js';
import { TwoFactorService } from './two-factor.service.js';

const COMMON = [
  SecurityErrors.managedExternally,
  SecurityErrors.tooManyAttempts,
  Errors.tooManyRequests,
  Errors.validationFailed,
  ...BODY_ERRORS,
];

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

@Controller('auth')
export class TwoFactorController {
  constructor(private readonly twoFactor: TwoFactorService) {}

  @Operation({
    tag: 'auth',
    id: 'initiateTwoFactor',
    summary: 'Start the enrolment of a second factor',
    description:
      'Returns a secret for an authenticator application (TOTP, RFC 6238). Nothing changes until `enable-2fa`; each call returns a new secret.',
    errors: [SecurityErrors.invalidPassword, SecurityErrors.alreadyEnabled, ...COMMON],
  })
  @ApiBody({ type: InitiateTwoFactor })
  @ApiOkResponse({ type: TwoFactorInitiated, description: 'The secret, returned only once.' })
  @Tenantless()
  @RateLimited(PASSWORD_LIMIT)
  @HttpCode(200)
  @Post('initiate-2fa')
  initiate(
    @Ctx() ctx: AccountContext,
    @CheckedBody(InitiateTwoFactor) body: Checked<InitiateTwoFactor>,
  ): Promise<TwoFactorInitiated> {
    return this.twoFactor.initiate(ctx, body);
  }

  @Operation({
    tag: 'auth',
    id: 'enableTwoFactor',
    summary: 'Enable the second factor with its first code',
    description:
      'All your other sessions must then prove the factor with `verify-2fa`. This session is verified by the code.',
    errors: [
      SecurityErrors.alreadyEnabled,
      SecurityErrors.notInitiated,
      SecurityErrors.invalidCode,
      ...COMMON,
    ],
  })
  @ApiBody({ type: EnableTwoFactor })
  @ApiOkResponse({ type: TwoFactorEnabled, description: 'The second factor is enabled.' })
  @Tenantless()
  @RateLimited(PROOF_LIMIT)
  @HttpCode(200)
  @Post('enable-2fa')
  enable(
    @Ctx() ctx: AccountContext,
    @CheckedBody(EnableTwoFactor) body: Checked<EnableTwoFactor>,
  ): Promise<TwoFactorEnabled> {
    return this.twoFactor.enable(ctx, body);
  }

  @Operation({
    tag: 'auth',
    id: 'verifyTwoFactor',
    summary: 'Prove the second factor in this session',
    description:
      'With an authenticator code or a recovery code; each is valid once. Five failures in a row lock the second factor for 15 minutes and end the sessions that have not proven it.',
    errors: [SecurityErrors.notEnabled, SecurityErrors.invalidCode, ...COMMON],
  })
  @ApiBody({
    type: VerifyTwoFactor,
    examples: { code: { value: { code: '492039' } }, recovery: { value: { recovery_code: 'k7m2x-9qd4t' } } },
  })
  @ApiOkResponse({ type: TwoFactorVerified, description: 'The session has proven the second factor.' })
  @Tenantless()
  @BeforeSecondFactor()
  @RateLimited(PROOF_LIMIT)
  @HttpCode(200)
  @Post('verify-2fa')
  verify(
    @Ctx() ctx: AccountContext,
    @CheckedBody(VerifyTwoFactor) body: Checked<VerifyTwoFactor>,
  ): Promise<TwoFactorVerified> {
    return this.twoFactor.verify(ctx, body);
  }

  @Operation({
    tag: 'auth',
    id: 'disableTwoFactor',
    summary: 'Disable the second factor',
    errors: CONFIRMATION,
  })
  @ApiBody({ type: DisableTwoFactor, examples: WITH_PASSWORD })
  @ApiOkResponse({
    type: TwoFactorDisabled,
    description: 'The second factor is disabled, and its recovery codes are invalid.',
  })
  @Tenantless()
  @RateLimited(PASSWORD_LIMIT)
  @HttpCode(200)
  @Post('disable-2fa')
  disable(
    @Ctx() ctx: AccountContext,
    @CheckedBody(DisableTwoFactor) body: Checked<DisableTwoFactor>,
  ): Promise<TwoFactorDisabled> {
    return this.twoFactor.disable(ctx, body);
  }

  @Operation({
    tag: 'auth',
    id: 'renewRecoveryCodes',
    summary: 'Create new recovery codes',
    description: 'Replaces all previous recovery codes, which become invalid.',
    errors: CONFIRMATION,
  })
  @ApiBody({ type: RenewRecoveryCodes, examples: WITH_PASSWORD })
  @ApiOkResponse({ type: RecoveryCodes, description: 'The new codes, returned only once.' })
  @Tenantless()
  @RateLimited(PASSWORD_LIMIT)
  @HttpCode(200)
  @Post('recovery-codes')
  renewRecoveryCodes(
    @Ctx() ctx: AccountContext,
    @CheckedBody(RenewRecoveryCodes) body: Checked<RenewRecoveryCodes>,
  ): Promise<RecoveryCodes> {
    return this.twoFactor.renewRecoveryCodes(ctx, body);
  }
}
