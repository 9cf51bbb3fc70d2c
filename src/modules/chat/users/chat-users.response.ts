import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { PRESENCE_STATUSES, type PresenceStatus } from '../../presence/index.js';

export class ChatUserResponse {
  @ApiProperty({ format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' }) id!: string;
  /** @example "Alice Martin" */ display_name!: string;
  /** @example "alice@demo.example" */ email!: string;
  @ApiProperty({ type: String, nullable: true, example: null }) avatar_url!: string | null;
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
