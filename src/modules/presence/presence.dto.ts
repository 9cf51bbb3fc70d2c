import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsOptional, IsUUID } from 'class-validator';
import { defineError } from '../../platform/http/errors.js';
import { Distinct, Flag, Line, Nullable, OneOf, Time } from '../../platform/http/input.decorators.js';
import { PageEnvelope, PageQuery } from '../../platform/paging/page.dto.js';
import {
  PRESENCE_CHOICES,
  PRESENCE_STATUSES,
  type PresenceChoice,
  type PresenceStatus,
} from './presence.schema.js';

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

const TIME = '2026-11-21T09:30:00.000Z';

export class PresenceResponse {
  @ApiProperty({ format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' }) user_id!: string;
  /** The best status of all devices. */
  @ApiProperty({ enum: PRESENCE_STATUSES, example: 'online' }) status!: PresenceStatus;
  /** Chosen by the user, also shown while the user is offline. @example "In a meeting" */ text!: string;
  /** Null before the first socket of the user. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: TIME })
  last_active_at!: string | null;
}

export class OwnPresenceResponse {
  /** `online`: other users see the status of your devices. */
  @ApiProperty({ enum: PRESENCE_CHOICES, example: 'dnd' }) status!: PresenceChoice;
  /** @example "In a meeting" */ text!: string;
  /** End of the status and the text. Null: no end. */
  @ApiProperty({ type: String, format: 'date-time', nullable: true, example: TIME }) until!: string | null;
}

export class PresenceEnvelope {
  presence!: PresenceResponse[];
  /** Time of the response. */
  @ApiProperty({ format: 'date-time', example: TIME }) as_of!: string;
}

export class PresenceListEnvelope extends PageEnvelope {
  presence!: PresenceResponse[];
  /** Time of the response. */
  @ApiProperty({ format: 'date-time', example: TIME }) as_of!: string;
}

export class OwnPresenceEnvelope {
  presence!: OwnPresenceResponse;
}

export const PresenceErrors = {
  userNotFound: defineError(404, 'not_found', 'The workspace has no such active user.'),
} as const;
