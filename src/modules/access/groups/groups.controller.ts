import { Body, Controller, Query } from '@nestjs/common';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Requires } from '../../../platform/context/permission.guard.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import {
  CreateOperation,
  DeleteOperation,
  ListOperation,
  UpdateOperation,
} from '../../../platform/resources/operations.js';
import { AccessErrors } from '../access.errors.js';
import { CreateGroup, UpdateGroup } from './groups.dto.js';
import { GROUPS } from './groups.resource.js';
import { GroupsService } from './groups.service.js';

@Controller(GROUPS.options.path)
export class GroupsController {
  constructor(private readonly groups: GroupsService) {}

  @ListOperation(GROUPS, {
    description: 'The groups owners, admins and members first, then the others by name.',
  })
  @Requires('rbac.read', 'rbac.manage')
  list(@Ctx() ctx: RequestContext, @Query() query: PageQuery) {
    return this.groups.list(ctx, query);
  }

  @CreateOperation(GROUPS, {
    description: 'The group has no members yet. You can only give it permissions that you hold.',
    errors: [
      AccessErrors.cannotGrantUnheld,
      AccessErrors.alreadyExists,
      AccessErrors.unknownPermission,
      AccessErrors.tooManyGroups,
    ],
  })
  @Requires('rbac.manage')
  create(@Ctx() ctx: RequestContext, @Idempotency() key: IdempotencyKey | null, @Body() body: CreateGroup) {
    return this.groups.create(ctx, key, body);
  }

  @UpdateOperation(GROUPS, {
    path: ':group_id',
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
  })
  @Requires('rbac.manage')
  update(
    @Ctx() ctx: RequestContext,
    @Id('group_id') id: string,
    @CheckedBody(UpdateGroup) body: Checked<UpdateGroup>,
  ) {
    return this.groups.update(ctx, id, body);
  }

  @DeleteOperation(GROUPS, {
    path: ':group_id',
    description: 'Its members lose its permissions. You must hold every permission of the group.',
    errors: [AccessErrors.systemGroup, AccessErrors.cannotGrantUnheld],
  })
  @Requires('rbac.manage')
  delete(@Ctx() ctx: RequestContext, @Id('group_id') id: string) {
    return this.groups.delete(ctx, id);
  }
}
