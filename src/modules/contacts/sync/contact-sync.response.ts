import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { FeedMeta } from '../../../platform/sync/feed.response.js';
import { FieldProblemResponse } from '../../../platform/http/error.response.js';
import { DATE_TIME, UUID } from '../../../platform/field-docs/field-docs.js';
import { CARD_FIELDS } from '../../../lib/contact-card/index.js';
import { ContactResponse } from '../responses/contact.response.js';

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
