import { Body, Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CallErrors } from '../../calls.errors.js';
import { JoinLivestream, RequestCode, VerifyViewer } from '../access/access.dto.js';
import {
  CodeSentEnvelope,
  JoinedLivestreamEnvelope,
  ViewerTokenEnvelope,
} from '../access/access.response.js';
import { GuestCodes } from '../guest-codes.js';
import { GuestErrors } from '../guests.errors.js';
import { GuestEndpoint } from '../guest-endpoint.js';
import { FromGuest, type Visitor } from '../model/visitor.js';
import { LivestreamService } from './livestream.service.js';

@ApiTags('guests')
@Controller('call/external/:invite_token')
export class LivestreamController {
  constructor(
    private readonly livestreams: LivestreamService,
    private readonly codes: GuestCodes,
  ) {}

  @GuestEndpoint('POST livestream_verify/request', {
    id: 'requestViewerCode',
    creates: true,
    summary: 'Request a code to watch a livestream',
    description: 'Like the request for a code to join as a guest. Its codes are counted separately.',
    status: 202,
    response: [CodeSentEnvelope, 'A mail is sent if the address fits the invite.'],
    errors: [GuestErrors.callLocked, GuestErrors.otherRole, GuestErrors.inviteExhausted],
  })
  requestCode(@FromGuest() visitor: Visitor, @Body() body: RequestCode): Promise<CodeSentEnvelope> {
    return this.codes.request(visitor, 'livestream', body);
  }

  @GuestEndpoint('POST livestream_verify', {
    id: 'verifyViewer',
    creates: true,
    summary: 'Verify the address of a viewer',
    description:
      'Takes the code of the mail and returns a viewer token, valid for one hour, for `livestream_join`.',
    status: 200,
    response: [ViewerTokenEnvelope, 'A token to join with.'],
    errors: [
      GuestErrors.callLocked,
      GuestErrors.guestRemoved,
      GuestErrors.otherRole,
      GuestErrors.inviteExhausted,
      GuestErrors.codeInvalid,
      GuestErrors.codeLocked,
    ],
  })
  verify(@FromGuest() visitor: Visitor, @Body() body: VerifyViewer): Promise<ViewerTokenEnvelope> {
    return this.livestreams.verify(visitor, body);
  }

  @GuestEndpoint('POST livestream_join', {
    id: 'joinLivestream',
    creates: true,
    summary: 'Join the audience of a livestream',
    description: 'With a viewer token the same viewer joins again, without a second place.',
    status: 200,
    optionalBody: true,
    response: [JoinedLivestreamEnvelope, 'A token of the media server that can only watch.'],
    errors: [
      GuestErrors.verificationRequired,
      GuestErrors.guestRemoved,
      GuestErrors.callLocked,
      GuestErrors.otherRole,
      GuestErrors.inviteExhausted,
      GuestErrors.notLive,
      GuestErrors.livestreamFull,
      CallErrors.serverNotConfigured,
      CallErrors.serverUnavailable,
      CallErrors.serverFaulty,
    ],
  })
  join(@FromGuest() visitor: Visitor, @Body() body: JoinLivestream): Promise<JoinedLivestreamEnvelope> {
    return this.livestreams.join(visitor, body);
  }
}
