import { ApiProperty } from '@nestjs/swagger';
import { PageEnvelope } from '../../../platform/paging/page.response.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

export class AuditEventResponse {
  @ApiProperty({ format: 'uuid', example: ID }) id!: string;
  @ApiProperty({ format: 'date-time', example: '2026-11-21T09:30:00.000Z' }) occurred_at!: string;
  /** `cli` for the operator. @example "api" */ @ApiProperty({ enum: ['api', 'cli', 'job'] })
  origin!: string;
  /** The user who caused the event; null for the operator, the service and visitors. */
  @ApiProperty({ format: 'uuid', example: ID }) actor_id!: string | null;
  @ApiProperty({ type: String, format: 'uuid', nullable: true, example: ID }) session_id!: string | null;
  /** @example "6f1c9a52-6a06-4b8e-9b0c-8d5a1f3f7f10" */ request_id!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '192.0.2.7' }) ip!: string | null;
  /** @example "rbac.member.added" */ action!: string;
  /** @example "user" */ object_kind!: string;
  @ApiProperty({ type: String, nullable: true, example: ID }) object_id!: string | null;
  /** Further facts, without secrets. */
  @ApiProperty({ type: 'object', additionalProperties: true, example: { group: 'Editors' } })
  data!: Record<string, unknown>;
}

export class AuditEventListEnvelope extends PageEnvelope {
  events!: AuditEventResponse[];
}
