import { applyDecorators } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { BODY_ERRORS, Operation } from '../../platform/http/api-docs.js';
import type { ErrorKind } from '../../platform/http/api-error.js';
import { Errors } from '../../platform/http/errors.js';
import { MailErrors } from './mail.errors.js';

const COMMON = [
  MailErrors.endpointNotAvailable,
  MailErrors.accountRequired,
  MailErrors.tooManyRequests,
  MailErrors.busy,
  MailErrors.unavailable,
  MailErrors.proxyFailed,
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
    description: 'Id of a mailbox of yours.',
    schema: { type: 'string', pattern: '^[0-9a-fA-F]{24}$' },
    example: '6b0108e57d46ea6fe43d660f',
  });

export const MessageParam = (): MethodDecorator =>
  applyDecorators(
    MailboxParam(),
    ApiParam({
      name: 'message',
      description: 'Id of a message within the mailbox.',
      schema: { type: 'integer', minimum: 1 },
      example: 1,
    }),
  );
