import { ApiProperty } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { DATE_TIME, UUID } from '../field-docs/field-docs.js';
import { ErrorResponse } from '../http/error.response.js';
import { defineError } from '../http/errors.js';
import { IntegerFrom, OneOf, Text, WholeNumber } from '../http/input.decorators.js';
import type { FeedInclude } from './feed-source.js';

const MAX_PAGE = 500;
const DEFAULT_PAGE = 100;
const MAX_WAIT_SECONDS = 25;

class FeedQuery {
  @IsOptional()
  @Text(1000, {
    message: 'cursor must be given once',
    required: false,
    description: 'The `cursor` of the last response.',
    type: String,
  })
  cursor?: string;

  @IsOptional()
  @WholeNumber()
  @IntegerFrom(1, MAX_PAGE, {
    default: DEFAULT_PAGE,
    required: false,
    description: 'Records in a page.',
    message: `limit must be a whole number from 1 to ${MAX_PAGE}`,
  })
  limit: number = DEFAULT_PAGE;
}

export class ChangesQuery extends FeedQuery {
  @IsOptional()
  @OneOf(['content', 'summary'], { required: false, description: '`summary` omits the content.' })
  include: FeedInclude = 'content';

  @IsOptional()
  @WholeNumber()
  @IntegerFrom(0, MAX_WAIT_SECONDS, {
    default: 0,
    required: false,
    description: 'Seconds to wait for a change before an empty response.',
    message: `wait must be a whole number of seconds from 0 to ${MAX_WAIT_SECONDS}`,
  })
  wait: number = 0;
}

export class IndexQuery extends FeedQuery {
  @IsOptional()
  @OneOf(['content', 'summary'], { required: false, description: '`content` adds the content.' })
  include: FeedInclude = 'summary';
}

const CURSOR = 'c1.WzAsNDIsMF0.d2VsbCBzaWduZWQhMTIz';

/** Metadata of a page of a feed. */
export class FeedMeta {
  @ApiProperty({ example: CURSOR, description: 'Store it: the next request continues from here.' })
  cursor!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'The same as `cursor` while there are more records; else null.',
  })
  next!: string | null;
  @ApiProperty({ example: false, description: 'There are more records: request the next page now.' })
  has_more!: boolean;
  @ApiProperty({
    type: 'integer',
    minimum: 0,
    example: 42,
    description:
      'With this page the client has all changes up to this number. `GET /apis/v1/sync/state` shows which collections have later ones.',
  })
  head!: number;
  @ApiProperty(DATE_TIME) server_time!: string;
}

export class IndexMeta extends FeedMeta {
  @ApiProperty({
    example: CURSOR,
    description:
      'The cursor for the change feed from the start of the walk. It can be used during the walk or after it.',
  })
  changes_cursor!: string;
}

/** An item that the caller can no longer read, without its content. */
export class FeedRemoval {
  @ApiProperty(UUID) id!: string;
  @ApiProperty({ enum: [true], example: true }) removed!: true;
  @ApiProperty({ enum: [true], example: true }) deleted!: true;
  @ApiProperty({ enum: ['unshared', 'purged', 'deleted'], example: 'unshared' })
  reason!: 'unshared' | 'purged' | 'deleted';
  @ApiProperty(DATE_TIME) removed_at!: string;
}

/** 410 `cursor_expired`: the request that rebuilds the index. */
class CursorExpiredResponse extends ErrorResponse {
  @ApiProperty({ enum: ['cursor_expired'], example: 'cursor_expired' }) override error!: 'cursor_expired';
  @ApiProperty({ enum: [true], example: true }) reset_required!: true;
  @ApiProperty({ example: 'GET /apis/v1/notes/index', description: 'The request that rebuilds the index.' })
  hint!: string;
}

export const CURSOR_EXPIRED = defineError(
  410,
  'cursor_expired',
  'The cursor has expired; rebuild the index with the request in `hint`.',
  { example: { reset_required: true, hint: 'GET /apis/v1/notes/index' }, type: CursorExpiredResponse },
);
