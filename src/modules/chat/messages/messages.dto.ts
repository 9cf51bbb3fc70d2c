import { createHash } from 'node:crypto';
import { applyDecorators } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiHideProperty,
  ApiProperty,
  getSchemaPath,
  IntersectionType,
  PickType,
} from '@nestjs/swagger';
import { Equals, IsInt, IsObject, IsOptional, Matches, Min } from 'class-validator';
import { v7 as uuidv7 } from 'uuid';
import { MAX_QUERY, vectorOf } from '../../../lib/search-text/index.js';
import { hasVisibleCharacter } from '../../../lib/text/index.js';
import { EXAMPLE_ID, UUID } from '../../../platform/field-docs/field-docs.js';
import {
  Flag,
  IntegerFrom,
  Nullable,
  OneOf,
  Optional,
  Text,
  Uuid,
  Visible,
  WholeNumber,
} from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { ChatMessageResponse, Ids, LowerCase, SocketMessage, SocketRoom } from '../chat.dto.js';
import { FORMATS, type MessageOrigin } from '../chat.schema.js';
import { blankBody, type MessageInput } from '../model/message-rules.js';

const MAX_BODY = 32_000;
const MAX_ATTACHMENTS = 10;
const MAX_MENTIONS = 100;

export class SendMessage {
  /**
   * A UUID that the client creates for this message. A repeated request with it adds no second message and returns the first
   * one.
   */
  @LowerCase() @Uuid({ example: '0f3c1f0e-7a55-4c9b-9a41-2f6f0c1d2e3f' }) client_msg_id!: string;
  /** May be empty if there are attachments. */
  @IsOptional() @Text(MAX_BODY, { example: 'The rooms are booked.', required: false }) body: string = '';

  @IsOptional()
  @OneOf(FORMATS, { example: 'plain', required: false })
  format: (typeof FORMATS)[number] = 'plain';

  /** Id of a message of the room. */
  @Nullable() @LowerCase() @Uuid({ example: null }) reply_to?: string | null;

  /** Files of `POST /chat/attachments`, each for one message. */
  @IsOptional() @Ids(MAX_ATTACHMENTS, { default: [], example: [] }) attachment_ids: string[] = [];

  /** Ids of members to mention. Other users are ignored. */
  @IsOptional() @Ids(MAX_MENTIONS, { default: [], example: [] }) mentions: string[] = [];
}

/** A field that an edit does not have: it is rejected, since a client would believe that it was stored. */
const Fixed = (message: string): PropertyDecorator =>
  applyDecorators(IsOptional(), Equals(undefined, { message }));

export class EditMessage {
  /** May be empty if the message has attachments. */
  @Text(MAX_BODY, { example: 'The rooms are booked for May.' })
  body!: string;

  @Optional() @OneOf(FORMATS, { example: 'plain' }) format?: (typeof FORMATS)[number];
  /** Ids of members to mention, in place of the present ones. Absent: the mentions stay. Newly mentioned members are notified. */
  @IsOptional() @Ids(MAX_MENTIONS, { required: false, example: [] }) mentions?: string[];
  @ApiHideProperty() @Fixed('reply_to cannot be changed') reply_to?: undefined;
  @ApiHideProperty() @Fixed('attachment_ids cannot be changed') attachment_ids?: undefined;
  /** The `mod_seq` of the message that you read: with it, a message that has changed since is not overwritten. */
  @Optional() @IntegerFrom(1, Number.MAX_SAFE_INTEGER, { example: 14 }) base_mod_seq?: number;
}

/** One emoji, or a short name such as `:shipit:`. */
const EMOJI = /^[^\s\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069<>&]+$/u;

export class React {
  /** An emoji, or a name without white space. */
  @Visible()
  @Matches(EMOJI, { message: 'emoji must be one emoji or a name without white space' })
  @Text(32, { minLength: 1, example: '👍' })
  emoji!: string;

  /** Whether the reaction is added or removed. */
  @IsOptional() @Flag({ example: true, required: false }) on: boolean = true;
}

export class MarkRead {
  /** Number of the newest message that you have read. Lower numbers change nothing. */
  @IntegerFrom(0, Number.MAX_SAFE_INTEGER, { example: 12 }) seq!: number;
}

const POSITION = (name: string) => `${name} must be a whole number from 0`;

