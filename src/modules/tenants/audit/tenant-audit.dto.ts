import { OmitType } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { Text, Time, Uuid } from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';

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
