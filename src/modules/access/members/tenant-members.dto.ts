import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsOptional, IsUUID } from 'class-validator';
import { PageQuery } from '../../../platform/paging/page.dto.js';

export class ListTenantMembers extends PageQuery {
  /** Only members with this status. @example "active" */
  @IsOptional()
  @IsIn(['active', 'deactivated'])
  status?: 'active' | 'deactivated';

  /** Users, service accounts, or both. Default: `user`. @example "user" */
  @IsOptional()
  @IsIn(['user', 'service', 'all'])
  kind?: 'user' | 'service' | 'all';
}

export class TransferContent {
  /** The active member who becomes the owner. */
  @ApiProperty({ format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' })
  @IsUUID('all', { message: 'to must be a UUID' })
  to!: string;
}
