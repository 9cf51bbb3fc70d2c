import { ApiProperty } from '@nestjs/swagger';
import { UUID } from '../../../platform/field-docs/field-docs.js';
import { ContactResponse } from '../responses/contact.response.js';

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
