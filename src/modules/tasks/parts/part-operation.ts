import { applyDecorators, type Type } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import {
  ApiIdempotency,
  ApiRevision,
  BODY_ERRORS,
  IDEMPOTENCY_ERRORS,
  Operation,
} from '../../../platform/http/api-docs.js';
import type { ErrorKind } from '../../../platform/http/api-error.js';
import { Errors } from '../../../platform/http/errors.js';
import { TaskErrors } from '../tasks.errors.js';

interface PartOperationDocs {
  id: string;
  summary: string;
  description?: string;
  body?: Type;
  example?: object;
  status?: 200 | 201;
  response: Type;
  responseText: string;
  /** Beyond those of every write of a part. */
  errors?: readonly ErrorKind[];
}

/** Documents a write of a part of a task, which takes an `Idempotency-Key` and responds with the task and its ETag. */
export function PartOperation(docs: PartOperationDocs): MethodDecorator {
  const { id, summary, description, body, example, status = 200, response, responseText, errors = [] } = docs;
  return applyDecorators(
    Operation({
      tag: 'tasks',
      id,
      summary,
      description,
      errors: [
        TaskErrors.notFound,
        TaskErrors.deleted,
        ...errors,
        Errors.invalidId,
        ...(body ? [Errors.validationFailed, ...BODY_ERRORS] : []),
        ...IDEMPOTENCY_ERRORS,
      ],
    }),
    ...(body ? [ApiBody({ type: body, examples: { example: { value: example } } })] : []),
    ApiIdempotency(),
    ApiRevision(status, response, responseText, 'task'),
  );
}
