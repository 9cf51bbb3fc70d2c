import { Body, Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../platform/concurrency/idempotency.js';
import { Requires } from '../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Id } from '../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../platform/http/input.pipe.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import { PageQuery } from '../../platform/paging/page.dto.js';
import { CreateGroup, UpdateGroup } from './access.dto.js';
import { AccessErrors } from './access.errors.js';
import { DeletedGroupEnvelope, GroupEnvelope, GroupListEnvelope } from './access.response.js';
import { GroupsService } from './groups.service.js';

@ApiTags('access')
@Controller('rbac/groups')
export class GroupsController {
  constructor(private readonly groups: GroupsService) {}

  @Endpoint('GET', {
    id: 'listGroups',
    summary: 'List groups',
    description: 'The groups owners, admins and members first, then the others by name.',
    response: [GroupListEnvelope, 'A page of groups.'],
  })
  @Requires('rbac.read', 'rbac.manage')
  list(@Ctx() ctx: RequestContext, @Query() query: PageQuery): Promise<GroupListEnvelope> {
    return this.groups.list(ctx, query);
  }

  @Endpoint('POST', {
    id: 'createGroup',
    summary: 'Create a group',
    status: 201,
    response: [GroupEnvelope, 'The new group.'],
    errors: [
      AccessErrors.cannotGrantUnheld,
      AccessErrors.alreadyExists,
      AccessErrors.unknownPermission,
      AccessErrors.tooManyGroups,
    ],
  })
  @Requires('rbac.manage')
  create(
    @Ctx() ctx: RequestContext,
    @Idempotency() key: IdempotencyKey | null,
    @Body() body: CreateGroup,
  ): Promise<JsonReply> {
    return this.groups.create(ctx, key, body);
  }

  @Endpoint('PUT :group_id', {
    id: 'updateGroup',
    summary: 'Update the name or description of a group',
    description: 'Omitted fields stay unchanged. You must hold every permission of the group.',
    response: [GroupEnvelope, 'The updated group.'],
    example: { name: 'Editors in chief' },
    errors: [
      AccessErrors.groupNotFound,
      AccessErrors.systemGroup,
      AccessErrors.cannotGrantUnheld,
      AccessErrors.conflict,
      AccessErrors.alreadyExists,
    ],
  })
  @Requires('rbac.manage')
  update(
    @Ctx() ctx: RequestContext,
    @Id('group_id') id: string,
    @CheckedBody(UpdateGroup) body: Checked<UpdateGroup>,
  ): Promise<GroupEnvelope> {
    return this.groups.update(ctx, id, body);
  }

  @Endpoint('DELETE :group_id', {
    id: 'deleteGroup',
    summary: 'Delete a group',
    description: 'Its members lose its permissions. You must hold every permission of the group.',
    response: [DeletedGroupEnvelope, 'The deleted group.'],
    errors: [AccessErrors.groupNotFound, AccessErrors.systemGroup, AccessErrors.cannotGrantUnheld],
  })
  @Requires('rbac.manage')
  delete(@Ctx() ctx: RequestContext, @Id('group_id') id: string): Promise<DeletedGroupEnvelope> {
    return this.groups.delete(ctx, id);
  }
}
