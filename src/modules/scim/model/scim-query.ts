import { createHash } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import {
  isObject,
  type Json,
  MESSAGES,
  project,
  type Projection,
  type ResourceType,
} from '../../../lib/scim/index.js';
import { namesTag } from '../../../platform/http/entity-tags.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { emptyReply, scimError, scimReply } from './scim-reply.js';

/** Maximum number of resources in a response. */
export const MAX_RESULTS = 200;
const DEFAULT_RESULTS = 100;
const MAX_ATTRIBUTES = 2_000;

/** The schema of a search by POST. */
const SEARCH_REQUEST = `${MESSAGES}:SearchRequest`;

/** A query of RFC 7644, section 3.4.2. */
export interface ScimQuery extends Projection {
  filter?: string;
  /** Number of the first resource, from 1. */
  startIndex: number;
  /** 0 means the total only. */
  count: number;
}

/** The selected attributes, and the conditions of the headers. */
export interface ScimTarget extends Projection {
  id: string;
  ifMatch?: string;
  ifNoneMatch?: string;
}

/** Injects the query of a list. */
export const ListQuery = createParamDecorator((_: unknown, context: ExecutionContext): ScimQuery => {
  const request = context.switchToHttp().getRequest<Request>();
  const [startIndex, count] = [numberOf(request, 'startIndex'), numberOf(request, 'count')];
  return queryOf(projectionOf(request), parameter(request, 'filter'), startIndex, count);
});

/** Injects the query in the body of a search (RFC 7644, section 3.4.3). */
export const SearchQuery = createParamDecorator((_: unknown, context: ExecutionContext): ScimQuery => {
  const body: unknown = context.switchToHttp().getRequest<Request>().body;
  if (!isObject(body)) throw scimError(400, 'The body must be a JSON object.', 'invalidSyntax');
  const { schemas, filter, attributes, excludedAttributes, startIndex, count } = body;
  if (!Array.isArray(schemas) || !schemas.includes(SEARCH_REQUEST))
    throw scimError(400, `schemas must contain ${SEARCH_REQUEST}.`, 'invalidSyntax');
  if (filter !== undefined && filter !== null && typeof filter !== 'string')
    throw scimError(400, 'filter must be a text.', 'invalidValue');
  const projection = checkedProjection({
    attributes: listOf('attributes', attributes),
    excludedAttributes: listOf('excludedAttributes', excludedAttributes),
  });
  const [start, size] = [integerOf('startIndex', startIndex), integerOf('count', count)];
  return queryOf(projection, filter || undefined, start, size);
});

function queryOf(
  projection: Projection,
  filter?: string,
  startIndex = 1,
  count = DEFAULT_RESULTS,
): ScimQuery {
  return {
    ...projection,
    ...(filter !== undefined && { filter }),
    startIndex: Math.max(1, startIndex),
    count: Math.min(MAX_RESULTS, Math.max(0, count)),
  };
}

/** Converts a list of names in a body to the form of the query parameter: separated by commas. */
function listOf(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const names: unknown[] = Array.isArray(value) ? value : [value];
  if (!names.every((each) => typeof each === 'string'))
    throw scimError(400, `${name} must be a list of texts.`, 'invalidValue');
  return names.join(',') || undefined;
}

function integerOf(name: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Number.isSafeInteger(value)) throw scimError(400, `${name} must be an integer.`, 'invalidValue');
  return value as number;
}

/** Injects the resource that a path names, with the selected attributes and the conditions of the headers. */
export const Target = createParamDecorator((_: unknown, context: ExecutionContext): ScimTarget => {
  const request = context.switchToHttp().getRequest<Request>();
  const id = String(request.params['resource_id']).toLowerCase();
  if (!isUuid(id)) throw scimError(404, 'The resource does not exist.');
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
  return { id, ...projectionOf(request), ...(ifMatch && { ifMatch }), ...(ifNoneMatch && { ifNoneMatch }) };
});

/** Injects the selected attributes of a creation. */
export const Selected = createParamDecorator((_: unknown, context: ExecutionContext): Projection =>
  projectionOf(context.switchToHttp().getRequest<Request>()),
);

function projectionOf(request: Request): Projection {
  return checkedProjection({
    attributes: parameter(request, 'attributes'),
    excludedAttributes: parameter(request, 'excludedAttributes'),
  });
}

function checkedProjection(projection: Projection): Projection {
  for (const [name, list] of Object.entries(projection))
    if (list !== undefined && list.length > MAX_ATTRIBUTES)
      throw scimError(400, `${name} is longer than ${MAX_ATTRIBUTES} characters.`, 'invalidValue');
  return projection;
}

function parameter({ query }: Request, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw scimError(400, `${name} must occur once.`, 'invalidValue');
  return value;
}

function numberOf(request: Request, name: string): number | undefined {
  const text = parameter(request, name);
  if (text === undefined) return undefined;
  if (!/^[+-]?\d{1,9}$/.test(text)) throw scimError(400, `${name} must be a number.`, 'invalidValue');
  return Number(text);
}

/** A weak ETag of the content of a resource, whose keys have a fixed order. */
export const versionOf = (content: Json): string =>
  `W/"${createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22)}"`;

const metaOf = (resource: Json) => resource['meta'] as { version: string; location: string };

/** The selected attributes of a resource, with its version; 201 also has its location. */
export function resourceReply(
  type: ResourceType,
  resource: Json,
  projection: Projection,
  status: 200 | 201 = 200,
): BodyReply {
  const { version, location } = metaOf(resource);
  return scimReply(project(type, resource, projection), {
    status,
    etag: version,
    ...(status === 201 && { location }),
  });
}

/** A resource, or 304 where the client has its version. */
export function readReply(type: ResourceType, resource: Json, target: ScimTarget): BodyReply {
  const { version } = metaOf(resource);
  return namesTag(target.ifNoneMatch, version)
    ? emptyReply(304, version)
    : resourceReply(type, resource, target);
}

/** Versions are weak, and If-Match names them (RFC 7644, 3.14): it compares weakly here. @throws ApiError 412 for a stale version */
export function checkVersion({ ifMatch }: ScimTarget, resource: Json): void {
  if (ifMatch !== undefined && !namesTag(ifMatch, metaOf(resource).version))
    throw scimError(412, 'The resource has changed since it was read.');
}
