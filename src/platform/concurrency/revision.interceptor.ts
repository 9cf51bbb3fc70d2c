import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
  UseInterceptors,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiHeader } from '@nestjs/swagger';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { ExpectedRevision } from './expected-revision.js';

const REVISIONED = 'workspace:revisioned';

interface Revisioning {
  kind: string;
  optional: boolean;
}

/**
 * Reads `If-Match` and `base_revision` into an `ExpectedRevision` for the handler. It never queries: the write itself
 * compares the revision.
 */
@Injectable()
export class RevisionInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { kind, optional } = this.reflector.get<Revisioning>(REVISIONED, context.getHandler());
    const request = context.switchToHttp().getRequest<Request & { expected?: ExpectedRevision }>();
    const body = request.body as { base_revision?: unknown } | undefined;
    request.expected = ExpectedRevision.read(
      kind,
      // The last parameter of the path is the object itself.
      String(Object.values(request.params).at(-1)),
      request.headers['if-match'],
      body?.base_revision,
      optional,
    );
    return next.handle();
  }
}

/** A write of an existing object of this kind: it must, or where `optional` may, carry the revision that the client read. */
export const Revisioned = (kind: string, { optional = false } = {}) =>
  applyDecorators(
    SetMetadata(REVISIONED, { kind, optional } satisfies Revisioning),
    UseInterceptors(RevisionInterceptor),
    ApiHeader({
      name: 'If-Match',
      required: false,
      description: optional
        ? 'The ETag you read: the write fails with 409 when there is a newer revision. Or send `base_revision` in the body.'
        : 'The ETag you read. Send this or `base_revision` in the body.',
      schema: { type: 'string' },
      example: `"${kind}:01890a5d-ac96-774b-bcce-b302099a8057:r3"`,
    }),
  );
