import { ApiExtraModels, ApiProperty, getSchemaPath, IntersectionType, PickType } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray } from 'class-validator';
import { IntegerFrom, OneOf, Optional, Text, Nested } from '../../../platform/http/input.decorators.js';
import { ChangesQuery } from '../../../platform/sync/feed.dto.js';
import {
  CardFieldsInput,
  ContactIds,
  EntryModels,
  ExternalIdField,
  PhoneCountry,
} from '../input/contact.dto.js';

const MAX_CHANGES = 500;
const POLICIES = ['server', 'client', 'merge'] as const;
export type ConflictPolicy = (typeof POLICIES)[number];

export class SyncContacts extends PickType(ChangesQuery, ['cursor', 'limit', 'wait'] as const) {}

@EntryModels()
export class SyncedCard extends CardFieldsInput {}

/** One change of a client. */
export class ContactChange extends PickType(ContactIds, ['uid'] as const) {
  @OneOf(['upsert', 'delete'], { example: 'upsert' }) op!: 'upsert' | 'delete';
  /** Names the contact. */
  @ApiProperty({ minLength: 1, maxLength: 255, example: 'phone-17' }) @ExternalIdField() external_id!: string;
  /** The revision that the client changed; missing for a contact that the client created. */
  @Optional() @IntegerFrom(1, { example: 1 }) base_revision?: number;

  /** Fields to write, for `upsert`. Missing fields stay as they are. */
  @Optional()
  @Nested(SyncedCard, { message: 'contact must be an object', example: { full_name: 'Maria Silva' } })
  contact?: SyncedCard;
}

@ApiExtraModels(ContactChange)
export class ApplyContactChanges extends IntersectionType(
  PickType(ChangesQuery, ['limit'] as const),
  PhoneCountry,
) {
  /** The `cursor` of the last response. */
  @Optional() @Text(1000, { example: 'c1.WzAsNDIsMF0.d2VsbCBzaWduZWQhMTIz' }) cursor?: string;

  /** Applied one by one: an invalid or conflicting change does not affect the others. */
  @ApiProperty({
    type: 'array',
    maxItems: MAX_CHANGES,
    items: { $ref: getSchemaPath(ContactChange) },
    example: [{ op: 'upsert', external_id: 'phone-17', contact: { full_name: 'Maria Silva' } }],
  })
  @ArrayMaxSize(MAX_CHANGES)
  @IsArray()
  changes!: unknown[];

  /**
   * For a contact that changed on the server after `base_revision`. `server`: nothing changes, the result has the current
   * contact. `client`: the change replaces the fields. `merge`: fields that changed on the server stay, the others are written.
   */
  @Optional() @OneOf(POLICIES) conflict: ConflictPolicy = 'server';
}
