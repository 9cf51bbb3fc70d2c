import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type Joi from 'joi';
import type { MailRequest } from './caller.guard.js';
import { cleanTexts } from '../mime/clean-text.js';
import { refuse } from './mail-error.js';

/** Fields every route takes and none of ours uses: they would be for a log. */
export interface Traced {
  sess?: string;
  ip?: string;
}

/**
 * The checked parameters of a request: path, query and body are one, in this order of precedence. `me` is whose token
 * it is. A person may name nobody but themselves.
 * @throws MailError 400 with one line for each wrong field, 403
 */
export const Call = createParamDecorator((schema: Joi.ObjectSchema, context: ExecutionContext) => {
  const request = context.switchToHttp().getRequest<MailRequest>();
  const { userId } = request.caller;
  const given = merged(request);
  if (given['user'] === 'me' && userId !== null) given['user'] = userId;
  const { value, error } = schema.validate(cleanTexts(given), { abortEarly: false, convert: true });
  if (error) {
    const details: Record<string, string> = {};
    for (const { path, message } of error.details) details[path.join(',')] ??= message;
    throw refuse.invalid(error.message, details);
  }
  const named = (value as { user?: string }).user;
  if (userId !== null && named !== undefined && named !== userId) throw refuse.missingPrivileges();
  return value as unknown;
});

/** Who calls, for the routes that are about the token itself. */
export const CallerOf = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<MailRequest>().caller,
);

/** What the body holds beside its fields. */
export const Content = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<MailRequest>().content,
);

function merged(request: MailRequest): Record<string, unknown> {
  // No prototype: a field may have any name.
  const all = Object.create(null) as Record<string, unknown>;
  for (const part of [request.params, request.query, request.content.fields ?? {}]) {
    for (const [name, value] of Object.entries(part)) if (!(name in all)) all[name] = value;
  }
  delete all['accessToken'];
  return all;
}
