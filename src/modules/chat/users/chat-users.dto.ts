import { ApiProperty } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { UUID } from '../../../platform/field-docs/field-docs.js';
import { Text } from '../../../platform/http/input.decorators.js';
import { PageEnvelope, PageQuery } from '../../../platform/paging/page.dto.js';
import { PRESENCE_STATUSES, type PresenceStatus } from '../../presence/index.js';

export class ListChatUsers extends PageQuery {
  /** Beginnings of words of a name or address. Ignores case and accents. */
  @IsOptional() @Text(200, { message: 'q must be given once' }) q?: string;
}

export class ChatUserResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "Alice Martin" */ display_name!: string;
  /** @example "alice@demo.example" */ email!: string;
  @ApiProperty({ example: null }) avatar_url!: string | null;
  @ApiProperty({ enum: PRESENCE_STATUSES, example: 'online' }) presence!: PresenceStatus;
  /** @example "In a meeting" */ status_text!: string;
}

export class OwnChatUserResponse extends ChatUserResponse {
  /** Unread messages of all rooms that are not archived. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 3 }) unread_total!: number;
  /** Rooms with unread messages. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 1 }) unread_rooms!: number;
}

export class OwnChatUserEnvelope {
  user!: OwnChatUserResponse;
}

export class ChatUserListEnvelope extends PageEnvelope {
  users!: ChatUserResponse[];
}
