import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';
import { DATE_TIME, EXAMPLE_ID, UUID } from '../../../platform/field-docs/field-docs.js';

export class AuditEventResponse {
  @ApiProperty(UUID) id!: string;
  @ApiProperty(DATE_TIME) occurred_at!: string;
  /** `cli` for the operator. @example "api" */ @ApiProperty({ enum: ['api', 'cli', 'job'] })
  origin!: string;
  /** The user who caused the event; null for the operator, the service and visitors. */
  @ApiProperty(UUID) actor_id!: string | null;
  @ApiProperty(UUID) session_id!: string | null;
  /** @example "6f1c9a52-6a06-4b8e-9b0c-8d5a1f3f7f10" */ request_id!: string | null;
  @ApiProperty({ example: '192.0.2.7' }) ip!: string | null;
  /** @example "rbac.member.added" */ action!: string;
  /** @example "user" */ object_kind!: string;
  @ApiProperty({ example: EXAMPLE_ID }) object_id!: string | null;
  /** Further facts, without secrets. */
  @ApiProperty({ type: 'object', additionalProperties: true, example: { group: 'Editors' } })
  data!: Record<string, unknown>;
}

export class AuditEventListEnvelope extends PageEnvelope {
  events!: AuditEventResponse[];
}
