import { ApiProperty, ApiPropertyOptional, IntersectionType } from '@nestjs/swagger';
import { CARD_VERSIONS, type CardVersion } from '../../../lib/vcard/index.js';
import { NO_DATE_TIME, UUID } from '../../../platform/field-docs/field-docs.js';
import { defineError } from '../../../platform/http/errors.js';
import { Moment, OneOf, Optional, Text, Uuid } from '../../../platform/http/input.decorators.js';
import { PageEnvelope } from '../../../platform/paging/page.dto.js';
import { CardFieldsInput, ContactIds, Country } from '../input/contact.dto.js';
import { ContactResponse } from '../responses/contact.response.js';

const ON_IMPORTED_DUPLICATE = ['merge', 'replace', 'skip', 'create'] as const;
export type OnImportedDuplicate = (typeof ON_IMPORTED_DUPLICATE)[number];

class PhoneBook {
  /** Default: the default address book of the caller. */
  @Optional()
  @Uuid({
    message: 'addressbook_id must be the id of an address book',
    example: '01890a5d-ac96-774b-bcce-b302099a8057',
  })
  addressbook_id?: string;

  /** A name of the device that the client chooses and keeps. */
  @Optional() @Text(200, { message: 'device_id must be given once', example: 'pixel-9' }) device_id?: string;
}

export class ImportOptions extends PhoneBook {
  /**
   * For a card of a contact that the address book has: the same uid or external_id, or the same name with a common e-mail
   * address or telephone number. `merge`: adds the fields that the contact does not have; of a card that changed on the
   * device since its last import, what has changed there wins over the contact, and nothing else of it. `replace`: writes the card over the
   * contact. `skip`: leaves the contact as it is. `create`: as `merge` for the same uid or external_id, otherwise a new contact.
   * Further cards of one contact in an import add their fields to it.
   */
  @Optional() @OneOf(ON_IMPORTED_DUPLICATE) on_duplicate: OnImportedDuplicate = 'merge';
  /** Country of telephone numbers without an international prefix. Default: that of the address book. @example "CZ" */
  @ApiPropertyOptional({ pattern: '^[A-Za-z]{2}$' }) @Optional() @Country() default_country?: string;
}

/** A contact of a JSON import. */
export class ImportedContact extends IntersectionType(CardFieldsInput, ContactIds) {}

/** The body of a JSON import, for the documentation: each contact is validated alone. */
export class ImportContacts extends ImportOptions {
  @ApiProperty({
    type: [ImportedContact],
    maxItems: 10_000,
    example: [{ full_name: 'Maria Silva', phones: ['+420 601 123 456'] }],
  })
  contacts!: ImportedContact[];
}

export class ExportQuery extends PhoneBook {
  /** Version of vCard. */
  @Optional() @OneOf(CARD_VERSIONS) version: CardVersion = '3.0';
  /** `false`: without photos. Only for vCard. */
  @Optional() @OneOf(['true', 'false']) photos: 'true' | 'false' = 'true';

  /** Only contacts that changed at this time or later. */
  @Optional() @Moment({ example: '2026-01-31T08:00:00Z' }) since?: Date;
}

/**
 * A card that was not imported, a value that an imported contact does not have (`value_too_large`), or an imported contact whose card
 * has no END:VCARD (`unfinished_card`) or the uid of another person of the file (`uid_not_unique`: it got a uid of its own).
 */
export class ImportProblemResponse {
  /** Position of the card in the import, from 0. @example 17 */ index!: number;
  /** @example "Maria Silva" */ name!: string | null;
  /** @example "validation_failed" */ error!: string;
  /** @example "full_name must be shorter than or equal to 1000 characters" */ message!: string;
}

/** An import from a device. Each card has one outcome. */
export class ImportResponse {
  @ApiProperty(UUID) id!: string;
  @ApiProperty(UUID) addressbook_id!: string;
  /** @example "pixel-9" */ device_id!: string;
  @ApiProperty({ type: 'integer', example: 250 }) total!: number;
  @ApiProperty({ type: 'integer', example: 240 }) created!: number;
  /** Contacts with the same uid or external_id. */ @ApiProperty({ type: 'integer', example: 4 })
  updated!: number;
  /** Contacts with the same name and a common address or number. */
  @ApiProperty({ type: 'integer', example: 2 }) merged!: number;
  @ApiProperty({ type: 'integer', example: 3 }) unchanged!: number;
  @ApiProperty({ type: 'integer', example: 0 }) skipped!: number;
  @ApiProperty({ type: 'integer', example: 1 }) failed!: number;
  /** The first 1,000 cards that were not imported or have no end, and values that were left out. */ errors!: ImportProblemResponse[];
  @ApiProperty({ format: 'date-time', example: '2026-03-01T08:00:00.000Z' }) created_at!: Date;
  /** Time of the undo; null for an import in effect. */
  @ApiProperty(NO_DATE_TIME) undone_at!: Date | null;
}

export class ImportEnvelope {
  import!: ImportResponse;
}

export class ImportedEnvelope extends ImportEnvelope {
  /** For `GET …/contacts/sync`: the changes of the address book since the start of the import. */
  @ApiProperty({ example: 'c1.WzAsNDIsMF0.d2VsbCBzaWduZWQhMTIz' }) cursor!: string;
}

export class ImportList extends PageEnvelope {
  imports!: ImportResponse[];
}

/** Result of the undo of an import. */
export class UndoResponse {
  /** Contacts that the import had created. */ @ApiProperty({ type: 'integer', example: 240 })
  removed!: number;
  /** Contacts with their card before the import. */
  @ApiProperty({ type: 'integer', example: 6 }) restored!: number;
  /** Contacts that changed after the import; they stay as they are. */
  @ApiProperty({ type: 'integer', example: 0 }) kept!: number;
}

export class UndoEnvelope {
  import!: ImportResponse;
  undo!: UndoResponse;
}

/** The contacts of an address book. */
export class ExportResponse {
  contacts!: ContactResponse[];
}

/** Errors of the import and export of phones. */
export const PhoneErrors = {
  noCard: defineError(422, 'no_card', 'The file contains no vCard.'),
  tooManyCards: defineError(422, 'too_many_contacts', 'An import may have at most 10,000 contacts.'),
  importNotFound: defineError(404, 'not_found', 'You have no such import.'),
} as const;
