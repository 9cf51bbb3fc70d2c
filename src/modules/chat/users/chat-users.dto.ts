import { ApiPropertyOptional, PickType } from '@nestjs/swagger';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { PageQuery } from '../../../platform/paging/page.dto.js';

export class ListChatUsers extends PickType(PageQuery, ['limit', 'cursor'] as const) {
  static readonly documentedErrors = PageQuery.documentedErrors;

  /** Beginnings of words of a name or address. Ignores case and accents. */
  @ApiPropertyOptional({ maxLength: 200 })
  @IsOptional()
  @MaxLength(200)
  @IsString({ message: 'q must be given once' })
  q?: string;
}
