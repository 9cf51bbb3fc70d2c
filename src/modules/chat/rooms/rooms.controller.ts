import { Body, Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { ChatErrors } from '../chat.dto.js';
import {
  AddedChatMembersEnvelope,
  AddMembers,
  ChatMemberListEnvelope,
  ChatRoomEnvelope,
  ChatRoomListEnvelope,
  CreateRoom,
  DeletedChatRoomEnvelope,
  ListRooms,
  RemovedChatMemberEnvelope,
  UpdateRoom,
} from './rooms.dto.js';
import { RoomMembersService } from './room-members.service.js';
import { RoomsService } from './rooms.service.js';

@ApiTags('chat')
@Controller('chat/rooms')
export class RoomsController {
  constructor(
    private readonly rooms: RoomsService,
    private readonly roomMembers: RoomMembersService,
  ) {}

  @Endpoint('GET', {
    id: 'listChatRooms',
    summary: 'List your rooms',
    description: 'The most recently active room first.',
    response: [ChatRoomListEnvelope, 'A page of rooms.'],
  })
  list(@Ctx() ctx: RequestContext, @Query() query: ListRooms) {
    return this.rooms.list(ctx, query);
  }

  @Endpoint('POST', {
    id: 'createChatRoom',
    summary: 'Create a room',
    description:
      'You become its owner. Two users have one direct room: if it exists, the response has status 200 and that room.',
    status: 201,
    location: true,
    response: [ChatRoomEnvelope, 'The new room.'],
    unchanged: 'The direct room that exists.',
    example: { type: 'group', name: 'Offsite 2027', topic: 'Rooms, trains, talks', member_ids: [] },
    errors: [ChatErrors.userNotFound, ChatErrors.directRoom, ChatErrors.tooManyRooms],
  })
  @Requires('chat.rooms.create')
  create(@Ctx() ctx: RequestContext, @Idempotency() key: IdempotencyKey | null, @Body() body: CreateRoom) {
    return this.rooms.create(ctx, key, body);
  }

  @Endpoint('GET :id', {
    id: 'readChatRoom',
    summary: 'Read a room',
    description: 'For its members. Any user of the workspace can read a room that is open to the workspace.',
    response: [ChatRoomEnvelope, 'The room with its first members.'],
    errors: [ChatErrors.roomNotFound],
  })
  read(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.rooms.read(ctx, id);
  }

  @Endpoint('PUT :id', {
    id: 'updateChatRoom',
    summary: 'Update a room, or your settings of it',
    description:
      'Missing fields stay. `name`, `topic`, `visibility` and `archived` are for moderators, owners and members with the permission `chat.rooms.moderate`; `notify` and `muted_until` are your own. A change of the room appears as a message of the kind `system`.',
    response: [ChatRoomEnvelope, 'The room as it is now.'],
    example: { topic: 'Rooms, trains, talks and food' },
    errors: [ChatErrors.roomNotFound, Errors.forbidden, ChatErrors.directRoom],
  })
  update(@Ctx() ctx: RequestContext, @Id() id: string, @CheckedBody(UpdateRoom) body: Checked<UpdateRoom>) {
    return this.rooms.update(ctx, id, body);
  }

  @Endpoint('DELETE :id', {
    id: 'deleteChatRoom',
    summary: 'Delete a room',
    description:
      'Deletes the room for all members, with its messages and files. For owners and members with the permission `chat.rooms.moderate`. To keep the messages, archive the room.',
    response: [DeletedChatRoomEnvelope, 'The room as it last was.'],
    errors: [ChatErrors.roomNotFound, Errors.forbidden, ChatErrors.directRoom],
  })
  delete(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.rooms.delete(ctx, id);
  }

  @Endpoint('GET :id/members', {
    id: 'listChatRoomMembers',
    summary: 'List the members of a room',
    description: 'By name, with their roles. For users who can read the room.',
    response: [ChatMemberListEnvelope, 'A page of members.'],
    errors: [ChatErrors.roomNotFound],
  })
  members(@Ctx() ctx: RequestContext, @Id() id: string, @Query() query: PageQuery) {
    return this.roomMembers.list(ctx, id, query);
  }

  @Endpoint('POST :id/members', {
    id: 'addChatRoomMembers',
    summary: 'Add members to a room, or change their role',
    description:
      'Any member of a group or of a channel of the workspace may add others, and any user may join such a channel; in a private channel, only moderators and owners add members. Only owners change roles.',
    status: 201,
    response: [AddedChatMembersEnvelope, 'Members were added, or their role changed.'],
    unchanged: 'They are members already.',
    example: { user_ids: ['01890a5d-ac96-774b-bcce-b302099a8057'] },
    errors: [
      ChatErrors.roomNotFound,
      Errors.forbidden,
      ChatErrors.userNotFound,
      ChatErrors.roomArchived,
      ChatErrors.lastOwner,
      ChatErrors.directRoom,
      ChatErrors.tooManyMembers,
      ChatErrors.tooManyRooms,
    ],
  })
  addMembers(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(AddMembers) body: Checked<AddMembers>,
  ) {
    return this.roomMembers.add(ctx, id, body);
  }

  @Endpoint('DELETE :id/members/:member_id', {
    id: 'removeChatRoomMember',
    summary: 'Remove a member from a room, or leave it',
    description:
      'With your own id you leave the room. Moderators remove members, owners remove any member. A room keeps at least one owner.',
    response: [RemovedChatMemberEnvelope, 'The user is no longer a member.'],
    errors: [
      ChatErrors.roomNotFound,
      ChatErrors.memberNotFound,
      Errors.forbidden,
      ChatErrors.lastOwner,
      ChatErrors.directRoom,
    ],
  })
  removeMember(@Ctx() ctx: RequestContext, @Id() id: string, @Id('member_id') memberId: string) {
    return this.roomMembers.remove(ctx, id, memberId);
  }
}
