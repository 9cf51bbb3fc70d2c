import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiExtension,
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiResponse,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { bodyLimitsOf } from './body/body-limits.js';
import { DESCRIBES_OPERATIONS } from './describes-operations.js';
import { ErrorResponse } from './error.response.js';
import { type ErrorKind, Errors } from './errors.js';
import { inputDocsOf } from './input-docs.js';
export { BODY_ERRORS } from './input-docs.js';

/**
 * Metadata keys of the decorators in `platform/context`. They are here because the OpenAPI decorators read them, and
 * `context` imports `http`.
 */
export const IS_PUBLIC = 'workspace:public';
export const IS_TENANTLESS = 'workspace:tenantless';
export const IS_BEFORE_SECOND_FACTOR = 'workspace:before-second-factor';
export const IS_WITHOUT_SECOND_FACTOR = 'workspace:without-second-factor';
/** Permissions; a route needs one of them: see `Requires`. */
export const REQUIRES = 'workspace:requires';
export const WITHOUT_TENANT = 'workspace:without-tenant';
/** The class that authenticates the requests of a route in place of access tokens: see `AuthenticatedBy`. */
export const AUTHENTICATED_BY = 'workspace:authenticated-by';
/** The kind of work of the route: see `EndpointDocs`. */
export const REQUEST_WORK = 'workspace:request-work';

/** Errors of every operation that needs an access token. */
const COMMON = [
  // For a path that cannot be decoded.
  Errors.badRequest,
  Errors.unauthorized,
  Errors.workspaceForbidden,
  Errors.secondFactorRequired,
  Errors.secondFactorMissing,
  Errors.tooManyRequests,
  Errors.internal,
  Errors.overloaded,
  Errors.timedOut,
  Errors.unavailable,
  Errors.identityProviderUnavailable,
  Errors.storageFull,
];

/** Errors of an operation that takes an `Idempotency-Key`. */
export const IDEMPOTENCY_ERRORS = [
  Errors.idempotencyKeyReused,
  Errors.requestInFlight,
  Errors.invalidIdempotencyKey,
];

export interface OperationDocs {
  /** Section of the documentation. Default: `@ApiTags` of the controller. */
  tag?: string;
  /** Unique; generated clients name their method after it. */
  id: string;
  summary: string;
  description: string;
  /** Errors in addition to those of every operation and those that follow from the parameters. */
  errors?: readonly ErrorKind[];
}

/**
 * Documents an operation: the bearer token and its errors, unless the handler is `@Public()`; the permission, if the handler has
 * `@Requires(...)` below; and the errors and headers that follow from its parameters.
 */
export function Operation({ tag, id, summary, description, errors = [] }: OperationDocs): MethodDecorator {
  if (!DESCRIBES_OPERATIONS) return () => undefined;
  return (target, key, descriptor) => {
    const isPublic = Reflect.getMetadata(IS_PUBLIC, descriptor.value as object) === true;
    const requires = Reflect.getMetadata(REQUIRES, descriptor.value as object) as string[] | undefined;
    const inputs = inputDocsOf(target, key);
    const kinds = [
      ...errors,
      ...inputs.flatMap((input) => input.errors),
      ...(requires ? [Errors.forbidden] : []),
      ...(isPublic ? [] : COMMON),
    ];
    const decorate = applyDecorators(
      ...(tag === undefined ? [] : [ApiTags(tag)]),
      ...inputs.flatMap((input) => input.header ?? []),
      ...(isPublic ? [] : [ApiBearerAuth()]),
      ApiExtraModels(ErrorResponse, ...kinds.flatMap(({ docs }) => docs.type ?? [])),
      ApiOperation({
        operationId: id,
        summary,
        description: withPermission(description, requires),
        ...(isPublic && { security: [] }),
      }),
      ...(requires ? [ApiExtension('x-permissions', requires)] : []),
      ...(kinds.includes(Errors.invalidJson)
        ? [ApiExtension('x-body-limits', bodyLimitsOf(descriptor.value as object))]
        : []),
      ...[...Map.groupBy(new Set(kinds), (kind) => kind.status)].map(([status, group]) =>
        errorResponse(status, group),
      ),
    );
    decorate(target, key, descriptor);
  };
}

function withPermission(description: string, requires: string[] | undefined): string {
  if (!requires) return description;
  const needs = `Needs the permission ${requires.map((key) => `\`${key}\``).join(' or ')}.`;
  return `${description} ${needs}`;
}

/** An example for each error. */
export const errorExamples = (kinds: readonly ErrorKind[]) =>
  Object.fromEntries(
    kinds.map(({ code, message, docs }) => [
      code,
      { summary: message, value: { error: code, message, ...docs.example } },
    ]),
  );

/** The response of a status, with an example for each error. */
function errorResponse(status: number, kinds: ErrorKind[]): MethodDecorator {
  const unique = [...new Map(kinds.map((kind) => [kind.code, kind])).values()];
  return ApiResponse({
    status,
    description: unique.map((kind) => `\`${kind.code}\`: ${kind.message}`).join('\n\n'),
    ...errorHeaders(status, kinds),
    content: {
      'application/json': {
        schema: errorSchema(unique),
        examples: errorExamples(unique),
      },
    },
  });
}

