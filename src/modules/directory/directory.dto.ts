import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString, Length, Matches, Max, Min } from 'class-validator';
import { WholeNumber } from '../../platform/http/input.decorators.js';

const MAX_RESULTS = 50;
const LIMIT = `limit must be a whole number from 1 to ${MAX_RESULTS}`;

export class SearchDirectory {
  /** Beginnings of words of a name or address, in any order. Ignores case and accents. @example "mar" */
  @ApiProperty({ minLength: 2, maxLength: 200 })
  @Length(2, 200)
  @IsString()
  q!: string;

  /** Comma-separated: `user`, `group`. @example "user,group" */
  @ApiPropertyOptional()
  @IsOptional()
  @Matches(/^(?:user|group)(?:,(?:user|group))?$/, { message: 'kinds must contain user, group or both' })
  @IsString({ message: 'kinds must contain user, group or both' })
  kinds: string = 'user,group';

  /** Maximum number of results. */
  @ApiProperty({ type: 'integer', minimum: 1, maximum: MAX_RESULTS, required: false })
  @IsOptional()
  @WholeNumber()
  @Min(1, { message: LIMIT })
  @Max(MAX_RESULTS, { message: LIMIT })
  @IsInt({ message: LIMIT })
  limit: number = 20;
}
