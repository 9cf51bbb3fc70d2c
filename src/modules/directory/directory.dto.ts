import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString, Length, Matches, Max, Min } from 'class-validator';
import { WholeNumber } from '../../platform/http/input.decorators.js';

const MAX_RESULTS = 50;
const LIMIT = `limit must be a whole number from 1 to ${MAX_RESULTS}`;

export class SearchDirectory {
  @ApiProperty({
    minLength: 2,
    maxLength: 200,
    example: 'mar',
    description: 'Beginnings of words of a name or address, in any order. Case and accents do not matter.',
  })
  @Length(2, 200)
  @IsString()
  q!: string;

  @ApiPropertyOptional({
    example: 'user,group',
    default: 'user,group',
    description: 'Separated by commas: `user`, `group`.',
  })
  @IsOptional()
  @Matches(/^(?:user|group)(?:,(?:user|group))?$/, { message: 'kinds must be of user, group' })
  @IsString({ message: 'kinds must be of user, group' })
  kinds: string = 'user,group';

  @ApiProperty({
    type: 'integer',
    minimum: 1,
    maximum: MAX_RESULTS,
    default: 20,
    required: false,
    description: 'Results at most.',
  })
  @IsOptional()
  @WholeNumber()
  @Min(1, { message: LIMIT })
  @Max(MAX_RESULTS, { message: LIMIT })
  @IsInt({ message: LIMIT })
  limit: number = 20;
}
