import { applyDecorators } from '@nestjs/common';
import { ApiParam, ApiQuery } from '@nestjs/swagger';
import { BODY_ERRORS, Operation } from '../../platform/http/api-docs.js';
import type { ErrorKind } from '../../platform/http/api-error.js';
import { Errors } from '../../platform/http/errors.js';
import { MAIL_REFUSALS, MailErrors } from './mail.errors.js';
import { INBOX } from './mail.examples.js';

const COMMON = [
  MailErrors.endpointNotAvailable,
  MailErrors.accountRequired,
  MailErrors.tooManyRequests,
  MailErrors.busy,
  MailErrors.unavailable,
  MailErrors.proxyFailed,
  ...MAIL_REFUSALS,
];

/** What a mail operation with a body may answer. */
export const MAIL_BODY_ERRORS = [...BODY_ERRORS, MailErrors.notAnObject, Errors.validationFailed];

const PASSED_ON =
  'What the mail service refuses (400, 403, 404 and others) comes with its own status and JSON: `error` for people, `code` for programs, `details` by field.';

/** Documents an operation of the mail API. */
export function MailOperation(docs: {
  id: string;
  summary: string;
  description?: string;
  errors?: ErrorKind[];
}): MethodDecorator {
  const description = [docs.description, PASSED_ON].filter(Boolean).join('\n\n');
  return Operation({ ...docs, tag: 'mail', description, errors: [...(docs.errors ?? []), ...COMMON] });
}

export const MailboxParam = (): MethodDecorator =>
  ApiParam({
    name: 'mailbox',
    description: 'Id of a mailbox of yours; `GET /mail/users/me/mailboxes` tells them.',
    // Here: beside a schema, the example of a parameter is lost.
    schema: { type: 'string', pattern: '^[0-9a-fA-F]{24}$', example: INBOX },
  });

export const MessageParam = (): MethodDecorator =>
  applyDecorators(
    MailboxParam(),
    ApiParam({
      name: 'message',
      description: 'Id of a message within the mailbox, as the list of its messages tells it.',
      schema: { type: 'integer', minimum: 1, example: 1 },
    }),
  );

/** In the order in which they are shown: decorators that are stacked come out in the reverse of it. */
export const MessageListParams = (): MethodDecorator =>
  applyDecorators(
    MailboxParam(),
    ApiQuery({
      name: 'limit',
      required: false,
      description: 'Messages on a page.',
      schema: { type: 'integer', minimum: 1, maximum: 250, default: 20 },
    }),
    ApiQuery({ name: 'order', required: false, enum: ['asc', 'desc'], description: 'By date.' }),
    ApiQuery({ name: 'unseen', required: false, type: Boolean, description: 'Only those not seen yet.' }),
    ApiQuery({
      name: 'threadCounters',
      required: false,
      type: Boolean,
      description: 'With `threadMessageCount`.',
    }),
    ApiQuery({
      name: 'cursor',
      required: false,
      type: String,
      description: '`nextCursor` or `previousCursor` of another page.',
    }),
    ApiQuery({
      name: 'direction',
      required: false,
      enum: ['next', 'previous'],
      description: 'Which of the two `cursor` is; `next` unless it is told.',
    }),
  );
