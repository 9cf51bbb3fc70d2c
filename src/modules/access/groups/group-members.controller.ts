import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { AccessErrors } from '../access.errors.js';
import { AddedMembersEnvelope, GroupMemberListEnvelope, RemovedMemberEnvelope } from '../access.response.js';
import { GroupMembersService } from './group-members.service.js';
import { AddGroupMembers } from './groups.dto.js';
import { GROUPS } from './groups.resource.js';

const ADDED = 'The added members.';
const UNCHANGED = 'All were members already: an empty list.';
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
    unchanged: UNCHANGED,
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
    unchanged: UNCHANGED,
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
