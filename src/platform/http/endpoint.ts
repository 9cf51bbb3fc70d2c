import {
  applyDecorators,
  Delete,
  Get,
  HttpCode,
  Patch,
  Post,
  Put,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { ApiBody, ApiResponse } from '@nestjs/swagger';
import { ApiRevision, LOCATION_HEADER, Operation, type OperationDocs, REQUEST_WORK } from './api-docs.js';
import { DESCRIBES_OPERATIONS } from './describes-operations.js';
import { inputDocsOf } from './input-docs.js';
import type { JsonReply } from './json-reply.js';
import type { BodyReply } from './replies/body-reply.js';
import type { ContentReply } from './replies/content-reply.js';

const ROUTES = { GET: Get, POST: Post, PUT: Put, PATCH: Patch, DELETE: Delete };

type Method = keyof typeof ROUTES;

export interface EndpointDocs<T> extends OperationDocs {
  /** Class and description of the success. Without it, a decorator below documents the success. */
  response?: readonly [type: Type<T>, description: string];
  /** Status of the success; default 200. */
  status?: 200 | 201 | 202;
  /** Description of the 200 for a request that changes nothing. It has the same class as the 201. */
  unchanged?: string;
  /** The success has a `Location`; implied by `etag`. */
  location?: boolean;
  /** Kind of object whose revision is the ETag of the success. */
  etag?: string;
  /** Example of the body; default: the examples of its fields. */
  example?: object;
  /** Several examples of the body, by name. */
  examples?: Record<string, { value: object }>;
  /** The body may be missing. */
  optionalBody?: boolean;
  /**
   * `long`: an export or a report, whose statements may take long. `LongWorkGuard` limits their number.
   * `parts`: requests, which take turns by themselves (`TurnGuard`).
   */
  work?: 'long' | 'parts';
  /** Operation id of `PUT` on the same path, which is equivalent to `PATCH`. */
  putId?: string;
}

export type FileReply = BodyReply | ContentReply;
type Answer<T, Other> = JsonReply<T> | T | Other;

/** A decorator for handlers that return this response class: as a `JsonReply` of exactly this class, or as an object. */
export type HandlerDecorator<T, Other = never> = <
  Handler extends (...values: never[]) => Answer<T, Other> | Promise<Answer<T, Other>>,
>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Handler>,
) => void;

/**
 * Route and documentation of a handler. Put it above the other decorators of the handler, such as `@Requires(...)`. Errors
 * and headers that follow from the parameters of the handler are documented without being named here.
 * @param route method and path below that of the controller, e.g. `POST :id/restore`
 * @template T response class of the handler, that of `docs.response`; stated where a decorator below documents the success
 * @template Other a further reply of the handler, which a decorator below documents
 */
export function Endpoint<T = FileReply, Other = never>(
  route: Method | `${Method} ${string}`,
  docs: EndpointDocs<T>,
): HandlerDecorator<T, Other> {
  const [method, path = ''] = route.split(' ') as [Method, string?];
  return (target, key, descriptor) => {
    const { putId } = docs;
    if (putId !== undefined) {
      const twin = addTwin(target, key, descriptor);
      const put = {
        ...docs,
        id: putId,
        summary: `${docs.summary} (PUT)`,
        description: 'Equivalent to PATCH: missing fields stay unchanged.',
      };
      endpoint('PUT', path, put)(target, twin.key, twin.descriptor);
    }
    endpoint(method, path, docs)(target, key, descriptor);
  };
}

const endpoint =
  (method: Method, path: string, docs: EndpointDocs<unknown>): MethodDecorator =>
  (target, key, descriptor) => {
    // The Swagger plugin does not see the method: it documents each return type with status 200.
    if (docs.response)
      Reflect.deleteMetadata('swagger/apiResponse', (descriptor as PropertyDescriptor).value as object);
    const { status = 200 } = docs;
    applyDecorators(
      ...(DESCRIBES_OPERATIONS ? describe(target, key, docs) : []),
      ...(docs.work ? [SetMetadata(REQUEST_WORK, docs.work)] : []),
      ...(status === (method === 'POST' ? 201 : 200) ? [] : [HttpCode(status)]),
      ROUTES[method](path),
    )(target, key, descriptor);
  };

function describe(target: object, key: string | symbol, docs: EndpointDocs<unknown>): MethodDecorator[] {
  const type = inputDocsOf(target, key).findLast(({ body }) => body)?.body;
  return [Operation(docs), ...(type ? [bodyOf(type, docs)] : []), ...successesOf(docs)];
}

function bodyOf(type: Type, { example, examples, optionalBody }: EndpointDocs<unknown>): MethodDecorator {
  const named = example ? { example: { value: example } } : examples;
  return ApiBody({ type, required: !optionalBody, ...(named && { examples: named }) });
}

function successesOf({
  response,
  status = 200,
  unchanged,
  location,
  etag,
}: EndpointDocs<unknown>): MethodDecorator[] {
  if (!response) return [];
  const [type, description] = response;
  return [
    etag === undefined
      ? ApiResponse({ status, type, description, ...(location && { headers: LOCATION_HEADER }) })
      : ApiRevision(status, type, description, etag),
    ...(unchanged === undefined ? [] : [ApiResponse({ status: 200, type, description: unchanged })]),
  ];
}

/** The decorator of an endpoint, after these decorators. */
export const withDecorators =
  <T, Other>(
    decorators: readonly MethodDecorator[],
    endpoint: HandlerDecorator<T, Other>,
  ): HandlerDecorator<T, Other> =>
  (target, key, descriptor) => {
    for (const decorate of decorators) decorate(target, key, descriptor);
    endpoint(target, key, descriptor);
  };

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
