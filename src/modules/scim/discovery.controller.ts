import { Controller, Param } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { API_PREFIX, Config } from '../../config/config.js';
import {
  CORE,
  type Json,
  listResponse,
  resourceTypes,
  schemas,
  serviceProviderConfig,
} from '../../lib/scim/index.js';
import type { BodyReply } from '../../platform/http/replies/body-reply.js';
import { ScimEndpoint } from './model/scim-endpoint.js';
import { SCIM_PATH, scimError, scimReply } from './model/scim-reply.js';
import { MAX_RESULTS } from './model/scim-query.js';

/** The supported features, resource types and schemas (RFC 7644, section 4). */
@Controller(SCIM_PATH)
export class ScimDiscoveryController {
  private readonly base: string;

  constructor(config: Config) {
    this.base = `${config.publicUrl}/${API_PREFIX}/${SCIM_PATH}`;
  }

  @ScimEndpoint('GET ServiceProviderConfig', {
    id: 'readScimConfig',
    summary: 'Read the supported features of SCIM',
    description: 'Public, as RFC 7643, section 5, recommends.',
    response: 'ScimDocument',
    isPublic: true,
  })
  config(): BodyReply {
    return scimReply(serviceProviderConfig(this.base, { maxResults: MAX_RESULTS }));
  }

  @ScimEndpoint('GET ResourceTypes', {
    id: 'listScimResourceTypes',
    summary: 'List the resource types',
    description: 'User and Group, with their endpoints and schemas (RFC 7643, section 6).',
    response: 'ScimList',
  })
  types(): BodyReply {
    return list(resourceTypes(this.base));
  }

  @ScimEndpoint('GET ResourceTypes/:name', {
    id: 'readScimResourceType',
    summary: 'Read a resource type',
    description: 'One entry of the list, by its name.',
    response: 'ScimDocument',
  })
  @ApiParam({ name: 'name', description: 'User or Group.', schema: { type: 'string', example: 'User' } })
  type(@Param('name') name: string): BodyReply {
    return one(resourceTypes(this.base), name);
  }

  @ScimEndpoint('GET Schemas', {
    id: 'listScimSchemas',
    summary: 'List the schemas of users and groups',
    description: 'The attributes that this service supports (RFC 7643, section 7).',
    response: 'ScimList',
  })
  schemas(): BodyReply {
    return list(schemas(this.base));
  }

  @ScimEndpoint('GET Schemas/:name', {
    id: 'readScimSchema',
    summary: 'Read a schema',
    description: 'One entry of the list, by its URN.',
    response: 'ScimDocument',
  })
  @ApiParam({ name: 'name', description: 'The URN.', schema: { type: 'string', example: `${CORE}:User` } })
  schema(@Param('name') name: string): BodyReply {
    return one(schemas(this.base), name);
  }
}

const list = (documents: Json[]) => scimReply(listResponse(documents, documents.length, 1));

function one(documents: Json[], id: string): BodyReply {
  const found = documents.find((document) => document['id'] === id);
  if (!found) throw scimError(404, 'The resource does not exist.');
  return scimReply(found);
}
