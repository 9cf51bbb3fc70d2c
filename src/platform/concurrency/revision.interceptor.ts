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
import { from, lastValueFrom, type Observable } from 'rxjs';
import type { RequestContext } from '../context/request-context.js';
import { ApiIdempotency } from '../http/api-docs.js';
import type { RequestWithBody } from '../http/body/body.guard.js';
import type { JsonReply } from '../http/json-reply.js';
import { ExpectedRevision } from './expected-revision.js';
import { idempotencyKeyOf, IdempotentWrites } from './idempotency.js';

const ID_LENGTH = 36;
const REVISIONED = 'workspace:revisioned';

interface Revisioning {
  kind: string;
  optional: boolean;
  idInPath: boolean;
  takesKey: boolean;
}

/**
 * Reads `If-Match` and `base_revision` into an `ExpectedRevision` for the handler; the write itself compares the revision.
 * With an `Idempotency-Key` the handler runs in the transaction that remembers its response, so that a repeated request
 * after a lost response gets this response instead of a conflict with its own write.
 */
@Injectable()
class RevisionInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly writes: IdempotentWrites,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { kind, optional, idInPath, takesKey } = this.reflector.get<Revisioning>(
      REVISIONED,
      context.getHandler(),
    );
    const request = context
      .switchToHttp()
      .getRequest<RequestWithBody & { expected?: ExpectedRevision; ctx: RequestContext }>();
    const body = request.body as { base_revision?: unknown } | undefined;
    request.expected = ExpectedRevision.read(
      kind,
      // The last parameter of the path is the object itself; an instance of a series has more text behind the id.
      idInPath ? String(Object.values(request.params).at(-1)).slice(0, ID_LENGTH) : null,
      request.headers['if-match'],
      body?.base_revision,
      optional,
    );
    const key = takesKey ? null : idempotencyKeyOf(request);
    if (key === null) return next.handle();
    const handler = () => lastValueFrom(next.handle() as Observable<JsonReply<unknown>>);
    return from(this.writes.runHandler(request.ctx, key, handler));
  }
}

/**
 * A write of an existing object of this kind: it must, or where `optional` may, carry the revision that the client read. The
 * last parameter of the path is the id of the object, unless `idInPath` is false. It takes an `Idempotency-Key`, by the interceptor or, where
 * it `takesKey`, by a parameter with `@Idempotency()`.
 */
export const Revisioned = (kind: string, { optional = false, idInPath = true, takesKey = false } = {}) =>
  applyDecorators(
    SetMetadata(REVISIONED, { kind, optional, idInPath, takesKey } satisfies Revisioning),
    UseInterceptors(RevisionInterceptor),
    ApiIdempotency(),
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
