import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Requires } from '../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { BODY_ERRORS, Operation } from '../../platform/http/api-docs.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { AccessErrors } from './access.errors.js';
import { ListTenantMembers, TransferContent } from './tenant-members.dto.js';
import {
  MemberContentEnvelope,
  TenantMemberEnvelope,
  TenantMemberListEnvelope,
  TransferredContentEnvelope,
} from './tenant-members.response.js';
import { TenantMembersService } from './tenant-members.service.js';

const STATUS_ERRORS = [AccessErrors.tenantMemberNotFound, AccessErrors.cannotGrantUnheld, Errors.invalidId];

@Controller('tenant/members')
export class TenantMembersController {
  constructor(private readonly members: TenantMembersService) {}

  @Operation({
    tag: 'tenant',
    id: 'listTenantMembers',
    summary: 'List the members of the workspace, including deactivated ones',
    errors: [Errors.validationFailed, Errors.invalidCursor],
  })
  @ApiOkResponse({ type: TenantMemberListEnvelope, description: 'A page of members.' })
  @Requires('tenant.read')
  @Get()
  list(@Ctx() ctx: RequestContext, @Query() query: ListTenantMembers): Promise<TenantMemberListEnvelope> {
    return this.members.list(ctx, query);
  }

  @Operation({
    tag: 'tenant',
    id: 'deactivateTenantMember',
    summary: 'Deactivate a member',
    description:
      'Ends their sessions in this workspace within 5 seconds. You must hold all permissions of the member. The last active owner cannot be deactivated. To leave the workspace yourself, use `DELETE /settings/profile`.',
    errors: [...STATUS_ERRORS, AccessErrors.lastAdmin],
  })
  @ApiOkResponse({ type: TenantMemberEnvelope, description: 'The updated member.' })
  @Requires('users.deactivate')
  @HttpCode(200)
  @Post(':user_id/deactivate')
  deactivate(@Ctx() ctx: RequestContext, @Id('user_id') userId: string): Promise<TenantMemberEnvelope> {
    return this.members.setStatus(ctx, userId, 'deactivated');
  }

  @Operation({
    tag: 'tenant',
    id: 'activateTenantMember',
    summary: 'Activate a member',
    description:
      'Restores the membership with its groups, and reopens an account that its owner closed by leaving. You must hold all permissions of these groups.',
    errors: [...STATUS_ERRORS, AccessErrors.accountClosed],
  })
  @ApiOkResponse({ type: TenantMemberEnvelope, description: 'The updated member.' })
  @Requires('users.deactivate')
  @HttpCode(200)
  @Post(':user_id/activate')
  activate(@Ctx() ctx: RequestContext, @Id('user_id') userId: string): Promise<TenantMemberEnvelope> {
    return this.members.setStatus(ctx, userId, 'active');
  }

  @Operation({
    tag: 'tenant',
    id: 'readTenantMemberContent',
    summary: 'Count the content of a member',
    description:
      'Number of objects that the member owns and that a transfer moves: notes and tasks, including those in the trash, and their folders.',
    errors: [AccessErrors.tenantMemberNotFound, Errors.invalidId],
  })
  @ApiOkResponse({ type: MemberContentEnvelope, description: 'Number of objects by kind.' })
  @Requires('users.transfer')
  @Get(':user_id/content')
  readContent(@Ctx() ctx: RequestContext, @Id('user_id') userId: string): Promise<MemberContentEnvelope> {
    return this.members.readContent(ctx, userId);
  }

  @Operation({
    tag: 'tenant',
    id: 'transferTenantMemberContent',
    summary: 'Transfer the content of a deactivated member',
    description:
      'Makes another active member the owner of all notes and tasks, including those in the trash, and of their folders. Items stay in their folders and shared with the same members; share links end. You must hold all permissions of the deactivated member.',
    errors: [
      AccessErrors.tenantMemberNotFound,
      AccessErrors.cannotGrantUnheld,
      AccessErrors.memberActive,
      Errors.invalidId,
      Errors.validationFailed,
      ...BODY_ERRORS,
    ],
  })
  @ApiOkResponse({ type: TransferredContentEnvelope, description: 'Number of transferred objects by kind.' })
  @Requires('users.transfer')
  @HttpCode(200)
  @Post(':user_id/transfer')
  transfer(
    @Ctx() ctx: RequestContext,
    @Id('user_id') userId: string,
    @Body() body: TransferContent,
  ): Promise<TransferredContentEnvelope> {
    return this.members.transfer(ctx, userId, body.to.toLowerCase());
  }
}
