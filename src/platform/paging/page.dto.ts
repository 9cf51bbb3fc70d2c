import { ApiProperty } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { Errors } from '../http/errors.js';
import { IntegerFrom, Text, WholeNumber } from '../http/input.decorators.js';

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 200;

/** Query parameters of every list. */
export class PageQuery {
  static readonly documentedErrors = [Errors.invalidCursor];

  @IsOptional()
  @WholeNumber()
  @IntegerFrom(1, MAX_LIMIT, {
    default: DEFAULT_LIMIT,
    required: false,
    description: 'Maximum number of items.',
    message: 'limit must be a whole number from 1 to 200',
  })
  limit: number = DEFAULT_LIMIT;

  /** The `next` of the previous page. */
  @IsOptional() @Text(1000, { message: 'cursor must be given once' }) cursor?: string;
}

/** A page of a list, beside its items. */
export class PageEnvelope {
  /** The `cursor` of the next page; null on the last page. */
  @ApiProperty({ example: null }) next!: string | null;
}

/** A list without pages, beside its items. */
export class WholeListEnvelope {
  /** Always null: the list is complete. */
  @ApiProperty({ type: String, nullable: true, example: null }) next!: null;
}
