import { Body, Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  BeforeSecondFactor,
  Tenantless,
  WithoutSecondFactor,
} from '../../../../platform/context/access.decorators.js';
import { type AccountContext, Ctx } from '../../../../platform/context/request-context.js';
import { Endpoint } from '../../../../platform/http/endpoint.js';
import { Errors } from '../../../../platform/http/errors.js';
import { Id } from '../../../../platform/http/id.pipe.js';
import { RateLimited } from '../../../../platform/rate-limits/rate-limit.guard.js';
import { SessionsApi } from '../../../identity/index.js';
import { TenantErrors } from '../../../tenants/index.js';
import { OWNER_CHECK_ERRORS, SecurityErrors } from '../../account-security.errors.js';
import { Confirmation } from '../../confirmation.js';
import { ConfirmOwner } from '../../model/confirm-owner.dto.js';
import { PASSWORD_LIMIT, PROOF_LIMIT } from '../../model/guess-limits.js';
import { OwnerCheck } from '../../owner-check.js';
import { PasskeyLinks } from '../../passkey-links.js';
import { PasskeyProofs } from './passkey-proofs.js';
import {
  PasskeyEnvelope,
  PasskeyListEnvelope,
  PasskeyOptions,
  passkeyOptions,
  PasskeyPage,
  PasskeyRemoved,
  PasskeyVerified,
  RegisteredPasskeyEnvelope,
  RegisterPasskey,
  RenamePasskey,
  VerifyPasskey,
} from './passkey.dto.js';
import { Passkeys, subjectOf } from './passkeys.service.js';

const AVAILABILITY = [
  SecurityErrors.managedExternally,
  SecurityErrors.passkeysUnavailable,
  SecurityErrors.serviceAccount,
];
const CONFIRMATION = [...AVAILABILITY, ...OWNER_CHECK_ERRORS];

@ApiTags('settings')
@Controller('settings/security/passkeys')
export class PasskeysController {
  constructor(
    private readonly passkeys: Passkeys,
    private readonly links: PasskeyLinks,
    private readonly owners: OwnerCheck,
    private readonly confirmation: Confirmation,
  ) {}

  @Endpoint('GET', {
    id: 'listPasskeys',
    summary: 'List your passkeys',
    description: 'Passkeys of your account, in all workspaces. The list has one page.',
    response: [PasskeyListEnvelope, 'All passkeys, at most 20.'],
  })
  @Tenantless()
  @WithoutSecondFactor()
  async list(@Ctx() ctx: AccountContext): Promise<PasskeyListEnvelope> {
    return { passkeys: await this.passkeys.list(ctx.userId), next: null };
  }

  @Endpoint('POST options', {
    id: 'createPasskeyOptions',
    summary: 'Start the registration of a passkey',
    description:
      'Returns options for `navigator.credentials.create()` (WebAuthn). The web page must be on the host of this service or a subdomain; other clients open the page of `POST page`. An account with neither a password nor a second factor needs a sign-in of the last ten minutes.',
    response: [PasskeyOptions, 'The options, for one registration in this session.'],
    status: 200,
    errors: CONFIRMATION,
  })
  @Tenantless()
  @WithoutSecondFactor()
  @RateLimited(PASSWORD_LIMIT)
  async options(@Ctx() ctx: AccountContext, @Body() body: ConfirmOwner): Promise<PasskeyOptions> {
    await this.passkeys.requireAllowed(ctx);
    await this.owners.assert(ctx, body);
    return passkeyOptions(await this.passkeys.begin(ctx));
  }

  @Endpoint('POST', {
    id: 'registerPasskey',
    summary: 'Register a passkey',
    description:
      'The first factor of an account enables the second factor: other sessions must prove it, and the response has recovery codes. A passkey that verifies the user also signs in without the password.',
    status: 201,
    response: [RegisteredPasskeyEnvelope, 'The passkey. Recovery codes are returned only once.'],
    errors: [
      ...AVAILABILITY,
      SecurityErrors.invalidPasskey,
      SecurityErrors.passkeyRegistered,
      SecurityErrors.tooManyPasskeys,
      SecurityErrors.notFound,
      Errors.tooManyRequests,
    ],
  })
  @Tenantless()
  @WithoutSecondFactor()
  @RateLimited(PROOF_LIMIT)
  async register(
    @Ctx() ctx: AccountContext,
    @Body() body: RegisterPasskey,
  ): Promise<RegisteredPasskeyEnvelope> {
    const { passkey, recoveryCodes } = await this.passkeys.register(ctx, body.name, body.credential);
    return { passkey, ...(recoveryCodes && { recovery_codes: recoveryCodes }) };
  }

  @Endpoint('POST page', {
    id: 'createPasskeyPage',
    summary: 'Create a link to the page of your passkeys',
    description:
      'The page lists, adds, renames and removes passkeys in a browser. The link is a credential: it is valid for 15 minutes, and ends with this session. An account with neither a password nor a second factor needs a sign-in of the last ten minutes.',
    response: [PasskeyPage, 'The link. A new one replaces it.'],
    status: 200,
    errors: CONFIRMATION,
  })
  @Tenantless()
  @WithoutSecondFactor()
  @RateLimited(PASSWORD_LIMIT)
  async page(@Ctx() ctx: AccountContext, @Body() body: ConfirmOwner): Promise<PasskeyPage> {
    await this.passkeys.requireAllowed(ctx);
    await this.owners.assert(ctx, body);
    const { url, expiresIn } = await this.links.create(ctx);
    return { url, expires_in: expiresIn };
  }

  @Endpoint('PATCH :passkey_id', {
    id: 'renamePasskey',
    summary: 'Rename a passkey',
    description: 'Changes the name in this list only; the device keeps its own.',
    response: [PasskeyEnvelope, 'The passkey.'],
    errors: [SecurityErrors.notFound],
  })
  @Tenantless()
  async rename(
    @Ctx() ctx: AccountContext,
    @Id('passkey_id') id: string,
    @Body() body: RenamePasskey,
  ): Promise<PasskeyEnvelope> {
    return { passkey: await this.passkeys.rename(ctx, id, body.name) };
  }

  @Endpoint('DELETE :passkey_id', {
    id: 'removePasskey',
    summary: 'Remove a passkey',
    description:
      'Requires a proof of the second factor in this session within the last ten minutes (`verify-2fa` or `verify-passkey`). The removal of the last factor disables the second factor, unless a workspace requires one.',
    response: [PasskeyRemoved, 'The passkey was removed.'],
    errors: [SecurityErrors.notFound, Errors.secondFactorRequired, TenantErrors.requiredByPolicy],
  })
  @Tenantless()
  async remove(@Ctx() ctx: AccountContext, @Id('passkey_id') id: string): Promise<PasskeyRemoved> {
    await this.passkeys.requireOwned(ctx.userId, id);
    if (!(await this.confirmation.isFresh(ctx))) throw Errors.secondFactorRequired.with();
    await this.passkeys.remove(ctx, id);
    return { deleted: true };
  }
}

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
