import { Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { Requires } from '../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { BODY_ERRORS, Operation } from '../../platform/http/api-docs.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { Checked, CheckedBody } from '../../platform/http/input.pipe.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import { GrantPermissions } from './access.dto.js';
import { AccessErrors } from './access.errors.js';
import { PermissionsEnvelope } from './access.response.js';
import { GroupPermissionsService } from './group-permissions.service.js';

const GRANTED = 'Current permissions of the group.';
const UNCHANGED = 'Permissions of the group, which had all of these already.';
const CHANGE_ERRORS = [
  AccessErrors.groupNotFound,
  AccessErrors.systemGroup,
  AccessErrors.cannotGrantUnheld,
  AccessErrors.unknownPermission,
  Errors.invalidId,
];

const PermissionParam = () =>
  ApiParam({
    name: 'permission',
    description: 'Permission key.',
    schema: { type: 'string', example: 'forms.create' },
  });

@Controller('rbac/groups/:group_id/permissions')
export class GroupPermissionsController {
  constructor(private readonly permissions: GroupPermissionsService) {}

  @Operation({
    tag: 'access',
    id: 'listGroupPermissions',
    summary: 'List the permissions of a group, and all permissions',
    errors: [AccessErrors.groupNotFound, Errors.invalidId],
  })
  @ApiOkResponse({
    type: PermissionsEnvelope,
    description: 'Permissions of the group, and all available ones.',
  })
  @Requires('rbac.read', 'rbac.manage')
  @Get()
  list(@Ctx() ctx: RequestContext, @Id('group_id') groupId: string): Promise<PermissionsEnvelope> {
    return this.permissions.list(ctx, groupId);
  }

  @Operation({
    tag: 'access',
    id: 'grantGroupPermissions',
    summary: 'Grant permissions to a group',
    description: 'Only permissions that you hold. The owners group has all.',
    errors: [...CHANGE_ERRORS, Errors.validationFailed, ...BODY_ERRORS],
  })
  @ApiBody({ type: GrantPermissions })
  @ApiCreatedResponse({ type: PermissionsEnvelope, description: GRANTED })
  @ApiOkResponse({ type: PermissionsEnvelope, description: UNCHANGED })
  @Requires('rbac.manage')
  @Post()
  grant(
    @Ctx() ctx: RequestContext,
    @Id('group_id') groupId: string,
    @CheckedBody(GrantPermissions) body: Checked<GrantPermissions>,
  ): Promise<JsonReply> {
    return this.permissions.grant(ctx, groupId, body);
  }

  @Operation({
    tag: 'access',
    id: 'grantGroupPermission',
    summary: 'Grant one permission to a group',
    description: 'Like `POST …/permissions`, with the permission in the path.',
    errors: CHANGE_ERRORS,
  })
  @PermissionParam()
  @ApiCreatedResponse({ type: PermissionsEnvelope, description: GRANTED })
  @ApiOkResponse({ type: PermissionsEnvelope, description: UNCHANGED })
  @Requires('rbac.manage')
  @Post(':permission')
  grantOne(
    @Ctx() ctx: RequestContext,
    @Id('group_id') groupId: string,
    @Param('permission') permission: string,
  ): Promise<JsonReply> {
    return this.permissions.grant(ctx, groupId, Checked.of(GrantPermissions, { permission }));
  }

  @Operation({
    tag: 'access',
    id: 'revokeGroupPermission',
    summary: 'Revoke a permission of a group',
    description: 'Only a permission that you hold. The owners group keeps all.',
    errors: [...CHANGE_ERRORS, AccessErrors.notGranted],
  })
  @PermissionParam()
  @ApiOkResponse({ type: PermissionsEnvelope, description: 'Remaining permissions of the group.' })
  @Requires('rbac.manage')
  @Delete(':permission')
  revoke(
    @Ctx() ctx: RequestContext,
    @Id('group_id') groupId: string,
    @Param('permission') permission: string,
  ): Promise<JsonReply> {
    return this.permissions.revoke(ctx, groupId, permission);
  }
}
