import { Body, Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { TenantErrors } from '../../tenants/index.js';
import { AccessErrors } from '../access.errors.js';
import { ListTenantMembers, TransferContent } from './tenant-members.dto.js';
import {
  MemberContentEnvelope,
  TenantMemberEnvelope,
  TenantMemberListEnvelope,
  TransferredContentEnvelope,
} from './tenant-members.response.js';
import { TenantMembersService } from './tenant-members.service.js';

const STATUS_ERRORS = [AccessErrors.tenantMemberNotFound, AccessErrors.cannotGrantUnheld];

@ApiTags('tenant')
@Controller('tenant/members')
export class TenantMembersController {
  constructor(private readonly members: TenantMembersService) {}

  @Endpoint('GET', {
    id: 'listTenantMembers',
    summary: 'List the members of the workspace, including deactivated ones',
    description: 'Service accounts are not included, unless `kind` requests them.',
    response: [TenantMemberListEnvelope, 'A page of members.'],
  })
  @Requires('tenant.read')
  list(@Ctx() ctx: RequestContext, @Query() query: ListTenantMembers): Promise<TenantMemberListEnvelope> {
    return this.members.list(ctx, query);
  }

  @Endpoint('POST :user_id/deactivate', {
    id: 'deactivateTenantMember',
    summary: 'Deactivate a member',
    description:
      'Ends their sessions in this workspace within 5 seconds. You must hold all permissions of the member. The last active owner cannot be deactivated. To leave the workspace yourself, use `DELETE /settings/profile`.',
    response: [TenantMemberEnvelope, 'The updated member.'],
    errors: [...STATUS_ERRORS, AccessErrors.lastAdmin],
  })
  @Requires('users.deactivate')
  deactivate(@Ctx() ctx: RequestContext, @Id('user_id') userId: string): Promise<TenantMemberEnvelope> {
    return this.members.setStatus(ctx, userId, 'deactivated');
  }

  @Endpoint('POST :user_id/activate', {
    id: 'activateTenantMember',
    summary: 'Activate a member',
    description:
      'Restores the membership with its groups, and reopens an account that its owner closed by leaving. You must hold all permissions of these groups.',
    response: [TenantMemberEnvelope, 'The updated member.'],
    errors: [...STATUS_ERRORS, AccessErrors.accountClosed, TenantErrors.memberErased],
  })
  @Requires('users.deactivate')
  activate(@Ctx() ctx: RequestContext, @Id('user_id') userId: string): Promise<TenantMemberEnvelope> {
    return this.members.setStatus(ctx, userId, 'active');
  }

  @Endpoint('GET :user_id/content', {
    id: 'readTenantMemberContent',
    summary: 'Count the content of a member',
    description:
      'Number of objects that the member owns and that a transfer moves: notes and tasks, including those in the trash, and their folders.',
    response: [MemberContentEnvelope, 'Number of objects by kind.'],
    errors: [AccessErrors.tenantMemberNotFound],
  })
  @Requires('users.transfer')
  readContent(@Ctx() ctx: RequestContext, @Id('user_id') userId: string): Promise<MemberContentEnvelope> {
    return this.members.readContent(ctx, userId);
  }

  @Endpoint('POST :user_id/transfer', {
    id: 'transferTenantMemberContent',
    work: 'long',
    summary: 'Transfer the content of a deactivated member',
    description:
      'Makes another active member the owner of all notes and tasks, including those in the trash, and of their folders. Items stay in their folders and shared with the same members; share links end. You must hold all permissions of the deactivated member.',
    response: [TransferredContentEnvelope, 'Number of transferred objects by kind.'],
    errors: [AccessErrors.tenantMemberNotFound, AccessErrors.cannotGrantUnheld, AccessErrors.memberActive],
  })
  @Requires('users.transfer')
  transfer(
    @Ctx() ctx: RequestContext,
    @Id('user_id') userId: string,
    @Body() body: TransferContent,
  ): Promise<TransferredContentEnvelope> {
    return this.members.transfer(ctx, userId, body.to.toLowerCase());
  }
}
