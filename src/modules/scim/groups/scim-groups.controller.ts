import { Controller } from '@nestjs/common';
import { GROUPS } from '../../../lib/scim/index.js';
import { GROUP_EXAMPLES } from '../model/scim-openapi.js';
import { SCIM_PATH } from '../model/scim-reply.js';
import { ScimResourcesController } from '../scim-resources.controller.js';
import { ScimGroupsService } from './scim-groups.service.js';

@Controller(`${SCIM_PATH}/Groups`)
export class ScimGroupsController extends ScimResourcesController(GROUPS, ScimGroupsService, {
  examples: GROUP_EXAMPLES,
  descriptions: {
    list: 'Without the group of all members. Use `excludedAttributes=members` for large groups: a page ends at about 4 MiB, with fewer groups than `count`.',
    create: 'It has no permissions; owners grant them in the workspace.',
    replace: 'Members that the body does not contain leave the group. The group `owners` is read-only.',
    patch: 'The members of the group `owners` are read-only.',
    delete: 'Its members lose its permissions. Groups of the system stay.',
  },
}) {}
