import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsString, MaxLength } from 'class-validator';
import { MAX_UID } from '../../../lib/contact-card/index.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';
import { Distinct, OneOf, Optional, Uuid } from '../../../platform/http/input.decorators.js';

export const MAX_NAMED = 1_000;
const BULK_POLICIES = ['skip', 'rename', 'merge', 'replace'] as const;
const POLICIES = ['reject', 'rename', 'merge', 'replace'] as const;
export type MovePolicy = (typeof POLICIES)[number] | (typeof BULK_POLICIES)[number];

class MoveTarget {
  @Uuid({ example: EXAMPLE_ID }) target_addressbook_id!: string;
}

export class MoveContact extends MoveTarget {
  /**
   * For a contact whose external_id or uid is taken in the target. `reject`: responds with 409. `rename`: gives the contact new
   * ones. `merge`: adds its fields to the other contact and deletes it. `replace`: deletes the other contact.
   */
  @Optional() @OneOf(POLICIES) on_conflict: (typeof POLICIES)[number] = 'reject';
}

/** Needs `contact_ids` or `all`. */
export class MoveContacts extends MoveTarget {
  /** The external_ids of the contacts. */
  @ApiPropertyOptional({ maxItems: MAX_NAMED, example: ['phone-17'] })
  @Optional()
  @MaxLength(MAX_UID, { each: true })
  @IsString({ each: true })
  @Distinct()
  @ArrayMaxSize(MAX_NAMED)
  @IsArray()
  contact_ids?: string[];

  /** All contacts of the address book, up to 10,000 in one request. */
  @Optional() @OneOf([true], { example: true }) all?: true;
  /** As for one contact. `skip`: such a contact is not moved. */
  @Optional() @OneOf(BULK_POLICIES) on_conflict: (typeof BULK_POLICIES)[number] = 'skip';
}

export class MoveErrorResponse {
  /** @example "phone-17" */ external_id!: string;
  /** @example "not_found" */ error!: string;
}

export class MovedContactsEnvelope {
  /** Number of moved contacts, merged ones included. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 2 }) moved!: number;
  /** The external_ids of contacts that were not moved, because the target has a contact with the same external_id or uid; 1,000 at most. */
  @ApiProperty({ example: [] }) skipped!: string[];
  /** 1,000 at most. */
  errors!: MoveErrorResponse[];
  /** With `all`: the address book had more contacts than one request moves. @example false */ more!: boolean;
}
