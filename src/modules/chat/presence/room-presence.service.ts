import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { MAX_LIMIT, type PageQuery } from '../../../platform/paging/page.dto.js';
import { defineClientEvent } from '../../../platform/realtime/event-declarations.js';
import { SocketEvents } from '../../../platform/realtime/socket-events.js';
import { PresenceApi } from '../../presence/index.js';
import { ChatApi } from '../chat.api.js';
import { SocketRoom } from '../socket-room.dto.js';
import { RoomPresenceRepository } from './room-presence.repository.js';
import {
  OpenedRoomResponse,
  type RoomPresenceEnvelope,
  type RoomPresenceResponse,
} from './room-presence.response.js';

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
