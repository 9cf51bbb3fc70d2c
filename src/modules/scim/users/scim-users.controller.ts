import { Controller } from '@nestjs/common';
import { USERS } from '../../../lib/scim/index.js';
import { USER_EXAMPLES } from '../model/scim-examples.js';
import { SCIM_PATH } from '../model/scim-path.js';
import { ScimResourcesController } from '../scim-resources.controller.js';
import { ScimUsersService } from './scim-users.service.js';

@Controller(`${SCIM_PATH}/Users`)
export class ScimUsersController extends ScimResourcesController(USERS, ScimUsersService, {
  examples: USER_EXAMPLES,
  descriptions: {
    list: 'All members of the workspace, deactivated ones included, without service accounts. A page ends at about 4 MiB, with fewer users than `count`.',
    create:
      'The user becomes a member. `userName` is an e-mail address in a verified domain of the workspace; without an account, one is created without password, and the user gets a mail. A user who was deleted through SCIM returns under the same id.',
    replace: 'Attributes that the body does not contain are removed; without `active`, the status stays.',
    patch: '`active: false` deactivates the membership and ends its sessions.',
    delete:
      'Deactivates the membership, ends its sessions and removes it from all groups; clients no longer see the user. Content stays and can be transferred. The last owner stays.',
  },
}) {}
