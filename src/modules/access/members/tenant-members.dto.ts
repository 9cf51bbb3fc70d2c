import { IsOptional } from 'class-validator';
import { OneOf, Uuid } from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';

export class ListTenantMembers extends PageQuery {
  /** Only members with this status. */
  @IsOptional() @OneOf(['active', 'deactivated'], { example: 'active' }) status?: 'active' | 'deactivated';
  /** Users, service accounts, or both. Default: `user`. */
  @IsOptional() @OneOf(['user', 'service', 'all'], { example: 'user' }) kind?: 'user' | 'service' | 'all';
}

export class TransferContent {
  /** The active member who becomes the owner. */
  @Uuid({ example: EXAMPLE_ID }) to!: string;
}
