import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { ChatErrors } from '../chat.errors.js';
import { RoomPresenceEnvelope } from './room-presence.response.js';
import { RoomPresenceService } from './room-presence.service.js';

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
