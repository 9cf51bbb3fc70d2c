import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { OneOf, Text, WholeNumber } from '../http/input.decorators.js';
import type { FeedInclude } from './feed-source.js';

const MAX_PAGE = 500;
const DEFAULT_PAGE = 100;
const MAX_WAIT_SECONDS = 25;
const LIMIT = `limit must be a whole number from 1 to ${MAX_PAGE}`;
const WAIT = `wait must be a whole number of seconds from 0 to ${MAX_WAIT_SECONDS}`;

class FeedQuery {
  @IsOptional()
  @Text(1000, {
    message: 'cursor must be given once',
    required: false,
    description: 'The `cursor` of the last response.',
    type: String,
  })
  cursor?: string;

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    maximum: MAX_PAGE,
    default: DEFAULT_PAGE,
    required: false,
    description: 'Records in a page.',
  })
  @IsOptional()
  @WholeNumber()
  @Max(MAX_PAGE, { message: LIMIT })
  @Min(1, { message: LIMIT })
  @IsInt({ message: LIMIT })
  limit: number = DEFAULT_PAGE;
}

export class ChangesQuery extends FeedQuery {
  @IsOptional()
  @OneOf(['content', 'summary'], { required: false, description: '`summary` omits the content.' })
  include: FeedInclude = 'content';

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: MAX_WAIT_SECONDS,
    default: 0,
    required: false,
    description: 'Seconds to wait for a change before an empty response.',
  })
  @IsOptional()
  @WholeNumber()
  @Max(MAX_WAIT_SECONDS, { message: WAIT })
  @Min(0, { message: WAIT })
  @IsInt({ message: WAIT })
  wait: number = 0;
}

export class IndexQuery extends FeedQuery {
  @IsOptional()
  @OneOf(['content', 'summary'], { required: false, description: '`content` adds the content.' })
  include: FeedInclude = 'summary';
}
