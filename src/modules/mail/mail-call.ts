import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';
import type { AuthenticatedRequest, RequestContext } from '../../platform/context/request-context.js';
import { ClientDeparture } from '../../platform/http/abort-signal.js';
import { targetOf } from './mail-gate.js';
import type { MailTarget } from './mail-target.js';
import { MailErrors } from './mail.errors.js';

/** A request of the mail API: who asks for what, and whether they still wait. */
export interface MailCall {
  readonly ctx: RequestContext;
  readonly target: MailTarget;
  /** Tells when nobody waits for the answer any more. */
  readonly signal: ClientDeparture;
}

/** The `MailCall` of a request. */
export const Call = createParamDecorator((_: unknown, context: ExecutionContext): MailCall => {
  const http = context.switchToHttp();
  const request = http.getRequest<AuthenticatedRequest>();
  // The guard lets nobody in without a workspace.
  const signal = new ClientDeparture(http.getResponse<Response>());
  return { ctx: request.ctx as RequestContext, target: targetOf(request), signal };
});

/** The body of a mail request: a JSON object. @throws ApiError 400 `invalid_json` */
export const JsonObject = createParamDecorator(
  (_: unknown, context: ExecutionContext): Record<string, unknown> => {
    const { body } = context.switchToHttp().getRequest<{ body: unknown }>();
    if (typeof body !== 'object' || body === null || Array.isArray(body)) throw MailErrors.notAnObject.with();
    return body as Record<string, unknown>;
  },
);
