import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { NO_DATE_TIME, UUID } from '../../../platform/field-docs/field-docs.js';
import { ContactResponse } from '../responses/contact.response.js';

/**
 * A card that was not imported, a value that an imported contact does not have (`value_too_large`), or an imported contact whose card
 * has no END:VCARD (`unfinished_card`).
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
