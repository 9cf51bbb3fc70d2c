import { Body, Inject, type Type } from '@nestjs/common';
import type { Projection, ResourceType } from '../../lib/scim/index.js';
import type { BodyReply } from '../../platform/http/replies/body-reply.js';
import { Actor, type ScimActor } from './scim-authenticator.js';
import { ScimEndpoint, ScimListQuery, ScimSelection } from './model/scim-endpoint.js';
import {
  ListQuery,
  type ScimQuery,
  type ScimTarget,
  SearchQuery,
  Selected,
  Target,
} from './model/scim-query.js';
import type { ScimResources } from './scim-resources.js';

interface ScimResourceDocs {
  examples: Record<'create' | 'search' | 'patch', object>;
  descriptions: Record<'list' | 'create' | 'replace' | 'patch' | 'delete', string>;
}

/** The routes of a type of resource (RFC 7644, section 3), for a controller to extend. */
export function ScimResourcesController(
  { name }: ResourceType,
  resources: Type<ScimResources<unknown>>,
  { examples, descriptions }: ScimResourceDocs,
) {
  const one = name.toLowerCase();
  const item = `Scim${name}`;
  const input = { body: `${item}Input`, example: examples.create };

  class ScimResourceRoutes {
    constructor(@Inject(resources) private readonly resources: ScimResources<unknown>) {}

    @ScimEndpoint('GET', {
      id: `list${item}s`,
      summary: `List or search the ${one}s`,
      description: descriptions.list,
      response: 'ScimList',
    })
    @ScimListQuery()
    list(@Actor() actor: ScimActor, @ListQuery() query: ScimQuery): Promise<BodyReply> {
      return this.resources.list(actor, query);
    }

    @ScimEndpoint('POST .search', {
      id: `search${item}s`,
      summary: `Search the ${one}s by a body`,
      description:
        'The same as the list, for filters that must not be in an address. Sorting is not supported.',
      body: 'ScimSearch',
      example: examples.search,
      response: 'ScimList',
    })
    search(@Actor() actor: ScimActor, @SearchQuery() query: ScimQuery): Promise<BodyReply> {
      return this.resources.list(actor, query);
    }

    @ScimEndpoint('POST', {
      id: `create${item}`,
      summary: `Create a ${one}`,
      description: descriptions.create,
      ...input,
      status: 201,
      response: item,
    })
    @ScimSelection()
    create(
      @Actor() actor: ScimActor,
      @Body() body: unknown,
      @Selected() selected: Projection,
    ): Promise<BodyReply> {
      return this.resources.create(actor, body, selected);
    }

    @ScimEndpoint('GET :resource_id', {
      id: `read${item}`,
      summary: `Read a ${one}`,
      description: 'With its version as ETag. Status 304 when the version of `If-None-Match` is current.',
      response: item,
    })
    read(@Actor() actor: ScimActor, @Target() target: ScimTarget): Promise<BodyReply> {
      return this.resources.read(actor, target);
    }

    @ScimEndpoint('PUT :resource_id', {
      id: `replace${item}`,
      summary: `Replace a ${one}`,
      description: descriptions.replace,
      ...input,
      response: item,
    })
    replace(
      @Actor() actor: ScimActor,
      @Target() target: ScimTarget,
      @Body() body: unknown,
    ): Promise<BodyReply> {
      return this.resources.replace(actor, target, body);
    }

    @ScimEndpoint('PATCH :resource_id', {
      id: `patch${item}`,
      summary: `Change a ${one}`,
      description: descriptions.patch,
      body: 'ScimPatch',
      example: examples.patch,
      response: item,
    })
    patch(
      @Actor() actor: ScimActor,
      @Target() target: ScimTarget,
      @Body() body: unknown,
    ): Promise<BodyReply> {
      return this.resources.patch(actor, target, body);
    }

    @ScimEndpoint('DELETE :resource_id', {
      id: `delete${item}`,
      summary: `Delete a ${one}`,
      description: descriptions.delete,
    })
    delete(@Actor() actor: ScimActor, @Target() target: ScimTarget): Promise<BodyReply> {
      return this.resources.delete(actor, target);
    }
  }
  return ScimResourceRoutes;
}
