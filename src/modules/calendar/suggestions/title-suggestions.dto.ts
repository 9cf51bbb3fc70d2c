import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString, IsUUID, Max, MaxLength, Min } from 'class-validator';
import { WholeNumber } from '../../../platform/http/input.decorators.js';

export class SuggestTitles {
  /** Beginning of a word of the title. */
  @ApiPropertyOptional({ example: 'plan' })
  @IsOptional()
  @MaxLength(200)
  @IsString()
  q?: string;

  /** Only titles of events of this calendar. */
  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID('all')
  calendar_id?: string;

  /** Maximum number of suggestions. */
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 50, default: 10, required: false })
  @IsOptional()
  @WholeNumber()
  @Max(50)
  @Min(1)
  @IsInt()
  limit: number = 10;
}
