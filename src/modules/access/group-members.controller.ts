import { Controller, Delete, Get, Post, Query } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import { Requires } from '../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { BODY_ERRORS, Operation } from '../../platform/http/api-docs.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { Checked, CheckedBody } from '../../platform/http/input.pipe.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import { PageQuery } from '../../platform/paging/page.dto.js';
import { AddMembers } from './access.dto.js';
import { AccessErrors } from './access.errors.js';
import { AddedMembersEnvelope, GroupMemberListEnvelope, RemovedMemberEnvelope } from './access.response.js';
import { GroupMembersService } from './group-members.service.js';

const ADDED = 'The added members.';
const UNCHANGED = 'All were members already: an empty list.';
const ADD_ERRORS = [
  AccessErrors.groupNotFound,
  AccessErrors.memberNotFound,
  AccessErrors.cannotGrantUnheld,
  Errors.invalidId,
];

@Controller('rbac/groups/:group_id/members')
export class GroupMembersController {
  constructor(private readonly members: GroupMembersService) {}

  @Operation({
    tag: 'access',
    id: 'listGroupMembers',
    summary: 'List the members of a group',
    description: 'The group `members` contains every active member of the workspace.',
    errors: [AccessErrors.groupNotFound, Errors.invalidId, Errors.validationFailed, Errors.invalidCursor],
  })
  @ApiOkResponse({ type: GroupMemberListEnvelope, description: 'A page of members.' })
  @Requires('rbac.read', 'rbac.manage')
  @Get()
  list(
    @Ctx() ctx: RequestContext,
    @Id('group_id') groupId: string,
    @Query() query: PageQuery,
  ): Promise<GroupMemberListEnvelope> {
    return this.members.list(ctx, groupId, query);
  }

  @Operation({
    tag: 'access',
    id: 'addGroupMembers',
    summary: 'Add members to a group',
    description: 'Grants the permissions of the group, so you must hold all of them. Adds all users or none.',
    errors: [...ADD_ERRORS, Errors.validationFailed, ...BODY_ERRORS],
  })
  @ApiBody({ type: AddMembers })
  @ApiCreatedResponse({ type: AddedMembersEnvelope, description: ADDED })
  @ApiOkResponse({ type: AddedMembersEnvelope, description: UNCHANGED })
  @Requires('rbac.manage')
  @Post()
  add(
    @Ctx() ctx: RequestContext,
    @Id('group_id') groupId: string,
    @CheckedBody(AddMembers) body: Checked<AddMembers>,
  ): Promise<JsonReply> {
    return this.members.add(ctx, groupId, body);
  }

  @Operation({
    tag: 'access',
    id: 'addGroupMember',
    summary: 'Add a member to a group',
    description: 'Like `POST …/members`, with the user in the path.',
    errors: ADD_ERRORS,
  })
  @ApiCreatedResponse({ type: AddedMembersEnvelope, description: ADDED })
  @ApiOkResponse({ type: AddedMembersEnvelope, description: UNCHANGED })
  @Requires('rbac.manage')
  @Post(':user_id')
  addOne(
    @Ctx() ctx: RequestContext,
    @Id('group_id') groupId: string,
    @Id('user_id') userId: string,
  ): Promise<JsonReply> {
    return this.members.add(ctx, groupId, Checked.of(AddMembers, { user_id: userId }));
  }

  @Operation({
    tag: 'access',
    id: 'removeGroupMember',
    summary: 'Remove a member from a group',
    description:
      'You must hold all permissions of the group. The last active owner of a workspace cannot be removed.',
    errors: [
      AccessErrors.groupNotFound,
      AccessErrors.notInGroup,
      AccessErrors.cannotGrantUnheld,
      AccessErrors.systemGroup,
      AccessErrors.lastAdmin,
      Errors.invalidId,
    ],
  })
  @ApiOkResponse({ type: RemovedMemberEnvelope, description: 'The member was removed.' })
  @Requires('rbac.manage')
  @Delete(':user_id')
  remove(
    @Ctx() ctx: RequestContext,
    @Id('group_id') groupId: string,
    @Id('user_id') userId: string,
  ): Promise<RemovedMemberEnvelope> {
    return this.members.remove(ctx, groupId, userId);
  }
}
