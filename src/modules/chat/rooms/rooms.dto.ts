import { ApiProperty, ApiPropertyOptional, PickType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsBoolean, IsDate, IsIn, IsOptional, IsUUID } from 'class-validator';
import { Line, Name, Nullable, Optional, Timestamp } from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import {
  CHAT_ROLES,
  type ChatRole,
  NOTIFY,
  ROOM_TYPES,
  type RoomType,
  VISIBILITIES,
} from '../chat.entity.js';

const MAX_NAME = 120;
const MAX_TOPIC = 500;
/** Members that one request adds. */
const MAX_ADDED = 200;
const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const FLAGS = ['true', 'false'];

const EachLowerCase = () =>
  Transform(({ value }: { value: unknown }) =>
    Array.isArray(value)
      ? [...new Set(value.map((entry: unknown) => (typeof entry === 'string' ? entry.toLowerCase() : entry)))]
      : value,
  );

export class ListRooms extends PickType(PageQuery, ['limit', 'cursor'] as const) {
  static readonly documentedErrors = PageQuery.documentedErrors;

  @ApiProperty({ enum: ROOM_TYPES, required: false, description: 'Only rooms of this type.' })
  @IsOptional()
  @IsIn(ROOM_TYPES)
  type?: RoomType;

  /** Archived rooms instead of the others. */
  @ApiProperty({ enum: FLAGS, required: false, default: 'false' })
  @IsOptional()
  @IsIn(FLAGS, { message: 'archived must be true or false' })
  archived: string = 'false';

  /** `false`: channels of the workspace that you may join, instead of your rooms. */
  @ApiProperty({ enum: FLAGS, required: false, default: 'true' })
  @IsOptional()
  @IsIn(FLAGS, { message: 'joined must be true or false' })
  joined: string = 'true';

  /** Only rooms with a message or a change after this time. */
  @ApiPropertyOptional({ type: String, format: 'date-time' })
  @IsOptional()
  @Timestamp()
  @IsDate({ message: 'updated_after must be a time in the format of RFC 3339' })
  updated_after?: Date;
}

export class CreateRoom {
  @ApiProperty({ enum: ROOM_TYPES, example: 'group' })
  @IsIn(ROOM_TYPES)
  type!: RoomType;

  /** Required for groups and channels; direct rooms have none. */
  @ApiPropertyOptional({ minLength: 1, maxLength: MAX_NAME, example: 'Offsite 2027' })
  @Optional()
  @Name(MAX_NAME)
  name?: string;

  @ApiPropertyOptional({ maxLength: MAX_TOPIC, example: 'Rooms, trains, talks' })
  @Optional()
  @Line(MAX_TOPIC)
  topic?: string;

  /** `tenant`, for channels only: any member of the workspace may find and join it. */
  @ApiPropertyOptional({ enum: VISIBILITIES, example: 'private' })
  @Optional()
  @IsIn(VISIBILITIES)
  visibility?: (typeof VISIBILITIES)[number];

  /** Ids of the other members; for a direct room exactly one. */
  @ApiPropertyOptional({ type: [String], format: 'uuid', maxItems: MAX_ADDED, default: [], example: [] })
  @EachLowerCase()
  @IsOptional()
  @ArrayMaxSize(MAX_ADDED)
  @IsUUID(undefined, { each: true })
  @IsArray()
  member_ids: string[] = [];
}

/** Fields of the room, for moderators and owners, and settings of the caller. */
export class UpdateRoom extends PickType(CreateRoom, ['name', 'topic', 'visibility'] as const) {
  /** An archived room can be read only. */
  @ApiPropertyOptional({ example: false })
  @Optional()
  @IsBoolean()
  archived?: boolean;

  /** Which messages notify you. */
  @ApiPropertyOptional({ enum: NOTIFY, example: 'all' })
  @Optional()
  @IsIn(NOTIFY)
  notify?: (typeof NOTIFY)[number];

  /** Until then, messages do not notify you. */
  @ApiPropertyOptional({ type: String, format: 'date-time', nullable: true, example: null })
  @Nullable()
  @Timestamp()
  @IsDate({ message: 'muted_until must be a time in the format of RFC 3339' })
  muted_until?: Date | null;
}

export class AddMembers {
  /** One user, instead of `user_ids`. */
  @ApiPropertyOptional({ format: 'uuid', example: ID })
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toLowerCase() : value))
  @Optional()
  @IsUUID()
  user_id?: string;

  @ApiPropertyOptional({ type: [String], format: 'uuid', maxItems: MAX_ADDED, example: [ID] })
  @EachLowerCase()
  @Optional()
  @ArrayMaxSize(MAX_ADDED)
  @IsUUID(undefined, { each: true })
  @IsArray()
  user_ids?: string[];

  /** Also changes the role of users who are members already. */
  @ApiPropertyOptional({ enum: CHAT_ROLES, example: 'member' })
  @Optional()
  @IsIn(CHAT_ROLES)
  role?: ChatRole;
}
