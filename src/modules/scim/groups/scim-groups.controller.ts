import { Body, Controller } from '@nestjs/common';
import type { Projection } from '../../../lib/scim/index.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { ScimEndpoint, ScimListQuery, ScimSelection } from '../scim-endpoint.js';
import { ListQuery, type ScimQuery, type ScimTarget, SearchQuery, Selected, Target } from '../scim-query.js';
import { SCIM_PATH } from '../scim-path.js';
import { Actor, type ScimActor } from '../scim-authenticator.js';
import { GROUP_EXAMPLES } from '../scim-examples.js';
import { ScimGroupsService } from './scim-groups.service.js';

@Controller(`${SCIM_PATH}/Groups`)
export class ScimGroupsController {
  constructor(private readonly groups: ScimGroupsService) {}

  @ScimEndpoint('GET', {
    id: 'listScimGroups',
    summary: 'List or search the groups',
    description: 'Without the group of all members. Use `excludedAttributes=members` for large groups.',
    response: 'ScimList',
  })
  @ScimListQuery()
  list(@Actor() actor: ScimActor, @ListQuery() query: ScimQuery): Promise<BodyReply> {
    return this.groups.list(actor, query);
  }

  @ScimEndpoint('POST .search', {
    id: 'searchScimGroups',
    summary: 'Search the groups by a body',
    description:
      'The same as the list, for filters that must not be in an address. Sorting is not supported.',
    body: 'ScimSearch',
    example: GROUP_EXAMPLES.search,
    response: 'ScimList',
  })
  search(@Actor() actor: ScimActor, @SearchQuery() query: ScimQuery): Promise<BodyReply> {
    return this.groups.list(actor, query);
  }

  @ScimEndpoint('POST', {
    id: 'createScimGroup',
    summary: 'Create a group',
    description: 'It has no permissions; owners grant them in the workspace.',
    body: 'ScimGroupInput',
    example: GROUP_EXAMPLES.create,
    status: 201,
    response: 'ScimGroup',
  })
  @ScimSelection()
  create(
    @Actor() actor: ScimActor,
    @Body() body: unknown,
    @Selected() selected: Projection,
  ): Promise<BodyReply> {
    return this.groups.create(actor, body, selected);
  }

  @ScimEndpoint('GET :resource_id', {
    id: 'readScimGroup',
    summary: 'Read a group',
    response: 'ScimGroup',
  })
  read(@Actor() actor: ScimActor, @Target() target: ScimTarget): Promise<BodyReply> {
    return this.groups.read(actor, target);
  }

  @ScimEndpoint('PUT :resource_id', {
    id: 'replaceScimGroup',
    summary: 'Replace a group',
    description: 'Members that the body does not contain leave the group. The group `owners` is read-only.',
    body: 'ScimGroupInput',
    example: GROUP_EXAMPLES.create,
    response: 'ScimGroup',
  })
  replace(
    @Actor() actor: ScimActor,
    @Target() target: ScimTarget,
    @Body() body: unknown,
  ): Promise<BodyReply> {
    return this.groups.replace(actor, target, body);
  }

  @ScimEndpoint('PATCH :resource_id', {
    id: 'patchScimGroup',
    summary: 'Change a group',
    description: 'The members of the group `owners` are read-only.',
    body: 'ScimPatch',
    example: GROUP_EXAMPLES.patch,
    response: 'ScimGroup',
  })
  patch(@Actor() actor: ScimActor, @Target() target: ScimTarget, @Body() body: unknown): Promise<BodyReply> {
    return this.groups.patch(actor, target, body);
  }

  @ScimEndpoint('DELETE :resource_id', {
    id: 'deleteScimGroup',
    summary: 'Delete a group',
    description: 'Its members lose its permissions. Groups of the system stay.',
  })
  delete(@Actor() actor: ScimActor, @Target() target: ScimTarget): Promise<BodyReply> {
    return this.groups.delete(actor, target);
  }
}
