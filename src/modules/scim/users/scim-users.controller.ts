import { Body, Controller } from '@nestjs/common';
import type { Projection } from '../../../lib/scim/index.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { ScimEndpoint, ScimListQuery, ScimSelection } from '../scim-endpoint.js';
import { USER_EXAMPLES } from '../scim-examples.js';
import { ListQuery, type ScimQuery, type ScimTarget, SearchQuery, Selected, Target } from '../scim-query.js';
import { SCIM_PATH } from '../scim-path.js';
import { Actor, type ScimActor } from '../scim-authenticator.js';
import { ScimUsersService } from './scim-users.service.js';

@Controller(`${SCIM_PATH}/Users`)
export class ScimUsersController {
  constructor(private readonly users: ScimUsersService) {}

  @ScimEndpoint('GET', {
    id: 'listScimUsers',
    summary: 'List or search the users',
    description: 'All members of the workspace, deactivated ones included, without service accounts.',
    response: 'ScimList',
  })
  @ScimListQuery()
  list(@Actor() actor: ScimActor, @ListQuery() query: ScimQuery): Promise<BodyReply> {
    return this.users.list(actor, query);
  }

  @ScimEndpoint('POST .search', {
    id: 'searchScimUsers',
    summary: 'Search the users by a body',
    description:
      'The same as the list, for filters that must not be in an address. Sorting is not supported.',
    body: 'ScimSearch',
    example: USER_EXAMPLES.search,
    response: 'ScimList',
  })
  search(@Actor() actor: ScimActor, @SearchQuery() query: ScimQuery): Promise<BodyReply> {
    return this.users.list(actor, query);
  }

  @ScimEndpoint('POST', {
    id: 'createScimUser',
    summary: 'Create a user',
    description:
      'The user becomes a member. `userName` is an e-mail address in a verified domain of the workspace; without an account, one is created without password, and the user gets a mail. A user who was deleted through SCIM returns under the same id.',
    body: 'ScimUserInput',
    example: USER_EXAMPLES.create,
    status: 201,
    response: 'ScimUser',
  })
  @ScimSelection()
  create(
    @Actor() actor: ScimActor,
    @Body() body: unknown,
    @Selected() selected: Projection,
  ): Promise<BodyReply> {
    return this.users.create(actor, body, selected);
  }

  @ScimEndpoint('GET :resource_id', {
    id: 'readScimUser',
    summary: 'Read a user',
    response: 'ScimUser',
  })
  read(@Actor() actor: ScimActor, @Target() target: ScimTarget): Promise<BodyReply> {
    return this.users.read(actor, target);
  }

  @ScimEndpoint('PUT :resource_id', {
    id: 'replaceScimUser',
    summary: 'Replace a user',
    description: 'Attributes that the body does not contain are removed; without `active`, the status stays.',
    body: 'ScimUserInput',
    example: USER_EXAMPLES.create,
    response: 'ScimUser',
  })
  replace(
    @Actor() actor: ScimActor,
    @Target() target: ScimTarget,
    @Body() body: unknown,
  ): Promise<BodyReply> {
    return this.users.replace(actor, target, body);
  }

  @ScimEndpoint('PATCH :resource_id', {
    id: 'patchScimUser',
    summary: 'Change a user',
    description: '`active: false` deactivates the membership and ends its sessions.',
    body: 'ScimPatch',
    example: USER_EXAMPLES.patch,
    response: 'ScimUser',
  })
  patch(@Actor() actor: ScimActor, @Target() target: ScimTarget, @Body() body: unknown): Promise<BodyReply> {
    return this.users.patch(actor, target, body);
  }

  @ScimEndpoint('DELETE :resource_id', {
    id: 'deleteScimUser',
    summary: 'Delete a user',
    description:
      'Deactivates the membership, ends its sessions and removes it from all groups; clients no longer see the user. Content stays and can be transferred. The last owner stays.',
  })
  delete(@Actor() actor: ScimActor, @Target() target: ScimTarget): Promise<BodyReply> {
    return this.users.delete(actor, target);
  }
}
