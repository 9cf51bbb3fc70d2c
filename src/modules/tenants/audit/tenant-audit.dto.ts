import { OmitType, ApiProperty } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { Text, Time, Uuid } from '../../../platform/http/input.decorators.js';
import { PageEnvelope, PageQuery } from '../../../platform/paging/page.dto.js';
import { EXAMPLE_ID, DATE_TIME, UUID } from '../../../platform/field-docs/field-docs.js';

const TIME = '2026-11-21T09:30:00Z';

export class ListAuditEvents extends PageQuery {
  /** Events caused by this user. */
  @IsOptional() @Uuid({ example: EXAMPLE_ID }) actor_id?: string;
  /** Events with this action. */
  @IsOptional() @Text(100, { example: 'rbac.member.added' }) action?: string;
  /** Events about objects of this kind. */
  @IsOptional() @Text(100, { example: 'group' }) object_kind?: string;
  /** Events about this object. */
  @IsOptional() @Text(200, { example: EXAMPLE_ID }) object_id?: string;
  /** Events at or after this time. */
  @IsOptional() @Time({ message: 'since must be an RFC 3339 time', example: TIME }) since?: Date;
  /** Events before this time. */
  @IsOptional() @Time({ message: 'until must be an RFC 3339 time', example: TIME }) until?: Date;
}

/** The filters of the list. */
export class ExportAuditEvents extends OmitType(ListAuditEvents, ['cursor', 'limit']) {}

export class AuditEventResponse {
  @ApiProperty(UUID) id!: string;
  @ApiProperty(DATE_TIME) occurred_at!: Date;
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
