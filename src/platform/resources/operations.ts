import { applyDecorators, Delete, Get, Patch, Post, Put, type Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { ApiBody, ApiOkResponse, ApiResponse } from '@nestjs/swagger';
import { BaseRevision } from '../concurrency/base-revision.dto.js';
import { Revisioned } from '../concurrency/revision.interceptor.js';
import {
  ApiIdempotency,
  ApiRevision,
  BODY_ERRORS,
  IDEMPOTENCY_ERRORS,
  LOCATION_HEADER,
  Operation,
} from '../http/api-docs.js';
import type { ErrorKind } from '../http/api-error.js';
import { Errors } from '../http/errors.js';
import type { Resource } from './resource.js';

// One decorator for each ordinary operation: route, documentation, standard errors and response. It stands on top of the
// handler; `@Requires(...)` and the like go below it.

interface OperationTexts {
  /** Default: `List note folders` and so on. */
  summary?: string;
  description?: string;
  /** Beyond the standard errors of the operation. */
  errors?: readonly ErrorKind[];
  /** Below the controller's path. Default: nothing for the list and creation, `:id` for one item. */
  path?: string;
}

interface BodyTexts extends OperationTexts {
  /** Example of the body; default: the examples of its fields. */
  example?: object;
}

/** `GET /`: a page of the list. Standard errors: 422 `validation_failed`, `invalid_cursor`. */
export function ListOperation(resource: Resource, texts: OperationTexts = {}): MethodDecorator {
  const { tag, name, plural = `${name}s` } = resource.options;
  return applyDecorators(
    Operation({
      tag,
      id: resource.operationId('list', 'many'),
      summary: `List ${plural}`,
      ...texts,
      errors: [Errors.validationFailed, Errors.invalidCursor, ...(texts.errors ?? [])],
    }),
    ApiOkResponse({ type: resource.envelopes.list, description: `A page of ${plural}.` }),
    Get(texts.path ?? ''),
  );
}

/** `POST /`: creation, repeatable with an `Idempotency-Key`. Responds with 201, Location and ETag. */
export function CreateOperation(
  resource: Resource,
  { body, example, ...texts }: BodyTexts & { body: Type },
): MethodDecorator {
  const { tag, name, revision } = resource.options;
  return applyDecorators(
    withoutInferredResponse,
    Operation({
      tag,
      id: resource.operationId('create'),
      summary: `Create ${article(name)}`,
      ...texts,
      errors: [...(texts.errors ?? []), Errors.validationFailed, ...BODY_ERRORS, ...IDEMPOTENCY_ERRORS],
    }),
    bodyOf(body, example),
    ApiIdempotency(),
    revision
      ? ApiRevision(201, resource.envelopes.item, `The new ${name}.`, resource.kind)
      : ApiResponse({
          status: 201,
          type: resource.envelopes.item,
          description: `The new ${name}.`,
          headers: LOCATION_HEADER,
        }),
    Post(texts.path ?? ''),
  );
}

/** `GET /:id`. Standard errors: 404, 422 `invalid_id`. */
export function ReadOperation(resource: Resource, texts: OperationTexts = {}): MethodDecorator {
  const { tag, name } = resource.options;
  return applyDecorators(
    Operation({
      tag,
      id: resource.operationId('read'),
      summary: `Read ${article(name)}`,
      ...texts,
      errors: [resource.notFound, Errors.invalidId, ...(texts.errors ?? [])],
    }),
    itemResponse(resource, `The ${name}.`),
    Get(texts.path ?? ':id'),
  );
}

/**
 * `PATCH /:id` and `PUT /:id`, which mean the same: fields that are missing stay. The handler takes the body as
 * `@CheckedBody(...)` and, where the resource has revisions, `@Expected()`.
 */
export function UpdateOperation(
  resource: Resource,
  { body, example, ...texts }: BodyTexts & { body: Type; methods?: readonly ('PATCH' | 'PUT')[] },
): MethodDecorator {
  const { tag, name } = resource.options;
  const { path = ':id', methods = ['PATCH', 'PUT'], summary = `Update ${article(name)}` } = texts;
  const errors = [
    resource.notFound,
    ...(texts.errors ?? []),
    ...revisionErrors(resource),
    Errors.invalidId,
    Errors.validationFailed,
    ...BODY_ERRORS,
  ];
  const decorated = (id: string, shown: string, description: string | undefined, route: MethodDecorator) =>
    applyDecorators(
      Operation({ tag, id, summary: shown, description, errors }),
      bodyOf(body, example),
      itemResponse(resource, `The ${name} as it is now.`),
      ...revisioned(resource),
      route,
    );
  const update = resource.operationId('update');
  const put = 'The same as PATCH: fields that are missing stay as they are.';
  return (target: object, key: string | symbol, descriptor: PropertyDescriptor) => {
    if (!methods.includes('PATCH')) {
      decorated(update, summary, texts.description, Put(path))(target, key, descriptor);
      return;
    }
    if (methods.includes('PUT')) {
      const twin = addTwin(target, key, descriptor);
      decorated(
        resource.operationId('put'),
        `${summary} (PUT)`,
        put,
        Put(path),
      )(target, twin.key, twin.descriptor);
    }
    decorated(update, summary, texts.description, Patch(path))(target, key, descriptor);
  };
}

/** `DELETE /:id`: responds with the item as it last was and `deleted: true`. */
export function DeleteOperation(resource: Resource, texts: OperationTexts = {}): MethodDecorator {
  const { tag, name, revision } = resource.options;
  return applyDecorators(
    Operation({
      tag,
      id: resource.operationId('delete'),
      summary: `Delete ${article(name)}`,
      ...texts,
      errors: [
        resource.notFound,
        ...(texts.errors ?? []),
        ...revisionErrors(resource),
        Errors.invalidId,
        ...(revision ? BODY_ERRORS : []),
      ],
    }),
    ...(revision
      ? [ApiBody({ type: BaseRevision, required: false, examples: { none: { value: {} } } })]
      : []),
    ApiOkResponse({ type: resource.envelopes.deleted, description: `The ${name} as it last was.` }),
    ...revisioned(resource),
    Delete(texts.path ?? ':id'),
  );
}

/**
 * The Swagger plugin documents the handler's return type with status 200, since it does not see `@Post()` here. Its
 * decorator is applied before those above the handler.
 */
const withoutInferredResponse: MethodDecorator = (_target, _key, descriptor) => {
  Reflect.deleteMetadata('swagger/apiResponse', descriptor.value as object);
};

const article = (name: string): string => `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`;

const bodyOf = (type: Type, example: object | undefined): MethodDecorator =>
  ApiBody({ type, ...(example && { examples: { example: { value: example } } }) });

const itemResponse = (resource: Resource, description: string): MethodDecorator =>
  resource.options.revision
    ? ApiRevision(200, resource.envelopes.item, description, resource.kind)
    : ApiOkResponse({ type: resource.envelopes.item, description });

const revisionErrors = ({ conflict }: Resource): ErrorKind[] =>
  conflict ? [conflict, Errors.invalidRevision, ...IDEMPOTENCY_ERRORS] : [];

const revisioned = ({ kind, options }: Resource): MethodDecorator[] =>
  options.revision ? [Revisioned(kind, { optional: options.revision === 'optional' })] : [];

type Handler = (...values: unknown[]) => unknown;

/** Adds a second method that calls the first one, with the decorators of its parameters and those below it. */
function addTwin(target: object, key: string | symbol, descriptor: PropertyDescriptor) {
  const original = descriptor.value as Handler;
  const name = `${String(key)}ByPut`;
  const twin = {
    [name](this: unknown, ...values: unknown[]): unknown {
      return original.apply(this, values);
    },
  }[name] as Handler;
  for (const metadata of Reflect.getMetadataKeys(original))
    Reflect.defineMetadata(metadata, Reflect.getMetadata(metadata, original), twin);
  for (const metadata of Reflect.getMetadataKeys(target, key))
    Reflect.defineMetadata(metadata, Reflect.getMetadata(metadata, target, key), target, name);
  const parameters: unknown = Reflect.getMetadata(ROUTE_ARGS_METADATA, target.constructor, key);
  Reflect.defineMetadata(ROUTE_ARGS_METADATA, parameters, target.constructor, name);
  const added = { ...descriptor, value: twin };
  Object.defineProperty(target, name, added);
  return { key: name, descriptor: added };
}
