import { Body, Controller, Injectable, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { CallAccess } from '../call-access.js';
import { CallServer, JOIN_TOKEN_SECONDS } from '../call-server.js';
import { CallErrors } from '../calls.dto.js';
import type { MemberRole } from '../calls.repository.js';
import type { CallState } from '../calls.schema.js';
import { CallStarts } from '../changes/call-changes.js';
import { roomNameOf, userIdentity } from '../model/call-events.js';
import { type CallPlaces, ServerRooms } from '../server-rooms.js';
import { CallTokenResponse, MintQuery, MintToken } from './tokens.dto.js';

/** A call as a member is about to join it. `connected` counts neither viewers nor the identity of the member. */
export interface JoinableCall extends CallPlaces {
  id: string;
  state: CallState;
  role: MemberRole;
  display_name: string;
}

// The call is found by its id, or by that of the chat room with its live call. Indexes: the primary key, calls_live_in_room.
const joinable = workspace.statement<JoinableCall>(
  'calls.joinable',
  `SELECT call.id, call.kind, call.state, access.role, access.display_name, call.max_participants, call.max_viewers, (
            SELECT count(*)::int FROM call_participants participant
             WHERE participant.tenant_id = $1 AND participant.call_id = call.id AND participant.left_at IS NULL
               AND participant.principal_kind <> 'viewer' AND participant.identity <> $4) AS connected
     FROM calls call
     JOIN call_access access ON access.tenant_id = $1 AND access.call_id = call.id AND access.user_id = $2
    WHERE call.tenant_id = $1 AND (call.id = $3 OR call.room_id = $3 AND call.state = 'live')
    ORDER BY call.id <> $3 LIMIT 1`,
  { pipelined: true },
);

/** SQL of tokens for members. */
@Injectable()
export class TokensRepository {
  constructor(private readonly db: Db) {}

  /** @returns undefined for an unknown id, a call without access, or a room without a live call */
  async findJoinable(
    { tenantId, userId }: RequestContext,
    id: string,
    identity: string,
  ): Promise<JoinableCall | undefined> {
    return (await this.db.query(joinable, [tenantId, userId, id, identity]))[0];
  }
}

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
    const call = await this.tokens.findJoinable(ctx, id, identity);
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

const DESCRIPTION =
  'For users who may join. `room_id` is the id of a call, or of a chat room with a live call. A scheduled call starts with its first token, for its host, moderators and members with the permission `calls.start`. The token must be used within two minutes; mint a new one to connect again.';
const ERRORS = [
  CallErrors.callNotFound,
  Errors.forbidden,
  CallErrors.callEnded,
  CallErrors.callFull,
  CallErrors.callInProgress,
  CallErrors.roomArchived,
  CallErrors.serverNotConfigured,
  CallErrors.serverUnavailable,
  CallErrors.serverFaulty,
];

@ApiTags('meetings')
@Controller('call/tokens')
export class TokensController {
  constructor(private readonly tokens: TokensService) {}

  @Endpoint('GET :room_id/mint', {
    id: 'readCallToken',
    summary: 'Mint a token to join a call (GET)',
    description: DESCRIPTION,
    response: [CallTokenResponse, 'The token.'],
    errors: ERRORS,
  })
  get(
    @Ctx() ctx: RequestContext,
    @Id('room_id') id: string,
    @Query() query: MintQuery,
  ): Promise<CallTokenResponse> {
    return this.tokens.mint(ctx, id, query.audio_only === 'true');
  }

  @Endpoint('POST :room_id/mint', {
    id: 'mintCallToken',
    summary: 'Mint a token to join a call',
    description: DESCRIPTION,
    status: 200,
    response: [CallTokenResponse, 'The token.'],
    optionalBody: true,
    errors: ERRORS,
  })
  mint(
    @Ctx() ctx: RequestContext,
    @Id('room_id') id: string,
    @Body() body: MintToken,
  ): Promise<CallTokenResponse> {
    return this.tokens.mint(ctx, id, body.audio_only ?? false);
  }
}
