import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';

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
  @Transform(({ value }) => (typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value))
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
