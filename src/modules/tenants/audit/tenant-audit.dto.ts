import { ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { IsDate, IsOptional, IsString, IsUUID, MaxLength } from 'class-validator';
import { Timestamp } from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TIME = '2026-11-21T09:30:00Z';

export class ListAuditEvents extends PageQuery {
  /** Events caused by this user. */
  @ApiPropertyOptional({ format: 'uuid', example: ID })
  @IsOptional()
  @IsUUID('all', { message: 'actor_id must be a UUID' })
  actor_id?: string;

  /** Events with this action. @example "rbac.member.added" */
  @IsOptional()
  @MaxLength(100)
  @IsString()
  action?: string;

  /** Events about objects of this kind. @example "group" */
  @IsOptional()
  @MaxLength(100)
  @IsString()
  object_kind?: string;

  /** Events about this object. */
  @ApiPropertyOptional({ example: ID })
  @IsOptional()
  @MaxLength(200)
  @IsString()
  object_id?: string;

  /** Events at or after this time. */
  @ApiPropertyOptional({ type: String, format: 'date-time', example: TIME })
  @IsOptional()
  @Timestamp()
  @IsDate({ message: 'since must be an RFC 3339 time' })
  since?: Date;

  /** Events before this time. */
  @ApiPropertyOptional({ type: String, format: 'date-time', example: TIME })
  @IsOptional()
  @Timestamp()
  @IsDate({ message: 'until must be an RFC 3339 time' })
  until?: Date;
}

/** The filters of the list. */
export class ExportAuditEvents extends OmitType(ListAuditEvents, ['cursor', 'limit']) {}
