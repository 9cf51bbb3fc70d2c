import { ApiProperty, ApiPropertyOptional, IntersectionType } from '@nestjs/swagger';
import { CARD_VERSIONS, type CardVersion } from '../../../lib/vcard/index.js';
import { Moment, OneOf, Optional, Text, Uuid } from '../../../platform/http/input.decorators.js';
import { CardFieldsInput, ContactIds, Country } from '../input/contact.dto.js';

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
   * address or telephone number. `merge`: adds the fields that the contact does not have; a card that changed on the device
   * since its last import wins over the contact, another card of the person does not. `replace`: writes the card over the
   * contact. `skip`: leaves the contact as it is. `create`: as `merge` for the same uid or external_id, otherwise a new contact.
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
