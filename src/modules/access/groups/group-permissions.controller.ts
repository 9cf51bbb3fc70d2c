import { Controller, Param } from '@nestjs/common';
import { ApiTags, ApiParam } from '@nestjs/swagger';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { AccessErrors } from '../access.errors.js';
import { PermissionsEnvelope } from '../access.response.js';
import { GroupPermissionsService } from './group-permissions.service.js';
import { GrantPermissions } from './groups.dto.js';
import { GROUPS } from './groups.resource.js';

const GRANTED = 'Current permissions of the group.';
const UNCHANGED = 'Permissions of the group, which had all of these already.';
const CHANGE_ERRORS = [
  GROUPS.notFound,
  AccessErrors.systemGroup,
  AccessErrors.cannotGrantUnheld,
  AccessErrors.unknownPermission,
];

const PermissionParam = () =>
  ApiParam({
    name: 'permission',
    description: 'Permission key.',
    schema: { type: 'string', example: 'forms.create' },
  });

@ApiTags('access')
@Controller('rbac/groups/:group_id/permissions')
export class GroupPermissionsController {
  constructor(private readonly permissions: GroupPermissionsService) {}

  @Endpoint('GET', {
    id: 'listGroupPermissions',
    summary: 'List the permissions of a group, and all permissions',
    description: 'Also all permissions that exist, each with `held`: whether you may grant and revoke it.',
    response: [PermissionsEnvelope, 'Permissions of the group, and all available ones.'],
    errors: [GROUPS.notFound],
  })
  @Requires('rbac.read', 'rbac.manage')
  list(@Ctx() ctx: RequestContext, @Id('group_id') groupId: string): Promise<PermissionsEnvelope> {
    return this.permissions.list(ctx, groupId);
  }

  @Endpoint('POST', {
    id: 'grantGroupPermissions',
    summary: 'Grant permissions to a group',
    description: 'Only permissions that you hold. The owners group has all.',
    status: 201,
    response: [PermissionsEnvelope, GRANTED],
    unchanged: UNCHANGED,
    errors: CHANGE_ERRORS,
  })
  @Requires('rbac.manage')
  grant(
    @Ctx() ctx: RequestContext,
    @Id('group_id') groupId: string,
    @CheckedBody(GrantPermissions) body: Checked<GrantPermissions>,
  ) {
    return this.permissions.grant(ctx, groupId, body);
  }

  @Endpoint('POST :permission', {
    id: 'grantGroupPermission',
    summary: 'Grant one permission to a group',
    description: 'Like `POST …/permissions`, with the permission in the path.',
    status: 201,
    response: [PermissionsEnvelope, GRANTED],
    unchanged: UNCHANGED,
    errors: CHANGE_ERRORS,
  })
  @PermissionParam()
  @Requires('rbac.manage')
  grantOne(
    @Ctx() ctx: RequestContext,
    @Id('group_id') groupId: string,
    @Param('permission') permission: string,
  ) {
    return this.permissions.grant(ctx, groupId, Checked.of(GrantPermissions, { permission }));
  }

  @Endpoint('DELETE :permission', {
    id: 'revokeGroupPermission',
    summary: 'Revoke a permission of a group',
    description: 'Only a permission that you hold. The owners group keeps all.',
    response: [PermissionsEnvelope, 'Remaining permissions of the group.'],
    errors: [...CHANGE_ERRORS, AccessErrors.notGranted],
  })
  @PermissionParam()
  @Requires('rbac.manage')
  revoke(
    @Ctx() ctx: RequestContext,
    @Id('group_id') groupId: string,
    @Param('permission') permission: string,
  ) {
    return this.permissions.revoke(ctx, groupId, permission);
  }
}
