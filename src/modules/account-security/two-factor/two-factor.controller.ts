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

/** Of what takes the password and a code. */
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
    summary: 'Begin to turn on the second factor',
    description:
      'Gives out a secret for an authenticator application (TOTP, RFC 6238). Nothing changes until `enable-2fa`; doing it again gives another secret.',
    errors: [SecurityErrors.invalidPassword, SecurityErrors.alreadyEnabled, ...COMMON],
  })
  @ApiBody({ type: InitiateTwoFactor })
  @ApiOkResponse({ type: TwoFactorInitiated, description: 'The secret; shown only now.' })
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
    summary: 'Turn on the second factor with its first code',
    description:
      'From then on every other session of yours has to prove it: `verify-2fa`. This one has done so by the code.',
    errors: [
      SecurityErrors.alreadyEnabled,
      SecurityErrors.notInitiated,
      SecurityErrors.invalidCode,
      ...COMMON,
    ],
  })
  @ApiBody({ type: EnableTwoFactor })
  @ApiOkResponse({ type: TwoFactorEnabled, description: 'It is on.' })
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
      'With a code of the authenticator or a recovery code, each good once. Five wrong ones in a row lock the account’s second factor for 15 minutes and end the sessions that had yet to prove it.',
    errors: [SecurityErrors.notEnabled, SecurityErrors.invalidCode, ...COMMON],
  })
  @ApiBody({
    type: VerifyTwoFactor,
    examples: { code: { value: { code: '492039' } }, recovery: { value: { recovery_code: 'k7m2x-9qd4t' } } },
  })
  @ApiOkResponse({ type: TwoFactorVerified, description: 'This session may do everything now.' })
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
    summary: 'Turn off the second factor',
    errors: CONFIRMATION,
  })
  @ApiBody({ type: DisableTwoFactor, examples: WITH_PASSWORD })
  @ApiOkResponse({ type: TwoFactorDisabled, description: 'It is off; the recovery codes are void.' })
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
    summary: 'Get new recovery codes',
    description: 'For those that were used up or that others may have seen: all there were are void.',
    errors: CONFIRMATION,
  })
  @ApiBody({ type: RenewRecoveryCodes, examples: WITH_PASSWORD })
  @ApiOkResponse({ type: RecoveryCodes, description: 'The new codes; shown only now.' })
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
