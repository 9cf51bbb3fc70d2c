import { PickType } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
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
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';
import {
  CHAT_ROLES,
  type ChatRole,
  NOTIFY,
  ROOM_TYPES,
  type RoomType,
  VISIBILITIES,
} from '../chat.entity.js';
import { Ids, LowerCase } from '../socket-room.dto.js';

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
