import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { UUID } from '../../../platform/field-docs/field-docs.js';
import { PRESENCE_STATUSES, type PresenceStatus } from '../../presence/index.js';

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
