import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import { IS_PUBLIC } from '../context/access.decorators.js';
import type { ErrorKind } from './api-error.js';
import { ErrorResponse } from './error.response.js';
import { Errors } from './errors.js';

/** What any operation behind the bearer guard may answer. */
const COMMON = [
  Errors.unauthorized,
  Errors.workspaceForbidden,
  Errors.internal,
  Errors.overloaded,
  Errors.unavailable,
  Errors.identityProviderUnavailable,
];

/** What an operation that reads a JSON body may answer. */
export const BODY_ERRORS = [Errors.invalidJson, Errors.bodyTooLarge, Errors.unsupportedMediaType];

/** What an operation that takes an `Idempotency-Key` may answer. */
export const IDEMPOTENCY_ERRORS = [
  Errors.idempotencyKeyReused,
  Errors.requestInFlight,
  Errors.invalidIdempotencyKey,
];

interface OperationDocs {
  tag: string;
  /** Unique; generated clients name their method after it. */
  id: string;
  summary: string;
  description?: string;
  /** Beyond those any operation may answer. */
  errors?: ErrorKind[];
}

/** Documents an operation: with the bearer token and its errors, unless the handler is `@Public()`. */
export function Operation({ tag, id, summary, description, errors = [] }: OperationDocs): MethodDecorator {
  return (target, key, descriptor) => {
    const isPublic = Reflect.getMetadata(IS_PUBLIC, descriptor.value as object) === true;
    const kinds = [...errors, ...(isPublic ? [] : COMMON)];
    const decorate = applyDecorators(
      ApiTags(tag),
      ...(isPublic ? [] : [ApiBearerAuth()]),
      ApiExtraModels(ErrorResponse),
      ApiOperation({ operationId: id, summary, description, ...(isPublic && { security: [] }) }),
      ...[...Map.groupBy(new Set(kinds), (kind) => kind.status)].map(([status, group]) =>
        errorResponse(status, group),
      ),
    );
    decorate(target, key, descriptor);
  };
}

/** One response of that status, with one example for each error. */
function errorResponse(status: number, kinds: ErrorKind[]): MethodDecorator {
  const example = (kind: ErrorKind) => ({
    summary: kind.message,
    value: { error: kind.code, message: kind.message, ...kind.example },
  });
  const unique = [...new Map(kinds.map((kind) => [kind.code, kind])).values()];
  return ApiResponse({
    status,
    description: unique.map((kind) => `\`${kind.code}\`: ${kind.message}`).join('\n\n'),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/ErrorResponse' },
        examples: Object.fromEntries(unique.map((kind) => [kind.code, example(kind)])),
      },
    },
  });
}

/** A success that carries the object's revision as its ETag, which names the kind of object. */
export function ApiRevision(status: number, type: Type, description: string, kind = 'note'): MethodDecorator {
  const text = { type: 'string' } as const;
  return ApiResponse({
    status,
    type,
    description,
    headers: {
      ETag: {
        description: 'Names the revision; send it back as `If-Match`.',
        schema: text,
        example: `"${kind}:01890a5d-ac96-774b-bcce-b302099a8057:r3"`,
      },
      ...(status === 201 && { Location: { description: 'Where the new object is.', schema: text } }),
    },
  });
}

/** The operation takes an `Idempotency-Key`. */
export const ApiIdempotency = (): MethodDecorator =>
  ApiHeader({
    name: 'Idempotency-Key',
    required: false,
    description:
      'Up to 255 visible ASCII characters. Within 24 hours a repetition is answered with the first answer and changes nothing.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  });

/** A success that is a file to keep. */
export function ApiFile(contentType: string, description: string): MethodDecorator {
  const text = { type: 'string' } as const;
  return ApiResponse({
    status: 200,
    description,
    headers: {
      'Content-Disposition': {
        description: 'The name to keep it under (RFC 6266).',
        schema: text,
        example: 'attachment; filename="note.docx"',
      },
    },
    content: { [contentType]: { schema: { type: 'string', format: 'binary' } } },
  });
}
