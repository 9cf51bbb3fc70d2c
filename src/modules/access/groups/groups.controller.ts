import { Controller, Param, Query } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { ResourceController } from '../../../platform/resources/resource.controller.js';
import {
  AccessErrors,
  AddedMembersEnvelope,
  GroupMemberListEnvelope,
  PermissionsEnvelope,
  RemovedMemberEnvelope,
} from '../access.dto.js';
import { GroupMembersService } from './group-members.service.js';
import { GroupPermissionsService } from './group-permissions.service.js';
import { AddGroupMembers, CreateGroup, GrantPermissions, GROUPS, UpdateGroup } from './groups.dto.js';
import { GroupsService } from './groups.service.js';

@Controller(GROUPS.options.path)
export class GroupsController extends ResourceController(GROUPS, GroupsService, {
  idName: 'group_id',
  reads: ['rbac.read', 'rbac.manage'],
  requires: ['rbac.manage'],
  list: {
    query: PageQuery,
    description: 'The groups owners, admins and members first, then the others by name.',
  },
  create: {
    body: CreateGroup,
    description: 'The group has no members yet. You can only give it permissions that you hold.',
    errors: [
      AccessErrors.cannotGrantUnheld,
      AccessErrors.alreadyExists,
      AccessErrors.unknownPermission,
      AccessErrors.tooManyGroups,
    ],
  },
  update: {
    body: UpdateGroup,
    methods: ['PUT'],
    summary: 'Update the name or description of a group',
    description: 'Omitted fields stay unchanged. You must hold every permission of the group.',
    example: { name: 'Editors in chief' },
    errors: [
      AccessErrors.systemGroup,
      AccessErrors.cannotGrantUnheld,
      AccessErrors.conflict,
      AccessErrors.alreadyExists,
    ],
  },
  delete: {
    description: 'Its members lose its permissions. You must hold every permission of the group.',
    errors: [AccessErrors.systemGroup, AccessErrors.cannotGrantUnheld],
  },
}) {}

const ADDED = 'The added members.';
const WERE_MEMBERS = 'All were members already: an empty list.';
const ADD_ERRORS = [GROUPS.notFound, AccessErrors.memberNotFound, AccessErrors.cannotGrantUnheld];

@ApiTags('access')
@Controller('rbac/groups/:group_id/members')
export class GroupMembersController {
  constructor(private readonly members: GroupMembersService) {}

  @Endpoint('GET', {
    id: 'listGroupMembers',
    summary: 'List the members of a group',
    description: 'The group `members` contains every active member of the workspace.',
    response: [GroupMemberListEnvelope, 'A page of members.'],
    errors: [GROUPS.notFound],
  })
  @Requires('rbac.read', 'rbac.manage')
  list(
    @Ctx() ctx: RequestContext,
    @Id('group_id') groupId: string,
    @Query() query: PageQuery,
  ): Promise<GroupMemberListEnvelope> {
    return this.members.list(ctx, groupId, query);
  }

  @Endpoint('POST', {
    id: 'addGroupMembers',
    summary: 'Add members to a group',
    description: 'Grants the permissions of the group, so you must hold all of them. Adds all users or none.',
    status: 201,
    response: [AddedMembersEnvelope, ADDED],
    unchanged: WERE_MEMBERS,
    errors: ADD_ERRORS,
  })
  @Requires('rbac.manage')
  add(
    @Ctx() ctx: RequestContext,
    @Id('group_id') groupId: string,
    @CheckedBody(AddGroupMembers) body: Checked<AddGroupMembers>,
  ) {
    return this.members.add(ctx, groupId, body);
  }

  @Endpoint('POST :user_id', {
    id: 'addGroupMember',
    summary: 'Add a member to a group',
    description: 'Like `POST …/members`, with the user in the path.',
    status: 201,
    response: [AddedMembersEnvelope, ADDED],
    unchanged: WERE_MEMBERS,
    errors: ADD_ERRORS,
  })
  @Requires('rbac.manage')
  addOne(@Ctx() ctx: RequestContext, @Id('group_id') groupId: string, @Id('user_id') userId: string) {
    return this.members.add(ctx, groupId, Checked.of(AddGroupMembers, { user_id: userId }));
  }

  @Endpoint('DELETE :user_id', {
    id: 'removeGroupMember',
    summary: 'Remove a member from a group',
    description:
      'You must hold all permissions of the group. The last active owner of a workspace cannot be removed.',
    response: [RemovedMemberEnvelope, 'The member was removed.'],
    errors: [
      GROUPS.notFound,
      AccessErrors.notInGroup,
      AccessErrors.cannotGrantUnheld,
      AccessErrors.systemGroup,
      AccessErrors.lastAdmin,
    ],
  })
  @Requires('rbac.manage')
  remove(
    @Ctx() ctx: RequestContext,
    @Id('group_id') groupId: string,
    @Id('user_id') userId: string,
  ): Promise<RemovedMemberEnvelope> {
    return this.members.remove(ctx, groupId, userId);
  }
}

const GRANTED = 'Current permissions of the group.';
const WERE_GRANTED = 'Permissions of the group, which had all of these already.';
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
    unchanged: WERE_GRANTED,
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
    unchanged: WERE_GRANTED,
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
