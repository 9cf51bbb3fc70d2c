import {
  ApiExtraModels,
  ApiProperty,
  ApiPropertyOptional,
  getSchemaPath,
  IntersectionType,
  PickType,
} from '@nestjs/swagger';
import { ArrayMaxSize, IsArray } from 'class-validator';
import { CARD_FIELDS } from '../../../lib/contact-card/index.js';
import { DATE_TIME, UUID } from '../../../platform/field-docs/field-docs.js';
import { FieldProblemResponse } from '../../../platform/http/error.response.js';
import { IntegerFrom, Nested, OneOf, Optional, Text } from '../../../platform/http/input.decorators.js';
import { ChangesQuery, FeedMeta } from '../../../platform/sync/feed.dto.js';
import {
  CardFieldsInput,
  ContactIds,
  EntryModels,
  ExternalIdField,
  PhoneCountry,
} from '../input/contact.dto.js';
import { ContactResponse } from '../responses/contact.response.js';

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

/** A contact that is new or has changed. */
export class ContactUpsert {
  @ApiProperty({ enum: ['upsert'], example: 'upsert' }) op!: 'upsert';
  contact!: ContactResponse;
}

/** A contact that was deleted or moved to another address book. Its `external_id` names it. */
export class ContactRemoval {
  @ApiProperty({ enum: ['delete'], example: 'delete' }) op!: 'delete';
  /** Id of the removal. A moved contact keeps its own id in the other address book. */
  @ApiProperty(UUID) id!: string;
  /** @example "phone-17" */ external_id!: string;
  /** @example "4fbe8971-0bc3-424c-9c26-36c3e1eff6b1" */ uid!: string;
  @ApiProperty(DATE_TIME) removed_at!: string;
}

@ApiExtraModels(ContactUpsert, ContactRemoval)
export class ContactChangesEnvelope extends FeedMeta {
  @ApiProperty({
    type: 'array',
    items: { anyOf: [{ $ref: getSchemaPath(ContactUpsert) }, { $ref: getSchemaPath(ContactRemoval) }] },
    example: [],
  })
  changes!: (ContactUpsert | ContactRemoval)[];
}

/** The result of one change. */
export class ContactChangeResult {
  /** Position of the change in the request. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 0 }) index!: number;
  /** Null if the change has no valid `external_id`. */
  @ApiProperty({ example: 'phone-17' }) external_id!: string | null;
  /** 200 written, deleted or equal; 201 created; 403, 409, 422 nothing changed. */
  @ApiProperty({ type: 'integer', example: 200 }) status!: number;
  /** The contact after the change. */
  @ApiPropertyOptional({ type: ContactResponse }) contact?: ContactResponse;
  @ApiPropertyOptional({ enum: [true], example: true }) deleted?: true;
  /** Fields of the change that were not written, because they changed on the server. Only with `merge`. */
  @ApiPropertyOptional({ enum: CARD_FIELDS, isArray: true, example: [] }) conflicts?: string[];
  @ApiPropertyOptional({ example: 'conflict' }) error?: string;
  @ApiPropertyOptional({ example: 'The contact has changed since the client read it.' }) message?: string;
  @ApiPropertyOptional({ type: [FieldProblemResponse] }) details?: FieldProblemResponse[];
  /** The contact on the server, for a conflict. */
  @ApiPropertyOptional({ type: ContactResponse }) current?: ContactResponse;
}

export class AppliedContactChangesEnvelope extends ContactChangesEnvelope {
  results!: ContactChangeResult[];
}
