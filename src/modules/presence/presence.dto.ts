import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsOptional, IsUUID } from 'class-validator';
import { Distinct, Flag, Line, Nullable, OneOf, Time } from '../../platform/http/input.decorators.js';
import { PageQuery } from '../../platform/paging/page.dto.js';
import { PRESENCE_CHOICES, type PresenceChoice } from './presence.entity.js';

const MAX_USERS = 200;
const MAX_TEXT = 100;
const IDS = `user_ids must contain at most ${MAX_USERS} ids, separated by commas`;

export class ListPresence extends PageQuery {
  /** Ids of users, separated by commas. If given, all these users are returned, offline users included. */
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
   * `online`: other users see the status of your devices. The other values apply to all your devices; with `invisible`,
   * other users see you as offline.
   */
  @OneOf(PRESENCE_CHOICES, { example: 'dnd' }) status!: PresenceChoice;
  @IsOptional() @Line(MAX_TEXT, { example: 'In a meeting', required: false }) text: string = '';
  /** End of the status and the text. */
  @Nullable() @Time({ message: 'until must be a time in RFC 3339', example: null }) until?: Date | null;
}

/** `presence.active` */
export class SetActive {
  /** Whether the user works on this device. */
  @Flag({ example: true }) active!: boolean;
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
