import { ApiProperty } from '@nestjs/swagger';
import { UUID } from '../../../platform/field-docs/field-docs.js';
import { ChatMessageResponse } from '../message.response.js';

export class ChatPositionResponse {
  /** Number of the newest message of the room. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 12 }) last_seq!: number;
  /** Number of the newest change of the room. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 14 }) mod_seq!: number;
}

export class ChatMessageListEnvelope {
  messages!: ChatMessageResponse[];
  /** There are further messages in the direction of the request. */
  @ApiProperty({ example: false }) has_more!: boolean;
  /** The room at the time of the response. */
  room!: ChatPositionResponse;
}

export class ChatMessageEnvelope {
  message!: ChatMessageResponse;
}

export class SentChatMessageEnvelope extends ChatMessageEnvelope {
  /** The message was sent by an earlier request with the same `client_msg_id`. */
  @ApiProperty({ example: false }) duplicate!: boolean;
}

export class ChatReadEnvelope {
  @ApiProperty({ type: 'integer', minimum: 0, example: 12 }) last_read_seq!: number;
  @ApiProperty({ type: 'integer', minimum: 0, example: 0 }) unread!: number;
}

export class ChatPartyUserResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "Bob Okafor" */ display_name!: string;
  /** @example "bob@demo.example" */ email!: string;
}

export class ChatPartyResponse {
  /** The id of the request: of the user or of the direct room. */
  @ApiProperty(UUID) id!: string;
  /** Null until the first of both creates the room. */
  @ApiProperty(UUID) room_id!: string | null;
  /** The other user. */
  users!: ChatPartyUserResponse[];
  @ApiProperty({ type: 'integer', minimum: 0, example: 0 }) unread!: number;
}

export class ChatPartyEnvelope {
  party!: ChatPartyResponse;
}
