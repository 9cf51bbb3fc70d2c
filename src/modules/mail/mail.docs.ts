import { applyDecorators } from '@nestjs/common';
import { ApiParam, ApiQuery } from '@nestjs/swagger';
import { BODY_ERRORS, Operation } from '../../platform/http/api-docs.js';
import { type ErrorKind, Errors } from '../../platform/http/errors.js';
import { MAIL_REJECTIONS, MailErrors } from './mail.response.js';

// Example bodies of the API description. Swagger UI can send each of them once the mailbox ids are replaced with own ones;
// message ids start at 1 in each mailbox.

export const INBOX = '6b0108e57d46ea6fe43d660f';
export const TRASH = '6b0108e57d46ea6fe43d6611';
export const DRAFTS = '6b0108e57d46ea6fe43d6612';

/** Named examples of an OpenAPI request body. */
type Examples = Record<string, { summary: string; value: object }>;

/** A member of the demo workspace: mail to an outside address would bounce. */
const TO = [{ name: 'Bob Okafor', address: 'bob@demo.example' }];

const LETTER = {
  to: TO,
  subject: 'Plan',
  text: 'Hello Bob',
  html: '<p>Hello <b>Bob</b></p>',
  attachments: [{ filename: 'hello.txt', contentType: 'text/plain', content: 'SGVsbG8=' }],
};
const REPLY = { text: 'Thank you', reference: { mailbox: INBOX, id: 1, action: 'reply' } };
const FORWARD = {
  to: TO,
  text: 'For you',
  reference: { mailbox: INBOX, id: 1, action: 'forward', attachments: true },
};

export const CREATE_DRAFT: Examples = {
  letter: { summary: 'A letter with an attachment', value: { mailbox: DRAFTS, ...LETTER } },
  reply: {
    summary: 'A reply: recipients and subject come from the message',
    value: { mailbox: DRAFTS, ...REPLY },
  },
  forward: { summary: 'A forward, with the attachments', value: { mailbox: DRAFTS, ...FORWARD } },
  version: {
    summary: 'A new version of a draft',
    value: {
      mailbox: DRAFTS,
      to: TO,
      subject: 'Plan, second version',
      text: 'Hello Bob',
      replacePrevious: { mailbox: DRAFTS, id: 1 },
    },
  },
  kept: {
    summary: 'A new version of a draft that keeps an attachment',
    value: {
      mailbox: DRAFTS,
      to: TO,
      subject: 'Plan, third version',
      attachments: [{ keep: 'ATT00001' }],
      replacePrevious: { mailbox: DRAFTS, id: 1 },
    },
  },
};

export const SUBMIT_DRAFT: Examples = {
  draft: { summary: 'The draft', value: { mailbox_id: DRAFTS, message_id: '1' } },
};

export const CREATE_MESSAGE: Examples = {
  letter: { summary: 'A draft, to be submitted', value: { draft: true, ...LETTER } },
  reply: { summary: 'A reply, to be submitted', value: { draft: true, ...REPLY } },
  forward: { summary: 'A forward, to be submitted', value: { draft: true, ...FORWARD } },
  note: {
    summary: 'A stored message that is no draft',
    value: { subject: 'Note to myself', text: 'Book the rooms', unseen: true },
  },
};

export const CREATE_MAILBOX: Examples = {
  mailbox: { summary: 'A mailbox', value: { path: 'Projects/Alpha' } },
  retention: {
    summary: 'A mailbox that keeps messages for a year',
    value: { path: 'Newsletters', retention: 31_536_000_000, subscribed: true },
  },
};

export const UPDATE_MAILBOX: Examples = {
  rename: { summary: 'Rename', value: { path: 'Projects/Beta' } },
  subscription: { summary: 'Unsubscribe', value: { subscribed: false } },
};

export const UPDATE_MESSAGES: Examples = {
  seen: { summary: 'Mark as seen', value: { message: [1], seen: true } },
  unseen: { summary: 'Mark as unseen', value: { message: [1, 2], seen: false } },
  flag: { summary: 'Flag', value: { message: [1], flagged: true } },
  move: { summary: 'Move to the trash', value: { message: [1], moveTo: TRASH } },
  restore: { summary: 'Move back to the original mailbox', value: { message: [1], restoreToOrigin: true } },
  delete: { summary: 'Delete permanently', value: { message: [1], delete: true } },
};

export const UPDATE_MESSAGE: Examples = {
  flag: { summary: 'Mark as seen and flagged', value: { seen: true, flagged: true } },
  unseen: { summary: 'Mark as unseen', value: { seen: false } },
  move: { summary: 'Move to the trash', value: { moveTo: TRASH } },
};

export const SUBMIT_MESSAGE: Examples = {
  now: { summary: 'Send it now', value: {} },
  later: { summary: 'Send it later', value: { sendTime: '2027-01-01T10:00:00Z' } },
};

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
