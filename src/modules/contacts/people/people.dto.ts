import { IntersectionType, OmitType } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { Text } from '../../../platform/http/input.decorators.js';
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
  /** Beginnings of words of the name, title or address, or digits of a telephone number. */
  @IsOptional() @Text(200, { example: 'mar' }) q?: string;
  /** Only members of this department. */
  @IsOptional() @Text(1000, { example: 'Research' }) department?: string;
}
