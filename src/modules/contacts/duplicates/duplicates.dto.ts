import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsString, MaxLength } from 'class-validator';
import { Distinct, IntegerFrom, Optional, Uuid } from '../../../platform/http/input.decorators.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';
import { MAX_UID } from '../../../lib/contact-card/index.js';

export const MAX_GROUP = 20;

class InBook {
  @Uuid({ example: EXAMPLE_ID }) addressbook_id!: string;
}

export class FindDuplicates extends InBook {
  /** Maximum number of groups. */
  @Optional() @IntegerFrom(1, 200) limit: number = 50;
}

export class MergeContacts extends InBook {
  /** The external_ids. The first contact stays and gets the fields of the others, which are deleted. */
  @ApiProperty({ minItems: 2, maxItems: MAX_GROUP, example: ['phone-17', 'phone-18'] })
  @ArrayMaxSize(MAX_GROUP)
  @ArrayMinSize(2)
  @MaxLength(MAX_UID, { each: true })
  @IsString({ each: true })
  @Distinct()
  @IsArray()
  external_ids!: string[];
}
