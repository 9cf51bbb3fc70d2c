import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsDate, IsOptional, IsString, IsUUID, MaxLength } from 'class-validator';
import { Timestamp } from '../../platform/http/input.decorators.js';
import { PageQuery } from '../../platform/paging/page.dto.js';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const TIME = '2026-11-21T09:30:00Z';

export class ListAuditEvents extends PageQuery {
  @ApiPropertyOptional({ format: 'uuid', example: ID, description: 'What this person did.' })
  @IsOptional()
  @IsUUID('all', { message: 'actor_id must be a UUID' })
  actor_id?: string;

  @ApiPropertyOptional({ example: 'rbac.member.added', description: 'Only this.' })
  @IsOptional()
  @MaxLength(100)
  @IsString()
  action?: string;

  @ApiPropertyOptional({ example: 'group', description: 'What happened to things of this kind.' })
  @IsOptional()
  @MaxLength(100)
  @IsString()
  object_kind?: string;

  @ApiPropertyOptional({ example: ID, description: 'What happened to this one.' })
  @IsOptional()
  @MaxLength(200)
  @IsString()
  object_id?: string;

  @ApiPropertyOptional({ type: String, format: 'date-time', example: TIME, description: 'At or after.' })
  @IsOptional()
  @Timestamp()
  @IsDate({ message: 'since must be a time of RFC 3339' })
  since?: Date;

  @ApiPropertyOptional({ type: String, format: 'date-time', example: TIME, description: 'Before.' })
  @IsOptional()
  @Timestamp()
  @IsDate({ message: 'until must be a time of RFC 3339' })
  until?: Date;
}
