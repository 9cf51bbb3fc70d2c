import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type Joi from 'joi';
import type { MailRequest } from './caller.guard.js';
import { cleanTexts } from '../mime/clean-text.js';
import { mailErrors } from '../mail-error.js';

/**
 * The validated parameters of a request, merged from path, query and body in this order of precedence. `me` is the owner of
 * the token. A user token is limited to its own user id.
 * @throws MailError 400 with one line per invalid field, 403
 */
export const Call = createParamDecorator((schema: Joi.ObjectSchema, context: ExecutionContext) =>
  validated(schema, requestOf(context)),
);

/** Gives the validated parameters on routes for the service token. @throws MailError 403 for a user token */
export const ServiceCall = createParamDecorator((schema: Joi.ObjectSchema, context: ExecutionContext) => {
  const input = validated(schema, requestOf(context));
  if (requestOf(context).caller.userId !== null) throw mailErrors.missingPrivileges();
  return input;
});

/** The caller of a request. */
export const CallerOf = createParamDecorator(
  (_: unknown, context: ExecutionContext) => requestOf(context).caller,
);

/** The body of a request. */
export const Content = createParamDecorator(
  (_: unknown, context: ExecutionContext) => requestOf(context).content,
);

const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<MailRequest>();

function validated(schema: Joi.ObjectSchema, request: MailRequest): unknown {
  const { userId } = request.caller;
  const given = merged(request);
  if (given['user'] === 'me' && userId !== null) given['user'] = userId;
  const { value, error } = schema.validate(cleanTexts(given), { abortEarly: false, convert: true });
  if (error) {
    const details: Record<string, string> = {};
    for (const { path, message } of error.details) details[path.join(',')] ??= message;
    throw mailErrors.invalid(error.message, details);
  }
  const named = (value as { user?: string }).user;
  if (userId !== null && named !== undefined && named !== userId) throw mailErrors.missingPrivileges();
  return value;
}

function merged(request: MailRequest): Record<string, unknown> {
  // No prototype: fields may have any name.
  const all = Object.create(null) as Record<string, unknown>;
  for (const part of [request.params, request.query, request.content.fields ?? {}]) {
    for (const [name, value] of Object.entries(part)) if (!(name in all)) all[name] = value;
  }
  delete all['accessToken'];
  return all;
}
