import { Body, Controller } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { ApiFile, FILE_VERSION } from '../../../../platform/http/api-docs.js';
import { Errors } from '../../../../platform/http/errors.js';
import type { JsonReply } from '../../../../platform/http/json-reply.js';
import type { BodyReply } from '../../../../platform/http/replies/body-reply.js';
import { TenantErrors } from '../../../tenants/index.js';
import { CallErrors } from '../../calls.dto.js';
import { GuestCodes } from '../guest-codes.js';
import { GuestErrors } from '../guests.dto.js';
import { GuestEndpoint } from '../guest-endpoint.js';
import { FromGuest, type Visitor } from '../model/visitor.js';
import {
  CallSessionEnvelope,
  ClaimedInviteEnvelope,
  ClaimInvite,
  CodeSentEnvelope,
  GuestStatusEnvelope,
  LeftSessionEnvelope,
  RenewedSessionEnvelope,
  RenewSession,
  RequestCode,
  StartCallSession,
  WaitingSessionEnvelope,
} from './access.dto.js';
import { GuestAccessService } from './access.service.js';

@ApiTags('guests')
@Controller('call/external/:invite_token')
export class GuestAccessController {
  constructor(
    private readonly access: GuestAccessService,
    private readonly codes: GuestCodes,
  ) {}

  @GuestEndpoint('GET status', {
    id: 'readGuestStatus',
    summary: 'Read an invite and the state of the guest',
    description: 'Poll it while you wait: a guest without a request for 10 minutes leaves the queue.',
    session: 'optional',
    response: [GuestStatusEnvelope, 'The invite, the call, and the guest of the session.'],
  })
  status(@FromGuest() visitor: Visitor): Promise<GuestStatusEnvelope> {
    return this.access.status(visitor);
  }

  @GuestEndpoint('GET logo', {
    id: 'readGuestLogo',
    summary: 'Read the logo of the workspace',
    description: 'PNG, JPEG or WebP.',
    errors: [TenantErrors.noLogo],
  })
  @ApiFile('image/*', 'The image.', FILE_VERSION)
  logo(@FromGuest() visitor: Visitor): Promise<BodyReply> {
    return this.access.logo(visitor);
  }

  @GuestEndpoint('POST otp', {
    id: 'requestGuestCode',
    creates: true,
    summary: 'Request a code by mail',
    description:
      'The response is the same for any address. A new code replaces the previous one. At most 3 codes in 15 minutes and 10 in a day for an address, 20 in an hour for a network.',
    status: 202,
    response: [CodeSentEnvelope, 'A mail is sent if the address fits the invite.'],
    errors: [GuestErrors.callLocked, GuestErrors.otherRole, GuestErrors.inviteExhausted],
  })
  requestCode(@FromGuest() visitor: Visitor, @Body() body: RequestCode): Promise<CodeSentEnvelope> {
    return this.codes.request(visitor, 'join', body);
  }

  @GuestEndpoint('POST claim', {
    id: 'claimGuestInvite',
    creates: true,
    summary: 'Become a guest',
    description:
      'A guest waits until a host decides, if the invite requires it. A claim with the same verified address continues as the same guest and ends the earlier session.',
    status: 201,
    response: [ClaimedInviteEnvelope, 'The guest with a session.'],
    errors: [
      GuestErrors.callLocked,
      GuestErrors.guestRemoved,
      GuestErrors.otherRole,
      GuestErrors.inviteExhausted,
      GuestErrors.codeInvalid,
      GuestErrors.codeLocked,
    ],
  })
  claim(@FromGuest() visitor: Visitor, @Body() body: ClaimInvite): Promise<ClaimedInviteEnvelope> {
    return this.access.claim(visitor, body);
  }

  @GuestEndpoint('POST session/mint', {
    id: 'renewGuestSession',
    summary: 'Renew the session of a guest',
    description:
      'A guest token can be used once. The use of an earlier token ends all sessions of the guest.',
    status: 200,
    response: [RenewedSessionEnvelope, 'A new session and a new guest token.'],
    errors: [GuestErrors.guestTokenInvalid, GuestErrors.sessionReused, GuestErrors.guestRemoved],
  })
  renew(@FromGuest() visitor: Visitor, @Body() body: RenewSession): Promise<RenewedSessionEnvelope> {
    return this.access.renew(visitor, body.guest_token);
  }

  @GuestEndpoint('POST session/leave', {
    id: 'leaveGuestSession',
    summary: 'End the session of a guest',
    description: 'A guest who was admitted may come back while the call is live: renew the session.',
    session: 'optional',
    status: 200,
    response: [LeftSessionEnvelope, 'The session has ended, or there was none.'],
  })
  leave(@FromGuest() visitor: Visitor): Promise<LeftSessionEnvelope> {
    return this.access.leave(visitor);
  }

  @GuestEndpoint<CallSessionEnvelope, JsonReply<WaitingSessionEnvelope>>('POST call_session', {
    id: 'startGuestCallSession',
    summary: 'Get a token of the media server',
    description: 'A denied guest may request approval again after 60 seconds, at most three times in total.',
    session: 'required',
    optionalBody: true,
    errors: [
      GuestErrors.guestDenied,
      GuestErrors.guestRemoved,
      GuestErrors.callLocked,
      GuestErrors.chatOnly,
      GuestErrors.callNotLive,
      CallErrors.callFull,
      CallErrors.serverNotConfigured,
      CallErrors.serverUnavailable,
      CallErrors.serverFaulty,
      Errors.validationFailed,
    ],
  })
  @ApiExtraModels(CallSessionEnvelope, WaitingSessionEnvelope)
  @ApiResponse({
    status: 200,
    description: 'The token, for an admitted guest.',
    schema: { $ref: getSchemaPath(CallSessionEnvelope) },
  })
  @ApiResponse({
    status: 202,
    description: 'The guest waits.',
    schema: { $ref: getSchemaPath(WaitingSessionEnvelope) },
  })
  enter(@FromGuest() visitor: Visitor, @Body() body: StartCallSession) {
    return this.access.enter(visitor, body.audio_only ?? false);
  }
}
