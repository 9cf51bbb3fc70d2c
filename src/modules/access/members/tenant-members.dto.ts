import { IsOptional } from 'class-validator';
import { OneOf, Uuid } from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';

export class ListTenantMembers extends PageQuery {
  /** Only members with this status. */
  @IsOptional() @OneOf(['active', 'deactivated'], { example: 'active' }) status?: 'active' | 'deactivated';
  /** Users, service accounts, or both. Default: `user`. */
  @IsOptional() @OneOf(['user', 'service', 'all'], { example: 'user' }) kind?: 'user' | 'service' | 'all';
}

export class TransferContent {
  /** The active member who becomes the owner. */
  @Uuid({ example: '01890a5d-ac96-774b-bcce-b302099a8057' }) to!: string;
}
