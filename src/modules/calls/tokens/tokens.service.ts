import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { CallAccess } from '../call-access.js';
import { roomNameOf, userIdentity } from '../model/call-identity.js';
import { CallServer, JOIN_TOKEN_SECONDS } from '../call-server.js';
import { CallStarts } from '../changes/call-starts.js';
import { CallErrors } from '../calls.errors.js';
import { ServerRooms } from '../server-rooms.js';
import type { CallTokenResponse } from './tokens.response.js';
import { TokensRepository } from './tokens.repository.js';

/**
 * Mints tokens with which members join calls. Access, state and capacity are checked at each request. The media server enforces the
 * exact number of connections; the check here rejects a full call before the client connects.
 */
@Injectable()
export class TokensService {
  constructor(
    private readonly tokens: TokensRepository,
    private readonly access: CallAccess,
    private readonly starts: CallStarts,
    private readonly rooms: ServerRooms,
    private readonly server: CallServer,
  ) {}

  /**
   * @param id of the call, or of a chat room with a live call
   * @throws ApiError 404, 403 for a scheduled call without `calls.start`, 409 `call_ended`, `call_full`, `call_in_progress`,
   *   `room_archived`, 503
   */
  async mint(ctx: RequestContext, id: string, audioOnly: boolean): Promise<CallTokenResponse> {
    const url = this.server.clientUrl;
    const identity = userIdentity(ctx.userId, ctx.sessionId);
    const call = await this.tokens.joinable(ctx, id, identity);
    if (!call) throw CallErrors.callNotFound.with();
    if (call.state === 'ended') throw CallErrors.callEnded.with();
    if (call.connected >= call.max_participants) throw CallErrors.callFull.with();
    const key = { tenantId: ctx.tenantId, callId: call.id };
    if (call.state === 'scheduled') {
      if (call.role === 'member') await this.access.assertPermission(ctx, 'calls.start');
      await this.starts.start(ctx, key);
    }
    await this.rooms.prepare(key, call);
    const sends = call.kind === 'meeting' || call.role !== 'member';
    const request = {
      identity,
      name: call.display_name,
      role: sends ? 'member' : 'listener',
      audioOnly,
    } as const;
    const token = await this.server.mintToken(key, request);
    return { token, url, room: roomNameOf(key), identity, expires_in: JOIN_TOKEN_SECONDS, call_id: call.id };
  }
}
