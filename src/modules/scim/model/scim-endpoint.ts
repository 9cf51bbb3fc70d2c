import { applyDecorators, Delete, Get, HttpCode, Patch, Post, Put, UseFilters } from '@nestjs/common';
import {
  ApiExtension,
  ApiHeader,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiResponse,
  ApiSecurity,
  ApiTags,
} from '@nestjs/swagger';
import { AuthenticatedBy, Public } from '../../../platform/context/access.decorators.js';
import { AUTHENTICATE, LOCATION_HEADER, RETRY_AFTER } from '../../../platform/http/api-docs.js';
import { JsonTypes } from '../../../platform/http/body/body.guard.js';
import { DEFAULT_LIMITS } from '../../../platform/http/body/body-limits.js';
import { MESSAGES } from '../../../lib/scim/index.js';
import { ScimAuthenticator } from '../scim-authenticator.js';
import { SCIM_JSON, ScimExceptionFilter } from './scim-reply.js';

/** The security scheme of the OpenAPI document. */
export const SCIM_SCHEME = 'scim';

const ROUTES = { GET: Get, POST: Post, PUT: Put, PATCH: Patch, DELETE: Delete };
type Method = keyof typeof ROUTES;

interface ScimDocs {
  id: string;
  summary: string;
  description: string;
  /** Name in `SCIM_SCHEMAS`; missing: 204. */
  response?: string;
  /** Name in `SCIM_SCHEMAS`. */
  body?: string;
  example?: object;
  status?: 200 | 201 | 204;
  /** Needs no authentication. */
  isPublic?: boolean;
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const SELECTION = ['attributes', 'excludedAttributes'];

const ERRORS: Record<number, string> = {
  400: 'Invalid filter, path, syntax or value; `scimType` names the kind.',
  401: 'The token is missing, unknown, expired or revoked.',
  403: 'The workspace does not allow the change, e.g. an address outside its verified domains.',
  404: 'The resource does not exist.',
  409: 'Another resource has the value (`uniqueness`), or the workspace would lose its last owner.',
  412: 'The version of If-Match is stale.',
  413: 'The body is larger than 1 MiB, or has more than 20,000 values.',
  415: 'The body must be JSON.',
  429: 'Too many requests.',
  500: 'An unexpected error.',
  503: 'The service is overloaded or cannot reach its database.',
  507: 'The storage is full.',
};

/** Statuses of errors that an operation can return. */
function statusesOf(method: Method, isItem: boolean): number[] {
  const always = [400, 401, 429, 500, 503, 507];
  const writes = method === 'GET' ? [] : [403, 409, 413, 415];
  return [...always, ...(isItem ? [404] : []), ...writes, ...(isItem && method !== 'GET' ? [412] : [])];
}

/** Route and documentation of an operation of SCIM (RFC 7644), with its media type and errors. */
export function ScimEndpoint(route: Method | `${Method} ${string}`, docs: ScimDocs): MethodDecorator {
  const [method, path = ''] = route.split(' ') as [Method, string?];
  const { response, status = response ? 200 : 204, isPublic = false } = docs;
  const isItem = path.includes(':');
  const isResource = isItem && path.includes('resource_id');
  const decorate = applyDecorators(
    ...(isPublic ? [Public()] : [AuthenticatedBy(ScimAuthenticator), ApiSecurity(SCIM_SCHEME)]),
    UseFilters(ScimExceptionFilter),
    JsonTypes(SCIM_JSON),
    ApiTags('provisioning'),
    ApiOperation({
      operationId: docs.id,
      summary: docs.summary,
      description: docs.description,
      ...(isPublic && { security: [] }),
      ...(docs.body && { requestBody: bodyOf(docs.body, docs.example) }),
    }),
    ...(docs.body ? [ApiExtension('x-body-limits', DEFAULT_LIMITS)] : []),
    ...(isResource ? [RESOURCE_ID] : []),
    ...(isResource && method !== 'DELETE' ? SELECTION.map(selection) : []),
    ...(isResource && method !== 'GET' ? [IF_MATCH] : []),
    ...(method === 'GET' && isResource
      ? [IF_NONE_MATCH, ApiResponse({ status: 304, description: 'Unchanged.', headers: VERSION })]
      : []),
    ApiResponse({
      status,
      description: 'The result.',
      ...(response &&
        (isResource || status === 201) && {
          headers: { ...VERSION, ...(status === 201 && LOCATION_HEADER) },
        }),
      ...(response && { content: { [SCIM_JSON]: { schema: ref(response) } } }),
    }),
    ...(isPublic ? [400, 500, 503] : statusesOf(method, isItem)).map(failure),
    HttpCode(status),
    ROUTES[method](path),
  );
  return (target, key, descriptor) => {
    // The Swagger plugin documents the return type of each method with status 200.
    Reflect.deleteMetadata('swagger/apiResponse', (descriptor as PropertyDescriptor).value as object);
    decorate(target, key, descriptor);
  };
}

const bodyOf = (schema: string, example: object | undefined) => ({
  required: true,
  content: Object.fromEntries(
    [SCIM_JSON, 'application/json'].map((type) => [
      type,
      { schema: ref(schema), ...(example && { examples: { example: { value: example } } }) },
    ]),
  ),
});

const RESOURCE_ID = ApiParam({
  name: 'resource_id',
  description: 'The id of the resource.',
  schema: { type: 'string', format: 'uuid', example: '01890a5d-ac96-774b-bcce-b302099a8057' },
});

const selection = (name: string) =>
  ApiQuery({
    name,
    required: false,
    description: `Attributes to ${name === 'attributes' ? 'return' : 'omit'}, separated by commas.`,
    schema: { type: 'string', maxLength: 2000, example: 'userName,name.familyName' },
  });

const condition = (name: string, description: string) =>
  ApiHeader({
    name,
    required: false,
    description,
    schema: { type: 'string', example: 'W/"x4mU1lq0a9Gq0mU1lq0a9G"' },
  });
const VERSION = {
  ETag: {
    description: 'The `meta.version` of the resource.',
    schema: { type: 'string' },
    example: 'W/"x4mU1lq0a9Gq0mU1lq0a9G"',
  },
} as const;
const IF_MATCH = condition('If-Match', 'The `meta.version` that was read; another one is rejected with 412.');
const IF_NONE_MATCH = condition('If-None-Match', 'A `meta.version`: 304 while it is current.');

/** Documents the query of a list. */
export const ScimListQuery = (): MethodDecorator =>
  applyDecorators(
    ApiQuery({
      name: 'filter',
      required: false,
      description: 'A filter of RFC 7644, section 3.4.2.2, of at most 4,096 characters.',
      schema: { type: 'string', maxLength: 4096, example: 'userName eq "ann@acme.example"' },
    }),
    ...Object.entries({ startIndex: 'Number of the first resource, from 1.', count: 'At most 200.' }).map(
      ([name, description]) =>
        ApiQuery({ name, required: false, description, schema: { type: 'integer', example: 1 } }),
    ),
    ...SELECTION.map(selection),
  );

/** Documents the selection of attributes in the response of a creation. */
export const ScimSelection = (): MethodDecorator => applyDecorators(...SELECTION.map(selection));

function failure(status: number): MethodDecorator {
  const detail = ERRORS[status] ?? '';
  return ApiResponse({
    status,
    description: detail,
    ...((status === 429 || status === 503) && { headers: RETRY_AFTER }),
    ...(status === 401 && { headers: AUTHENTICATE }),
    content: {
      [SCIM_JSON]: {
        schema: ref('ScimError'),
        example: { schemas: [`${MESSAGES}:Error`], status: String(status), detail },
      },
    },
  });
}
