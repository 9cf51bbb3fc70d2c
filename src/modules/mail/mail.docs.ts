import { applyDecorators } from '@nestjs/common';
import { ApiParam, ApiQuery } from '@nestjs/swagger';
import { BODY_ERRORS, Operation } from '../../platform/http/api-docs.js';
import type { ErrorKind } from '../../platform/http/api-error.js';
import { Errors } from '../../platform/http/errors.js';
import { MAIL_REJECTIONS, MailErrors } from './mail.errors.js';
import { INBOX } from './mail.examples.js';

const COMMON = [
  MailErrors.endpointNotAvailable,
  MailErrors.accountRequired,
  MailErrors.tooManyRequests,
  MailErrors.busy,
  MailErrors.unavailable,
  MailErrors.proxyFailed,
  MailErrors.internal,
  ...MAIL_REJECTIONS,
];

/** Errors of mail operations with a body. */
export const MAIL_BODY_ERRORS = [...BODY_ERRORS, MailErrors.notAnObject, Errors.validationFailed];

const FORWARDED =
  'Errors of the mail service (400, 403, 404 and others) are forwarded with their status and JSON: `error` is a text for users, `code` a constant for programs, `details` lists errors by field.';

/** Documents an operation of the mail API. */
export function MailOperation(docs: {
  id: string;
  summary: string;
  description?: string;
  errors?: ErrorKind[];
}): MethodDecorator {
  const description = [docs.description, FORWARDED].filter(Boolean).join('\n\n');
  return Operation({ ...docs, tag: 'mail', description, errors: [...(docs.errors ?? []), ...COMMON] });
}

export const MailboxParam = (): MethodDecorator =>
  ApiParam({
    name: 'mailbox',
    description: 'Id of one of your mailboxes, from `GET /mail/users/me/mailboxes`.',
    // Swagger drops the example of a parameter unless it is part of the schema.
    schema: { type: 'string', pattern: '^[0-9a-fA-F]{24}$', example: INBOX },
  });

export const MessageParam = (): MethodDecorator =>
  applyDecorators(
    MailboxParam(),
    ApiParam({
      name: 'message',
      description: 'Id of a message within the mailbox, from the message list.',
      schema: { type: 'integer', minimum: 1, example: 1 },
    }),
  );

/** Composed, since stacked decorators appear in reverse order. */
export const MessageListParams = (): MethodDecorator =>
  applyDecorators(
    MailboxParam(),
    ApiQuery({
      name: 'limit',
      required: false,
      description: 'Messages per page.',
      schema: { type: 'integer', minimum: 1, maximum: 250, default: 20 },
    }),
    ...[
      { name: 'order', enum: ['asc', 'desc'], description: 'Order by date.' },
      { name: 'unseen', type: Boolean, description: 'Only unseen messages.' },
      { name: 'threadCounters', type: Boolean, description: 'Include `threadMessageCount`.' },
      { name: 'cursor', type: String, description: '`nextCursor` or `previousCursor` of another page.' },
      {
        name: 'direction',
        enum: ['next', 'previous'],
        description: 'Kind of `cursor`. Default: `next`.',
      },
    ].map((parameter) => ApiQuery({ required: false, ...parameter })),
  );

/** Limit of a JSON body with attachments as base64, bytes. */
export const MESSAGE_LIMIT = 40 * 1024 * 1024;
