import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';
import type { AuthenticatedRequest, RequestContext } from '../../platform/context/request-context.js';
import { ClientDisconnect } from '../../platform/http/abort-signal.js';
import { type Fields, isFields } from './input/fields.js';
import { type MailTarget, targetOf } from './gate/mail-gate.js';
import { MailErrors } from './mail.response.js';

/** A request of the mail API. */
export interface MailCall {
  readonly ctx: RequestContext;
  readonly target: MailTarget;
  /** Fires when the client disconnects. */
  readonly signal: ClientDisconnect;
}

/** The `MailCall` of a request. */
export const Call = createParamDecorator((_: unknown, context: ExecutionContext): MailCall => {
  const http = context.switchToHttp();
  const request = http.getRequest<AuthenticatedRequest>();
  const signal = new ClientDisconnect(http.getResponse<Response>());
  // The guard rejects tokens without a workspace.
  return { ctx: request.ctx as RequestContext, target: targetOf(request), signal };
});

/** The body of a mail request: a JSON object. @throws ApiError 400 `invalid_json` */
export const JsonObject = createParamDecorator((_: unknown, context: ExecutionContext): Fields => {
  const { body } = context.switchToHttp().getRequest<{ body: unknown }>();
  if (!isFields(body)) throw MailErrors.notAnObject.with();
  return body;
});

// Paths at the mail service, below the user's own tree, built from checked ids.
export const mailboxPath = (mailbox: string): string[] => ['mailboxes', mailbox];
export const messagesPath = (mailbox: string): string[] => [...mailboxPath(mailbox), 'messages'];
export const messagePath = ({
  mailbox,
  message,
}: Pick<MailTarget, 'mailbox' | 'message'>): (string | number)[] => [...messagesPath(mailbox), message];
