import type { Type } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { BaseRevision } from '../concurrency/base-revision.dto.js';
import { Revisioned } from '../concurrency/revision.interceptor.js';
import { type ErrorKind, Errors } from '../http/errors.js';
import { Endpoint, type HandlerDecorator, withDecorators } from '../http/endpoint.js';
import { BODY_ERRORS } from '../http/input-docs.js';
import { exampleOf } from './example.js';
import type { AnyResource, EnvelopeOf } from './resource.js';

// One decorator for each ordinary operation: route, documentation, standard errors and response. Put it above
// the other decorators of the handler, such as `@Requires(...)`.

export interface OperationTexts {
  /** Default: `List note folders` and so on. */
  summary?: string;
  description: string;
  /** Errors in addition to the standard errors of the operation. */
  errors?: readonly ErrorKind[];
  /** Below the controller's path. Default: nothing for the list and creation, `:id` for one item. */
  path?: string;
}

export interface BodyTexts extends OperationTexts {
  body?: Type;
  /** Example of the body; default: the examples of its fields, except `id`. */
  example?: object;
}

export interface UpdateTexts extends BodyTexts {
  methods?: readonly ('PATCH' | 'PUT')[];
}

/** `GET /`: a page of the list. */
export function ListOperation<R extends AnyResource>(
  resource: R,
  { path = '', ...texts }: OperationTexts,
): HandlerDecorator<EnvelopeOf<R, 'list'>> {
  const { tag, name, plural = `${name}s` } = resource.options;
  return Endpoint(`GET ${path}`, {
    tag,
    id: resource.operationId('list', 'many'),
    summary: `List ${plural}`,
    response: [resource.envelopes.list, `A page of ${plural}.`],
    ...texts,
  });
}

/** `POST /`: creation, repeatable with an `Idempotency-Key`. Responds with 201, Location and ETag. */
export function CreateOperation<R extends AnyResource>(
  resource: R,
  { path = '', example, ...texts }: BodyTexts,
): HandlerDecorator<EnvelopeOf<R, 'item'>> {
  const { tag, name } = resource.options;
  return Endpoint(`POST ${path}`, {
    tag,
    id: resource.operationId('create'),
    summary: `Create ${article(name)}`,
    status: 201,
    location: true,
    response: [resource.envelopes.item, `The new ${name}.`],
    etag: etagOf(resource),
    example: example ?? withoutId(texts.body),
    ...texts,
  });
}

/**
 * The examples of the fields without the `id` that a client may choose. With it, Swagger UI would prefill the same id in each
 * request, and the second one would conflict.
 */
function withoutId(body?: Type): object | undefined {
  const { id, ...example } = body ? exampleOf(body) : {};
  return id === undefined ? undefined : example;
}

/** `GET /:id`. Standard error: 404. */
export function ReadOperation<R extends AnyResource>(
  resource: R,
  { path = ':id', errors = [], ...texts }: OperationTexts,
): HandlerDecorator<EnvelopeOf<R, 'item'>> {
  const { tag, name } = resource.options;
  return Endpoint(`GET ${path}`, {
    tag,
    id: resource.operationId('read'),
    summary: `Read ${article(name)}`,
    response: [resource.envelopes.item, `The ${name}.`],
    etag: etagOf(resource),
    errors: [resource.notFound, ...errors],
    ...texts,
  });
}

/**
 * `PATCH /:id` and `PUT /:id`, which are equivalent: missing fields stay unchanged. The handler takes the body as
 * `@CheckedBody(...)` and, where the resource has revisions, `@Expected()`.
 */
export function UpdateOperation<R extends AnyResource>(
  resource: R,
  { path = ':id', methods = ['PATCH', 'PUT'], errors = [], ...texts }: UpdateTexts,
): HandlerDecorator<EnvelopeOf<R, 'item'>> {
  const { tag, name } = resource.options;
  const [method = 'PATCH', also] = methods;
  const endpoint = Endpoint(`${method} ${path}`, {
    tag,
    id: resource.operationId('update'),
    ...(also && { putId: resource.operationId('put') }),
    summary: `Update ${article(name)}`,
    response: [resource.envelopes.item, `The ${name} as it is now.`],
    etag: etagOf(resource),
    errors: [resource.notFound, ...errors, ...conflictOf(resource)],
    ...texts,
  });
  return withDecorators(revisioned(resource), endpoint);
}

/** `DELETE /:id`: responds with the deleted item and `deleted: true`. */
export function DeleteOperation<R extends AnyResource>(
  resource: R,
  { path = ':id', errors = [], ...texts }: OperationTexts,
): HandlerDecorator<EnvelopeOf<R, 'deleted'>> {
  const { tag, name, revision } = resource.options;
  const endpoint = Endpoint(`DELETE ${path}`, {
    tag,
    id: resource.operationId('delete'),
    summary: `Delete ${article(name)}`,
    response: [resource.envelopes.deleted, `The deleted ${name}.`],
    errors: [resource.notFound, ...errors, ...conflictOf(resource), ...(revision ? REVISION_ERRORS : [])],
    ...texts,
  });
  return withDecorators([...revisioned(resource), ...(revision ? [BASE_REVISION] : [])], endpoint);
}

/** The body has a revision only, but its limits hold too. */
const REVISION_ERRORS = [Errors.validationFailed, ...BODY_ERRORS];

const BASE_REVISION = ApiBody({ type: BaseRevision, required: false, examples: { none: { value: {} } } });

const article = (name: string): string => `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`;

const etagOf = ({ kind, options }: AnyResource): string | undefined => (options.revision ? kind : undefined);

const conflictOf = ({ conflict }: AnyResource): ErrorKind[] => (conflict ? [conflict] : []);

const revisioned = ({ kind, options }: AnyResource): MethodDecorator[] =>
  options.revision
    ? [Revisioned(kind, { optional: options.revision === 'optional', idInPath: options.idInPath })]
    : [];
