import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsString, MaxLength } from 'class-validator';
import { MAX_UID } from '../../../lib/contact-card/index.js';
import { EXAMPLE_ID, UUID } from '../../../platform/field-docs/field-docs.js';
import { Distinct, IntegerFrom, Optional, Uuid } from '../../../platform/http/input.decorators.js';
import { ContactResponse } from '../responses/contact.response.js';

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

const REASONS = ['email', 'phone', 'name'] as const;
export type DuplicateReason = (typeof REASONS)[number];

/** Contacts that may be the same person. */
export class DuplicateGroupResponse {
  /** Kinds of the keys that the contacts share. */
  @ApiProperty({ enum: REASONS, isArray: true, example: ['email'] }) reasons!: DuplicateReason[];
  contacts!: ContactResponse[];
}

export class DuplicatesEnvelope {
  duplicates!: DuplicateGroupResponse[];
}

export class MergedContactEnvelope {
  contact!: ContactResponse;
  /** Undoes the merge, for 30 days and as long as the contact is not changed. */
  @ApiProperty(UUID) merge_id!: string;
}

export class UnmergedContactsEnvelope {
  /** The contacts as before the merge. Those that the merge deleted have new ids. */
  contacts!: ContactResponse[];
}
