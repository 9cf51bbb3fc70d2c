import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { WholeNumber } from '../http/input.decorators.js';

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 200;

/** The query parameters every list takes. */
export class PageQuery {
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    maximum: MAX_LIMIT,
    default: DEFAULT_LIMIT,
    required: false,
    description: 'How many to return.',
  })
  @IsOptional()
  @WholeNumber()
  @Min(1, { message: 'limit must be a whole number from 1 to 200' })
  @Max(MAX_LIMIT, { message: 'limit must be a whole number from 1 to 200' })
  @IsInt({ message: 'limit must be a whole number from 1 to 200' })
  limit: number = DEFAULT_LIMIT;

  /** Where the last page ended: its `next`. */
  @IsOptional()
  @MaxLength(1000)
  @IsString({ message: 'cursor must be given once' })
  cursor?: string;
}
