import { ApiProperty, PickType } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import {
  DATE_TIME,
  EXAMPLE_ID,
  NO_DATE_TIME,
  orNull,
  UUID,
} from '../../../platform/field-docs/field-docs.js';
import {
  Flag,
  Line,
  Name,
  Nullable,
  OneOf,
  Optional,
  Time,
  Uuid,
} from '../../../platform/http/input.decorators.js';
import { PageEnvelope, PageQuery } from '../../../platform/paging/page.dto.js';
import { ItemFields } from '../../../platform/resources/item.response.js';
import { ChatMessageResponse, Ids, LowerCase } from '../chat.dto.js';
import {
  CHAT_ROLES,
  type ChatRole,
  NOTIFY,
  ROOM_TYPES,
  type RoomType,
  VISIBILITIES,
} from '../chat.schema.js';

const MAX_NAME = 120;
const MAX_TOPIC = 500;
/** Members that one request adds. */
const MAX_ADDED = 200;
const FLAGS = ['true', 'false'];

export class ListRooms extends PageQuery {
  @IsOptional()
  @OneOf(ROOM_TYPES, { required: false, description: 'Only rooms of this type.' })
  type?: RoomType;

  /** Archived rooms instead of the others. */
  @IsOptional()
  @OneOf(FLAGS, { message: 'archived must be true or false', required: false })
  archived: string = 'false';

  /** `false`: channels of the workspace that you may join, instead of your rooms. */
  @IsOptional()
  @OneOf(FLAGS, { message: 'joined must be true or false', required: false })
  joined: string = 'true';

  /** Only rooms with a message or a change after this time. */
  @IsOptional()
  @Time({ message: 'updated_after must be a time in the format of RFC 3339' })
  updated_after?: Date;
}

export class CreateRoom {
  @OneOf(ROOM_TYPES, { example: 'group' }) type!: RoomType;
  /** Required for groups and channels; direct rooms have none. */
  @Optional() @Name(MAX_NAME, { example: 'Offsite 2027' }) name?: string;
  @Optional() @Line(MAX_TOPIC, { example: 'Rooms, trains, talks' }) topic?: string;
  /** `tenant`, for channels only: any member of the workspace may find and join it. */
  @Optional() @OneOf(VISIBILITIES, { example: 'private' }) visibility?: (typeof VISIBILITIES)[number];

  /** Ids of the other members; for a direct room exactly one. */
  @IsOptional() @Ids(MAX_ADDED, { default: [], example: [] }) member_ids: string[] = [];
}

/** Fields of the room, for moderators and owners, and settings of the caller. */
export class UpdateRoom extends PickType(CreateRoom, ['topic', 'visibility'] as const) {
  /** Null for direct rooms, as in responses. */
  @Nullable() @Name(MAX_NAME, { example: 'Offsite 2027' }) name?: string | null;
  /** An archived room can be read only. */
  @Optional() @Flag({ example: false }) archived?: boolean;
  /** Which messages notify you. */
  @Optional() @OneOf(NOTIFY, { example: 'all' }) notify?: (typeof NOTIFY)[number];

  /** Until then, messages do not notify you. */
  @Nullable()
  @Time({ message: 'muted_until must be a time in the format of RFC 3339', example: null })
  muted_until?: Date | null;
}

export class AddMembers {
  /** One user, instead of `user_ids`. */
  @Optional()
  @LowerCase()
  @Uuid({ example: EXAMPLE_ID })
  user_id?: string;

  @Optional() @Ids(MAX_ADDED, { example: [EXAMPLE_ID] }) user_ids?: string[];

  /** Also changes the role of users who are members already. */
  @Optional() @OneOf(CHAT_ROLES, { example: 'member' }) role?: ChatRole;
}

export class ChatRoomUserResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "Bob Okafor" */ display_name!: string;
  /** @example "bob@demo.example" */ email!: string;
}

export class ChatMemberResponse extends ChatRoomUserResponse {
  @ApiProperty({ enum: ['user'], example: 'user' }) kind!: 'user';
  @ApiProperty({ enum: CHAT_ROLES, example: 'member' }) role!: ChatRole;
  @ApiProperty(DATE_TIME) joined_at!: string;
}

export class ChatRoomResponse extends ItemFields {
  @ApiProperty({ enum: ROOM_TYPES, example: 'group' }) type!: RoomType;
  /** Null for a direct room. */
  @ApiProperty({ example: 'Offsite 2027' }) name!: string | null;
  /** @example "Rooms, trains, talks" */ topic!: string;
  @ApiProperty({ enum: VISIBILITIES, example: 'private' }) visibility!: (typeof VISIBILITIES)[number];
  /** The other user of a direct room. */
  @ApiProperty(orNull(ChatRoomUserResponse)) user!: ChatRoomUserResponse | null;
  /** Your role; null for a channel that you may join. */
  @ApiProperty({ enum: [...CHAT_ROLES, null], example: 'owner' }) role!: ChatRole | null;
  @ApiProperty({ type: 'integer', minimum: 0, example: 3 }) members_count!: number;
  /** Null without messages, and for a channel that you may join. */
  @ApiProperty(orNull(ChatMessageResponse)) last_message!: ChatMessageResponse | null;
  @ApiProperty({ type: 'integer', minimum: 0, example: 12 }) last_seq!: number;
  @ApiProperty({ type: 'integer', minimum: 0, example: 14 }) mod_seq!: number;
  @ApiProperty({ type: 'integer', minimum: 0, example: 12 }) last_read_seq!: number;
  /** Messages of others after `last_read_seq`, without deleted ones and changes of the room, among its newest 1,000 messages. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 0 }) unread!: number;
  /** Messages among them that mention you, at most 100. */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 100, example: 0 }) mentions!: number;
  /** Null for a channel that you may join. */
  @ApiProperty({ enum: [...NOTIFY, null], example: 'all' }) notify!: (typeof NOTIFY)[number] | null;
  @ApiProperty(NO_DATE_TIME) muted_until!: string | null;
  @ApiProperty(NO_DATE_TIME) archived_at!: string | null;
}

/** The live call of a room. */
export class ActiveCallResponse {
  @ApiProperty(UUID) call_id!: string;
  /** @example "Offsite 2027" */ title!: string;
  @ApiProperty({ enum: ['meeting', 'livestream'], example: 'meeting' }) kind!: 'meeting' | 'livestream';
  @ApiProperty(DATE_TIME) started_at!: string;
  /** Connected now. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 3 }) participants!: number;
}

/** A room with its first members. */
export class ChatRoomDetailResponse extends ChatRoomResponse {
  /** Null for a channel that you may join. */
  @ApiProperty(orNull(ActiveCallResponse))
  active_call!: ActiveCallResponse | null;
  /** Owners and moderators first; at most 200. Empty for a channel that you may join. */
  @ApiProperty({ type: [ChatMemberResponse], example: [] }) members!: ChatMemberResponse[];
}

export class ChatRoomEnvelope {
  room!: ChatRoomDetailResponse;
}

export class DeletedChatRoomEnvelope extends ChatRoomEnvelope {
  @ApiProperty({ enum: [true], example: true }) deleted!: true;
}

export class ChatRoomListEnvelope extends PageEnvelope {
  rooms!: ChatRoomResponse[];
}

export class ChatMemberListEnvelope extends PageEnvelope {
  members!: ChatMemberResponse[];
}

export class AddedChatMembersEnvelope {
  /** The users of the request, as members. */
  members!: ChatMemberResponse[];
}

export class RemovedChatMemberEnvelope {
  @ApiProperty({ enum: [true], example: true }) removed!: true;
}