function errorHeaders(status: number, kinds: ErrorKind[]) {
  const sent = new Set(kinds.flatMap(({ docs }) => docs.headers ?? []));
  if (status === 429 || status === 503) sent.add('Retry-After');
  const headers = Object.fromEntries([...sent].map((name) => [name, ERROR_HEADERS[name]]));
  return sent.size > 0 ? { headers } : {};
}

/** The schemas of errors with further members, and the common schema for the others. */
function errorSchema(kinds: ErrorKind[]) {
  const own = new Set(kinds.flatMap(({ docs }) => docs.type ?? []));
  const plain = kinds.some(({ docs }) => docs.type === undefined) ? [ErrorResponse] : [];
  const schemas = [...own, ...plain].map((type) => ({ $ref: getSchemaPath(type) }));
  return schemas.length === 1 ? schemas[0]! : { anyOf: schemas };
}

/** Headers of a 429 and a 503. */
export const RETRY_AFTER = {
  'Retry-After': {
    description: 'Seconds to wait before the next attempt, if known.',
    schema: { type: 'integer', minimum: 1 },
  },
} as const;

/** Header of a 401 for a bearer token. */
export const AUTHENTICATE = {
  'WWW-Authenticate': {
    description: 'The kind of token, and for an invalid one its error (RFC 6750).',
    schema: { type: 'string' },
    example: 'Bearer error="invalid_token"',
  },
} as const;

const ERROR_HEADERS = {
  ...RETRY_AFTER,
  ...AUTHENTICATE,
  ETag: { description: 'Names the current revision of the object.', schema: { type: 'string' } },
  'Content-Range': {
    description: 'The size of the file.',
    schema: { type: 'string' },
    example: 'bytes */48213',
  },
} as const;

/** Headers of a 201. */
export const LOCATION_HEADER = {
  Location: { description: 'Path of the new object.', schema: { type: 'string' } },
} as const;

/** Header with the revision of an object. @param kind of the object */
export const revisionHeader = (kind: string) =>
  ({
    ETag: {
      description: 'Names the revision; send it back as `If-Match`.',
      schema: { type: 'string' },
      example: `"${kind}:01890a5d-ac96-774b-bcce-b302099a8057:r3"`,
    },
  }) as const;

/** A success that carries the object's revision as its ETag, which names the kind of object. */
export const ApiRevision = (
  status: number,
  type: Type,
  description: string,
  kind = 'note',
): MethodDecorator =>
  ApiResponse({
    status,
    type,
    description,
    headers: { ...revisionHeader(kind), ...(status === 201 && LOCATION_HEADER) },
  });

const IDEMPOTENCY_HEADER = ApiHeader({
  name: 'Idempotency-Key',
  required: false,
  description:
    'Up to 255 visible ASCII characters. Within 24 hours a repeated request returns the first response and changes nothing.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
});

/** The operation takes an `Idempotency-Key`. `@Idempotency()` and `@Revisioned()` document it by themselves. */
export const ApiIdempotency = (): MethodDecorator => (target, key, descriptor) => {
  const known = (Reflect.getMetadata('swagger/apiParameters', descriptor.value as object) ?? []) as {
    name?: string;
  }[];
  if (!known.some(({ name }) => name === 'Idempotency-Key')) IDEMPOTENCY_HEADER(target, key, descriptor);
};

/** The types of files that users have stored or received: any that a browser does not execute. */
export const STORED_FILE_TYPES = [
  'application/octet-stream',
  'application/*',
  'audio/*',
  'font/*',
  'image/*',
  'model/*',
  'text/*',
  'video/*',
];

/** The content of a response with the bytes of a file. */
export const fileContent = (types: readonly string[]): Record<string, { schema: object }> =>
  Object.fromEntries(types.map((type) => [type, { schema: { type: 'string', format: 'binary' } }]));

/** Header of a response that is a file. */
export const FILE_NAME = {
  'Content-Disposition': {
    description: 'The file name (RFC 6266).',
    schema: { type: 'string' },
    example: 'attachment; filename="note.docx"',
  },
} as const;

/** Header of a file that clients may store. */
export const FILE_VERSION = {
  ETag: { description: 'Names the version of the file.', schema: { type: 'string' }, example: '"39c22f76"' },
} as const;

/**
 * A success that is a file to download.
 * @param contentType one or several, also ranges such as `image/*`
 * @param headers in addition to that of the file name
 */
export const ApiFile = (
  contentType: string | readonly string[],
  description: string,
  headers: object = {},
): MethodDecorator =>
  ApiResponse({
    status: 200,
    description,
    headers: { ...FILE_NAME, ...headers },
    content: fileContent([contentType].flat()),
  });

/** A success that is a page for browsers. */
export const ApiPage = (description = 'The page.'): MethodDecorator =>
  ApiResponse({ status: 200, description, content: { 'text/html': { schema: { type: 'string' } } } });

export const ApiIfNoneMatch = (): MethodDecorator =>
  ApiHeader({
    name: 'If-None-Match',
    required: false,
    description: 'The ETags of stored copies.',
    schema: { type: 'string' },
  });

/** A file whose ETag clients send as `If-None-Match`: 304 while their copy is current. */
export const ApiCachedFile = (contentType: string, description: string): MethodDecorator =>
  applyDecorators(
    ApiIfNoneMatch(),
    ApiFile(contentType, description, FILE_VERSION),
    ApiResponse({ status: 304, description: 'The stored copy is current.', headers: FILE_VERSION }),
  );
