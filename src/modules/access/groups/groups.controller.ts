import { Controller } from '@nestjs/common';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { ResourceController } from '../../../platform/resources/resource.controller.js';
import { AccessErrors } from '../access.errors.js';
import { CreateGroup, UpdateGroup } from './groups.dto.js';
import { GROUPS } from './groups.resource.js';
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
