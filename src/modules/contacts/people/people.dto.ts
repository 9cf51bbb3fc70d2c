import { ApiPropertyOptional, IntersectionType, OmitType } from '@nestjs/swagger';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { BaseRevision } from '../../../platform/concurrency/base-revision.dto.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { CardFieldsInput, EntryModels, PhoneCountry } from '../input/contact.dto.js';

@EntryModels()
export class UpdateSelf extends IntersectionType(
  OmitType(CardFieldsInput, ['kind', 'members']),
  PhoneCountry,
  BaseRevision,
) {}

export class ListDirectory extends PageQuery {
  /** Beginnings of words of the name, title or address, or digits of a telephone number. @example "mar" */
  @ApiPropertyOptional()
  @IsOptional()
  @MaxLength(200)
  @IsString()
  q?: string;

  /** Only members of this department. @example "Research" */
  @ApiPropertyOptional()
  @IsOptional()
  @MaxLength(1000)
  @IsString()
  department?: string;
}
