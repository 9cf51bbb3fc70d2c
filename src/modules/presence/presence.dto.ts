import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsBoolean, IsDate, IsIn, IsOptional, IsUUID } from 'class-validator';
import { Distinct, Line, Nullable, Timestamp } from '../../platform/http/input.decorators.js';
import { PageQuery } from '../../platform/paging/page.dto.js';
import { PRESENCE_CHOICES, type PresenceChoice } from './presence.entity.js';

const MAX_USERS = 200;
const MAX_TEXT = 100;
const IDS = `user_ids must contain at most ${MAX_USERS} ids, separated by commas`;

export class ListPresence extends PageQuery {
  /** Ids of users, separated by commas; then all of them are returned, offline users included. */
  @ApiPropertyOptional({ type: String })
  @Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' ? [...new Set(value.toLowerCase().split(','))] : value,
  )
  @IsOptional()
  @ArrayMaxSize(MAX_USERS, { message: IDS })
  @IsUUID(undefined, { each: true, message: IDS })
  @IsArray({ message: IDS })
  user_ids?: string[];
}

/** `presence.set`, `PUT /presence/me` */
export class SetPresence {
  /**
   * `online`: other users see the status of your devices. The others hold for all devices; with `invisible` other users see
   * you as offline.
   */
  @ApiProperty({ enum: PRESENCE_CHOICES, example: 'dnd' })
  @IsIn(PRESENCE_CHOICES)
  status!: PresenceChoice;

  @ApiPropertyOptional({ maxLength: MAX_TEXT, default: '', example: 'In a meeting' })
  @IsOptional()
  @Line(MAX_TEXT)
  text: string = '';

  /** End of the status and the text. */
  @ApiPropertyOptional({ type: String, format: 'date-time', nullable: true, example: null })
  @Nullable()
  @Timestamp()
  @IsDate({ message: 'until must be a time in RFC 3339' })
  until?: Date | null;
}

/** `presence.active` */
export class SetActive {
  /** Whether the user works on this device. */
  @ApiProperty({ example: true })
  @IsBoolean()
  active!: boolean;
}

/** `presence.subscribe` */
export class SubscribePresence {
  @ApiProperty({ type: [String], format: 'uuid', maxItems: MAX_USERS, example: [] })
  @Transform(({ value }: { value: unknown }) =>
    Array.isArray(value)
      ? value.map((entry: unknown) => (typeof entry === 'string' ? entry.toLowerCase() : entry))
      : value,
  )
  @Distinct()
  @ArrayMaxSize(MAX_USERS)
  @IsUUID(undefined, { each: true })
  @IsArray()
  user_ids!: string[];
}
