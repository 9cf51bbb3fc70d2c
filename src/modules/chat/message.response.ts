import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ErrorResponse } from '../../platform/http/error.response.js';
import {
  DATE_TIME,
  EXAMPLE_ID,
  NO_DATE_TIME,
  NO_UUID,
  orNull,
  UUID,
} from '../../platform/field-docs/field-docs.js';
import { CHAT_ROLES, FORMATS } from './chat.entity.js';

/** Changes of a room, and steps of a call in it. */
export const CHAT_EVENTS = [
  'members_added',
  'member_removed',
  'role_changed',
  'room_updated',
  'call_started',
  'call_ended',
  'recording_ready',
] as const;

export class ChatSenderResponse {
  /** A member of the workspace, or a guest from outside. */
  @ApiProperty({ enum: ['user', 'guest'], example: 'user' }) kind!: 'user' | 'guest';
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ example: 'Alice Martin' }) display_name!: string | null;
}

/** The incoming webhook by which a program has posted a message with the rights of the sender. */
export class ChatOriginResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "Build server" */ name!: string;
}

export class ChatAttachmentResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "quote.pdf" */ name!: string;
  /** Bytes. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 48213 }) size!: number;
  /** Detected from the content. @example "application/pdf" */ content_type!: string;
  @ApiProperty({ example: 'a3'.repeat(32), description: 'Hexadecimal.' }) sha256!: string;
  @ApiProperty({ example: `/apis/v1/chat/attachments/${EXAMPLE_ID}` }) url!: string;
  /** A small JPEG of a PNG, JPEG, GIF or WebP image. Null for other files, and for images that cannot be read. */
  @ApiProperty({ example: null }) thumbnail_url!: string | null;
}

export class ChatReactionResponse {
  /** @example "👍" */ emoji!: string;
  @ApiProperty({ type: 'integer', minimum: 1, example: 1 }) count!: number;
  @ApiProperty({ type: [String], format: 'uuid', example: [EXAMPLE_ID] }) user_ids!: string[];
}

/** The change that a message of the kind `system` or `call` reports. */
export class ChatEventResponse {
  @ApiProperty({ enum: CHAT_EVENTS, example: 'members_added' }) type!: (typeof CHAT_EVENTS)[number];
  /** The members that were added or removed, or whose role changed. */
  @ApiProperty({ type: [String], format: 'uuid', required: false, example: [EXAMPLE_ID] })
  user_ids?: string[];
  @ApiProperty({ enum: CHAT_ROLES, required: false, example: 'member' }) role?: string;
  /** New values of fields of the room. */
  @ApiPropertyOptional({ type: 'object', additionalProperties: true, example: { name: 'Offsite 2027' } })
  changes?: Record<string, unknown>;
  /** Of a message of the kind `call`. */
  @ApiProperty({ format: 'uuid', required: false, example: EXAMPLE_ID }) call_id?: string;
  @ApiProperty({ required: false, example: 'Offsite 2027' }) title?: string;
  /** Of a call or a recording that has ended. */
  @ApiProperty({ type: 'integer', minimum: 0, required: false, example: 1_800_000 }) duration_ms?: number;
  /** Users and guests that joined the call. */
  @ApiProperty({ type: 'integer', minimum: 0, required: false, example: 3 }) participants?: number;
  @ApiProperty({ format: 'uuid', required: false, example: EXAMPLE_ID }) recording_id?: string;
}

export class ChatMessageResponse {
  @ApiProperty(UUID) id!: string;
  @ApiProperty(UUID) room_id!: string;
  /** Number of the message in its room. Numbers have no gaps. */
  @ApiProperty({ type: 'integer', minimum: 1, example: 12 }) seq!: number;
  /** Number of its last change. The changes of a room are numbered without gaps. */
  @ApiProperty({ type: 'integer', minimum: 1, example: 14 }) mod_seq!: number;
  @ApiProperty({ enum: ['text', 'system', 'call'], example: 'text' }) kind!: 'text' | 'system' | 'call';
  sender!: ChatSenderResponse;
  /** Null: the sender has written it. Show its name in place of that of the sender. */
  @ApiProperty(orNull(ChatOriginResponse)) via!: ChatOriginResponse | null;
  /** Empty after deletion. @example "The draft of the agenda is attached." */ body!: string;
  @ApiProperty({ enum: FORMATS, example: 'plain' }) format!: 'plain' | 'markdown';
  /** Null for the kind `text`. */
  @ApiProperty(orNull(ChatEventResponse)) event!: ChatEventResponse | null;
  /** Id of the message that this one replies to. */
  @ApiProperty(NO_UUID) reply_to!: string | null;
  @ApiProperty({ type: 'integer', example: null }) reply_to_seq!: number | null;
  /** Ids of mentioned members. */
  @ApiProperty({ type: [String], format: 'uuid', example: [] }) mentions!: string[];
  @ApiProperty({ type: [ChatAttachmentResponse], example: [] }) attachments!: ChatAttachmentResponse[];
  @ApiProperty({ type: [ChatReactionResponse], example: [] }) reactions!: ChatReactionResponse[];
  /** The id that the sender's client gave the message. */
  @ApiProperty(UUID) client_msg_id!: string | null;
  @ApiProperty(DATE_TIME) created_at!: string;
  @ApiProperty(NO_DATE_TIME) edited_at!: string | null;
  @ApiProperty(NO_DATE_TIME) deleted_at!: string | null;
  @ApiProperty(NO_UUID) deleted_by!: string | null;
}

/** 409 `conflict` of an edit. */
export class ChatMessageConflictResponse extends ErrorResponse {
  @ApiProperty({ enum: ['conflict'], example: 'conflict' }) override error!: 'conflict';
  current!: ChatMessageResponse;
}
