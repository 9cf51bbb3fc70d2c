import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { Errors } from '../http/errors.js';
import { Text, WholeNumber } from '../http/input.decorators.js';

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 200;

/** Query parameters of every list. */
export class PageQuery {
  static readonly documentedErrors = [Errors.invalidCursor];

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
    required: false,
    description: 'Maximum number of items.',
  })
  @IsOptional()
  @WholeNumber()
  @Min(1, { message: 'limit must be a whole number from 1 to 200' })
  @Max(MAX_LIMIT, { message: 'limit must be a whole number from 1 to 200' })
  @IsInt({ message: 'limit must be a whole number from 1 to 200' })
  limit: number = DEFAULT_LIMIT;

  /** The `next` of the previous page. */
  @IsOptional() @Text(1000, { message: 'cursor must be given once' }) cursor?: string;
}
