import { applyDecorators } from '@nestjs/common';
import { ApiHideProperty, ApiProperty, PickType } from '@nestjs/swagger';
import { Equals, IsInt, IsOptional, Matches, Min } from 'class-validator';
import { MAX_QUERY } from '../../../lib/search-text/index.js';
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
import { FORMATS } from '../chat.entity.js';
import { Ids, LowerCase } from '../socket-room.dto.js';

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
  @Visible('body must not be blank')
  @Text(MAX_BODY, { minLength: 1, example: 'The rooms are booked for May.' })
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
