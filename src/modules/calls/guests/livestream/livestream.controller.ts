import { Body, Controller, Injectable } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { hashOf } from '../../../../platform/secrets/secret-box.js';
import { CallServer, JOIN_TOKEN_SECONDS } from '../../call-server.js';
import { CallErrors } from '../../calls.dto.js';
import { guestIdentity } from '../../model/call-events.js';
import { ServerRooms } from '../../server-rooms.js';
import {
  CodeSentEnvelope,
  JoinedLivestreamEnvelope,
  JoinLivestream,
  RequestCode,
  VerifyViewer,
  ViewerTokenEnvelope,
} from '../access/access.dto.js';
import { GuestCodes } from '../guest-codes.js';
import { GuestEndpoint } from '../guest-endpoint.js';
import { GuestSessions } from '../guest-sessions.js';
import { GuestErrors } from '../guests.dto.js';
import { FromGuest, type Visitor } from '../model/visitor.js';

const VIEWER_SECONDS = 3_600;
/** The name of viewers who give none. Viewers are hidden from other participants. */
const VIEWER_NAME = 'Viewer';

/** The audience of livestreams. */
@Injectable()
export class LivestreamService {
  constructor(
    private readonly sessions: GuestSessions,
    private readonly codes: GuestCodes,
    private readonly calls: CallServer,
    private readonly rooms: ServerRooms,
  ) {}

  /** @throws ApiError 403, 404, 410, 422 `otp_invalid`, 429 `otp_locked` */
  async verify(visitor: Visitor, input: VerifyViewer): Promise<ViewerTokenEnvelope> {
    const values = this.codes.newGuest(visitor, 'livestream', { ...input, name: VIEWER_NAME });
    await this.sessions.verifyViewer(visitor, { ...values.guest, email: input.email }, VIEWER_SECONDS);
    return { viewer_token: values.session.token, expires_in: VIEWER_SECONDS };
  }

  /**
   * A place in the audience, with a token of the media server that can only watch.
   * @throws ApiError 403 `verification_required`, 404, 409 `not_live`, 410, 429 `livestream_full`, 503
   */
  async join(visitor: Visitor, { name, viewer_token }: JoinLivestream): Promise<JoinedLivestreamEnvelope> {
    const { clientUrl: url } = this.calls;
    const values = this.codes.newGuest(visitor, 'livestream', { name: name ?? VIEWER_NAME });
    const session = viewer_token === undefined ? null : hashOf(viewer_token);
    const joined = await this.sessions.joinAudience(visitor, session, values.guest, VIEWER_SECONDS);
    const { id, call_id, display_name } = joined.viewer;
    const identity = guestIdentity('viewer', id);
    const call = { tenantId: visitor.tenantId, callId: call_id as string };
    await this.rooms.prepare(call);
    const token = await this.calls.mintToken(call, { identity, name: display_name, role: 'viewer' });
    return {
      token,
      url,
      identity,
      expires_in: JOIN_TOKEN_SECONDS,
      viewer: { id },
      ...(joined.isNew && { viewer_token: values.session.token }),
    };
  }
}

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
