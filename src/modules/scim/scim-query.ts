import { createHash } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Json, Projection } from '../../lib/scim/index.js';
import { isUuid } from '../../platform/http/id.pipe.js';
import { scimError } from './scim-failure.js';

/** Maximum number of resources in a response. */
export const MAX_RESULTS = 200;
const DEFAULT_RESULTS = 100;
const MAX_ATTRIBUTES = 2_000;

/** A query of RFC 7644, section 3.4.2. */
export interface ScimQuery extends Projection {
  filter?: string;
  /** Number of the first resource, from 1. */
  startIndex: number;
  /** 0: the total only. */
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
  const filter = parameter(request, 'filter');
  return {
    ...projectionOf(request),
    ...(filter !== undefined && { filter }),
    startIndex: Math.max(1, numberOf(request, 'startIndex') ?? 1),
    count: Math.min(MAX_RESULTS, Math.max(0, numberOf(request, 'count') ?? DEFAULT_RESULTS)),
  };
});

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
  const projection = {
    attributes: parameter(request, 'attributes'),
    excludedAttributes: parameter(request, 'excludedAttributes'),
  };
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

/** Whether a condition of a header names a version; `*` names any (RFC 9110, section 13.1). Versions are weak. */
export function namesVersion(header: string, version: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return header.split(',').some((tag) => tag.trim() === '*' || opaque(tag) === opaque(version));
}
