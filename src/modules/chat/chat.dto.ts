import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsUUID } from 'class-validator';
import {
  DATE_TIME,
  EXAMPLE_ID,
  NO_DATE_TIME,
  NO_UUID,
  orNull,
  UUID,
} from '../../platform/field-docs/field-docs.js';
import { ErrorResponse } from '../../platform/http/error.response.js';
import { defineError } from '../../platform/http/errors.js';
import { Distinct, Uuid } from '../../platform/http/input.decorators.js';
import { QUOTAS, formatLimit } from '../../platform/quotas/quotas.js';
import { exampleOf } from '../../platform/resources/example.js';
import { CHAT_ROLES, FORMATS } from './chat.schema.js';

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

/** Ids in lower case, as PostgreSQL returns them. */
export const LowerCase = () =>
  Transform(({ value }: { value: unknown }) => {
    if (Array.isArray(value))
      return value.map((entry: unknown) => (typeof entry === 'string' ? entry.toLowerCase() : entry));
    return typeof value === 'string' ? value.toLowerCase() : value;
  });

/** A list of at most `max` ids in lower case, each once. */
export const Ids = (max: number, docs: ApiPropertyOptions): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ type: [String], format: 'uuid', maxItems: max, ...docs }),
    IsArray(),
    IsUUID(undefined, { each: true }),
    ArrayMaxSize(max),
    LowerCase(),
    Distinct(),
  );

/** An event about a room. */
export class SocketRoom {
  @LowerCase() @Uuid({ example: EXAMPLE_ID }) room_id!: string;
}

/** An event about a message. */
export class SocketMessage extends SocketRoom {
  @LowerCase() @Uuid({ example: EXAMPLE_ID }) message_id!: string;
}

export const ChatErrors = {
  roomNotFound: defineError(404, 'not_found', 'You have no such room.'),
  messageNotFound: defineError(404, 'not_found', 'The room has no such message.'),
  attachmentNotFound: defineError(404, 'not_found', 'You have no such attachment.'),
  partyNotFound: defineError(404, 'not_found', 'There is no such user or direct room.'),
  userNotFound: defineError(404, 'not_found', 'A user is unknown or deactivated.'),
  memberNotFound: defineError(404, 'not_found', 'The room has no such member.'),
  roomArchived: defineError(409, 'room_archived', 'The room is archived.'),
  messageDeleted: defineError(409, 'message_deleted', 'The message is deleted.'),
  lastOwner: defineError(409, 'last_owner', 'The room needs another owner first.'),
  clientMessageIdReused: defineError(
    409,
    'idempotency_key_reused',
    'This client_msg_id was used for another message of the room.',
  ),
  messageConflict: defineError(
    409,
    'conflict',
    'The message has changed since you read it; its current state is in this response.',
    { example: { current: exampleOf(ChatMessageResponse) }, type: ChatMessageConflictResponse },
  ),
  directRoom: defineError(422, 'direct_room', 'A direct room always has the same two members and no name.'),
  tooManyMembers: defineError(
    422,
    'too_many_members',
    `A room may have at most ${formatLimit(QUOTAS.item.members_of_chat_room)} members.`,
  ),
  tooManyRooms: defineError(
    422,
    'too_many_rooms',
    `A user may be in at most ${formatLimit(QUOTAS.user.chat_rooms)} rooms.`,
  ),
  tooManyReactions: defineError(
    422,
    'too_many_reactions',
    'A message may have at most 20 different reactions.',
  ),
  tooManyUnsent: defineError(
    422,
    'too_many_unsent_attachments',
    'Send or wait: at most 50 uploaded files may be unsent.',
  ),
  unknownReply: defineError(422, 'unknown_reply', 'The room has no message with the id in reply_to.'),
  unknownAttachment: defineError(
    422,
    'unknown_attachment',
    'An attachment is unknown, sent already, or of another user.',
  ),
} as const;

export class ChatAttachmentEnvelope {
  attachment!: ChatAttachmentResponse;
}
