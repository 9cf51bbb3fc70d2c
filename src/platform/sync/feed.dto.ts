import { IsOptional } from 'class-validator';
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
