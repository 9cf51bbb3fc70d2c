import { Body, Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { BeforeSecondFactor, Tenantless } from '../../../../platform/context/access.decorators.js';
import { type AccountContext, Ctx } from '../../../../platform/context/request-context.js';
import { Endpoint } from '../../../../platform/http/endpoint.js';
import { Errors } from '../../../../platform/http/errors.js';
import { RateLimited } from '../../../../platform/rate-limits/rate-limit.guard.js';
import { SessionsApi } from '../../../identity/index.js';
import { SecurityErrors } from '../../account-security.errors.js';
import { PROOF_LIMIT } from '../../model/route-limits.js';
import { VerifyPasskey } from './passkey.dto.js';
import { PasskeyProofs } from './passkey-proofs.js';
import { PasskeyOptions, passkeyOptions, PasskeyVerified } from './passkey.response.js';
import { Passkeys, subjectOf } from './passkeys.service.js';

const COMMON = [
  SecurityErrors.managedExternally,
  SecurityErrors.passkeysUnavailable,
  SecurityErrors.notEnabled,
  Errors.tooManyRequests,
];

@ApiTags('auth')
@Controller('auth')
export class PasskeyVerificationController {
  constructor(
    private readonly passkeys: Passkeys,
    private readonly proofs: PasskeyProofs,
    private readonly sessions: SessionsApi,
  ) {}

  @Endpoint('POST passkey-options', {
    id: 'createPasskeyVerification',
    summary: 'Start a proof of the second factor by a passkey',
    description: 'Returns options for `navigator.credentials.get()` (WebAuthn).',
    response: [PasskeyOptions, 'The options, for one proof in this session.'],
    status: 200,
    errors: COMMON,
  })
  @Tenantless()
  @BeforeSecondFactor()
  @RateLimited(PROOF_LIMIT)
  async options(@Ctx() ctx: AccountContext): Promise<PasskeyOptions> {
    this.passkeys.requireAvailable();
    const options = await this.proofs.secondFactorOptions(subjectOf(ctx), ctx.userId);
    if (!options) throw SecurityErrors.notEnabled.with();
    return passkeyOptions(options);
  }

  @Endpoint('POST verify-passkey', {
    id: 'verifyPasskey',
    summary: 'Prove the second factor in this session by a passkey',
    description: 'The same as `verify-2fa` with a code.',
    response: [PasskeyVerified, 'The session has proven the second factor.'],
    status: 200,
    errors: [...COMMON, SecurityErrors.invalidPasskey],
  })
  @Tenantless()
  @BeforeSecondFactor()
  @RateLimited(PROOF_LIMIT)
  async verify(@Ctx() ctx: AccountContext, @Body() body: VerifyPasskey): Promise<PasskeyVerified> {
    this.passkeys.requireAvailable();
    const { userId: accountId, sessionId } = ctx;
    const proof = { subject: subjectOf(ctx), credential: body.credential, accountId };
    const proven = await this.proofs.verify(proof, ctx, async (tx) => {
      if (sessionId !== null) await this.sessions.setAal2(tx, sessionId);
    });
    if (!proven) throw SecurityErrors.invalidPasskey.with();
    return { verified: true, method: 'passkey' };
  }
}
