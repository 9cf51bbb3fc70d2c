import { Injectable } from '@nestjs/common';
import { guestIdentity } from '../../model/call-identity.js';
import { CallServer, JOIN_TOKEN_SECONDS } from '../../call-server.js';
import { ServerRooms } from '../../server-rooms.js';
import type { JoinLivestream, VerifyViewer } from '../access/access.dto.js';
import type { JoinedLivestreamEnvelope, ViewerTokenEnvelope } from '../access/access.response.js';
import { GuestCodes } from '../guest-codes.js';
import { hashOf } from '../../../../platform/secrets/workspace-token.js';
import { GuestSessions } from '../guest-sessions.js';
import type { Visitor } from '../model/visitor.js';

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
