import { Controller, Injectable, type OnModuleInit, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { MAX_LIMIT, PageQuery } from '../../../platform/paging/page.dto.js';
import { defineClientEvent } from '../../../platform/realtime/event-declarations.js';
import { SocketEvents } from '../../../platform/realtime/socket-events.js';
import { PresenceApi } from '../../presence/index.js';
import { ChatApi } from '../chat.api.js';
import { ChatErrors, SocketRoom } from '../chat.dto.js';
import {
  OpenedRoomResponse,
  RoomPresenceEnvelope,
  type RoomPresenceResponse,
} from './room-presence.response.js';

const members = workspace.statement<RoomPresenceResponse>(
  'room_presence.members',
  `SELECT presence.user_id, presence.status, presence.text,
          rfc3339(presence.last_active_at) AS last_active_at,
          EXISTS (
            SELECT FROM presence_viewers viewer
             WHERE viewer.tenant_id = $1 AND viewer.user_id = member.user_id AND viewer.room_id = $2) AS viewing
     FROM chat_members member
     JOIN presence_views presence
       ON presence.tenant_id = $1 AND presence.user_id = member.user_id AND presence.status <> 'offline'
     JOIN member_profiles profile ON profile.tenant_id = $1 AND profile.user_id = member.user_id AND profile.status = 'active'
    WHERE member.tenant_id = $1 AND member.room_id = $2 AND ($3::uuid IS NULL OR member.user_id > $3)
    ORDER BY member.user_id LIMIT $4`,
);

/** SQL of the presence of members of rooms. */
@Injectable()
export class RoomPresenceRepository {
  constructor(private readonly db: Db) {}

  /** Members who are not offline, by id. */
  async members(
    { tenantId }: RequestContext,
    roomId: string,
    after: string | undefined,
    limit: number,
  ): Promise<RoomPresenceResponse[]> {
    return this.db.query(members, [tenantId, roomId, after ?? null, limit]);
  }
}

const OPEN = defineClientEvent(
  'room.open',
  'Report that this device shows the room. Members see it in the presence of the room.',
  SocketRoom,
  OpenedRoomResponse,
);
const CLOSE = defineClientEvent(
  'room.close',
  'Report that this device no longer shows the room.',
  SocketRoom,
);

/** Presence of the members of a room, and the rooms that devices show. */
@Injectable()
export class RoomPresenceService implements OnModuleInit {
  constructor(
    private readonly repository: RoomPresenceRepository,
    private readonly rooms: ChatApi,
    private readonly presence: PresenceApi,
    private readonly events: SocketEvents,
    private readonly cursors: Cursors,
  ) {}

  onModuleInit(): void {
    this.events.register(OPEN, async (connection, { room_id: roomId }) => {
      const { mod_seq } = await this.rooms.roomOf(connection.ctx, roomId);
      this.presence.view(connection, roomId, true);
      const rows = await this.repository.members(connection.ctx, roomId, undefined, MAX_LIMIT);
      return { mod_seq, presence: rows };
    });
    this.events.register(CLOSE, async (connection, { room_id: roomId }) => {
      this.presence.view(connection, roomId, false);
      return {};
    });
  }

  /** Members who are not offline. @throws ApiError 404 */
  async list(ctx: RequestContext, roomId: string, query: PageQuery): Promise<RoomPresenceEnvelope> {
    await this.rooms.roomOf(ctx, roomId);
    const { rows, next } = await this.cursors.page(query, {
      scope: `room_presence ${ctx.tenantId} ${ctx.userId} ${roomId}`,
      key: ({ user_id }: RoomPresenceResponse): [string] => [user_id],
      rows: (after, limit) => this.repository.members(ctx, roomId, after?.[0], limit),
    });
    return { presence: rows, next, as_of: new Date().toISOString() };
  }
}

@ApiTags('presence')
@Controller('presence/rooms')
export class RoomPresenceController {
  constructor(private readonly presence: RoomPresenceService) {}

  @Endpoint('GET :room_id', {
    id: 'listRoomPresence',
    summary: 'List the presence of the members of a room',
    description: 'Members who are not offline. For members of the room.',
    response: [RoomPresenceEnvelope, 'A page of members.'],
    errors: [ChatErrors.roomNotFound],
  })
  list(
    @Ctx() ctx: RequestContext,
    @Id('room_id') roomId: string,
    @Query() query: PageQuery,
  ): Promise<RoomPresenceEnvelope> {
    return this.presence.list(ctx, roomId, query);
  }
}
