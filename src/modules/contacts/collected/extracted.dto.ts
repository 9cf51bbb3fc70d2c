import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsDate, IsOptional, IsString, MaxLength } from 'class-validator';
import { Timestamp } from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';

export class ListExtracted extends PageQuery {
  /** Beginning of the address, or of a word of the address or name. @example "mar" */
  @ApiPropertyOptional()
  @IsOptional()
  @MaxLength(200)
  @IsString()
  q?: string;

  /** Only addresses used at or after this time. @example "2026-01-01T00:00:00Z" */
  @ApiPropertyOptional({ type: String, format: 'date-time' })
  @IsOptional()
  @IsDate({ message: 'since must be a time (RFC 3339)' })
  @Timestamp()
  since?: Date;
}

export class RemoveExtracted {
  @ApiProperty({ maxLength: 320, example: 'maria@example.com' })
  @MaxLength(320)
  @IsString()
  email!: string;
}