/** A position in a room: the number of a message or of a change. */
const Position = (name: string, description: string): PropertyDecorator => {
  const message = POSITION(name);
  return (target, key) => {
    ApiProperty({ type: 'integer', minimum: 0, required: false, description })(target, key);
    IsOptional()(target, key);
    WholeNumber()(target, key);
    Min(0, { message })(target, key);
    IsInt({ message })(target, key);
  };
};

export class ListMessages extends PickType(PageQuery, ['limit'] as const) {
  @Position('before_seq', 'The messages before this number.') before_seq?: number;
  @Position('after_seq', 'The messages after this number, oldest first.') after_seq?: number;

  @Position(
    'after_mod_seq',
    'The messages that changed after this number, in the order of their `mod_seq`: new, edited and deleted ones.',
  )
  after_mod_seq?: number;

  @Position('around', 'The messages before, at and after this number.') around?: number;

  /**
   * Only messages with all of these words, newest first page. Case and accents do not matter; a word of three letters or more
   * also matches words that begin with it. Not together with `after_mod_seq` and `around`.
   */
  @IsOptional()
  @Text(MAX_QUERY, { message: 'q must be given once', minLength: 1, required: false })
  q?: string;
}

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

/** `message.send` */
export class SocketSend extends IntersectionType(SocketRoom, SendMessage) {}

/** `message.edit` */
export class SocketEdit extends IntersectionType(SocketMessage, EditMessage) {}

/** `message.react` */
export class SocketReact extends IntersectionType(SocketMessage, React) {}

/** `message.delete` */
export class SocketDelete extends SocketMessage {}

/** `room.read` */
export class SocketRead extends IntersectionType(SocketRoom, MarkRead) {}

/** `typing` */
export class SocketTyping extends SocketRoom {
  @IsOptional() @Flag({ example: true, required: false }) on: boolean = true;
}

/** `session.resume` */
export class Resume {
  /** Newest known `mod_seq` by room id. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer', minimum: 0 },
    example: { '01890a5d-ac96-774b-bcce-b302099a8057': 41 },
  })
  @IsObject()
  rooms!: Record<string, number>;

  /** Messages of the response. */
  @IsOptional() @IntegerFrom(1, 200, { example: 200, required: false }) limit: number = 200;
}

/** The changes of one room after a position. */
export class ResumedRoomResponse {
  /** In the order of `mod_seq`. */
  @ApiProperty({ type: [ChatMessageResponse], example: [] }) messages!: ChatMessageResponse[];
  /** The position of the client after it has applied the messages. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 43 }) mod_seq!: number;
  /** There are further changes: resume again with this `mod_seq`. */
  @ApiProperty({ example: false }) more!: boolean;
}

@ApiExtraModels(ResumedRoomResponse)
export class ResumedResponse {
  /** Rooms with changes, by id. */
  @ApiProperty({
    type: 'object',
    additionalProperties: { $ref: getSchemaPath(ResumedRoomResponse) },
    example: { [EXAMPLE_ID]: { messages: [], mod_seq: 43, more: false } },
  })
  rooms!: Record<string, ResumedRoomResponse>;
  /** Ids of your rooms that the request did not name. */
  @ApiProperty({ type: [String], format: 'uuid', example: [] }) added!: string[];
  /** Ids of named rooms that you cannot read. */
  @ApiProperty({ type: [String], format: 'uuid', example: [] }) removed!: string[];
  /** Number of unread messages by room id. */
  @ApiProperty({ type: 'object', additionalProperties: { type: 'integer' }, example: { [EXAMPLE_ID]: 2 } })
  unread!: Record<string, number>;
}

/** Text form of the tsvector of a message. */
export const wordsOf = (body: string): Promise<string> => vectorOf({ readers: [], title: body, html: '' });

/** The stored form of a new message. @throws ApiError 422 for a blank body without attachments */
export async function messageInput(
  input: SendMessage,
  via: MessageOrigin | null = null,
): Promise<MessageInput> {
  const { client_msg_id, format, mentions, reply_to = null, attachment_ids: attachments, body } = input;
  if (attachments.length === 0 && !hasVisibleCharacter(body)) throw blankBody();
  const content = { body, format, reply_to, mentions, attachments };
  const fingerprint = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  return { id: uuidv7(), client_msg_id, fingerprint, ...content, via, tsv: await wordsOf(body) };
}
