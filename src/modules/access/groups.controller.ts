import { Body, Controller, Delete, Get, Post, Put, Query } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../platform/concurrency/idempotency.js';
import { Requires } from '../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { ApiIdempotency, BODY_ERRORS, IDEMPOTENCY_ERRORS, Operation } from '../../platform/http/api-docs.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../platform/http/input.pipe.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import { PageQuery } from '../../platform/paging/page.dto.js';
import { CreateGroup, UpdateGroup } from './access.dto.js';
import { AccessErrors } from './access.errors.js';
import { DeletedGroupEnvelope, GroupEnvelope, GroupListEnvelope } from './access.response.js';
import { GroupsService } from './groups.service.js';

@Controller('rbac/groups')
export class GroupsController {
  constructor(private readonly groups: GroupsService) {}

  @Operation({
    tag: 'access',
    id: 'listGroups',
    summary: 'List groups',
    description: 'The groups owners, admins and members first, then the others by name.',
    errors: [Errors.validationFailed, Errors.invalidCursor],
  })
  @ApiOkResponse({ type: GroupListEnvelope, description: 'A page of groups.' })
  @Requires('rbac.read', 'rbac.manage')
  @Get()
  list(@Ctx() ctx: RequestContext, @Query() query: PageQuery): Promise<GroupListEnvelope> {
    return this.groups.list(ctx, query);
  }

  @Operation({
    tag: 'access',
    id: 'createGroup',
    summary: 'Create a group',
    errors: [
      AccessErrors.cannotGrantUnheld,
      AccessErrors.alreadyExists,
      AccessErrors.unknownPermission,
      AccessErrors.tooManyGroups,
      Errors.validationFailed,
      ...BODY_ERRORS,
      ...IDEMPOTENCY_ERRORS,
    ],
  })
  @ApiIdempotency()
  @ApiCreatedResponse({ type: GroupEnvelope, description: 'The new group.' })
  @Requires('rbac.manage')
  @Post()
  create(
    @Ctx() ctx: RequestContext,
    @Idempotency() key: IdempotencyKey | null,
    @Body() body: CreateGroup,
  ): Promise<JsonReply> {
    return this.groups.create(ctx, key, body);
  }

  @Operation({
    tag: 'access',
    id: 'updateGroup',
    summary: 'Update the name or description of a group',
    description: 'Omitted fields stay unchanged. You must hold every permission of the group.',
    errors: [
      AccessErrors.groupNotFound,
      AccessErrors.systemGroup,
      AccessErrors.cannotGrantUnheld,
      AccessErrors.conflict,
      AccessErrors.alreadyExists,
      Errors.invalidId,
      Errors.validationFailed,
      ...BODY_ERRORS,
    ],
  })
  @ApiBody({ type: UpdateGroup, examples: { name: { value: { name: 'Editors in chief' } } } })
  @ApiOkResponse({ type: GroupEnvelope, description: 'The updated group.' })
  @Requires('rbac.manage')
  @Put(':group_id')
  update(
    @Ctx() ctx: RequestContext,
    @Id('group_id') id: string,
    @CheckedBody(UpdateGroup) body: Checked<UpdateGroup>,
  ): Promise<GroupEnvelope> {
    return this.groups.update(ctx, id, body);
  }

  @Operation({
    tag: 'access',
    id: 'deleteGroup',
    summary: 'Delete a group',
    description: 'Its members lose its permissions. You must hold every permission of the group.',
    errors: [
      AccessErrors.groupNotFound,
      AccessErrors.systemGroup,
      AccessErrors.cannotGrantUnheld,
      Errors.invalidId,
    ],
  })
  @ApiOkResponse({ type: DeletedGroupEnvelope, description: 'The deleted group.' })
  @Requires('rbac.manage')
  @Delete(':group_id')
  delete(@Ctx() ctx: RequestContext, @Id('group_id') id: string): Promise<DeletedGroupEnvelope> {
    return this.groups.delete(ctx, id);
  }
}
