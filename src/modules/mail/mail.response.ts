import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { defineError, ErrorKind } from '../../platform/http/errors.js';

const MAILBOX = '6b0108e57d46ea6fe43d660f';
const CURSOR =
  'WyJbe1wiJGRhdGVcIjpcIjIwMjYtMTEtMjFUMDI6NTg6NDguMDc1WlwifSx7XCIkb2lkXCI6XCI2YjAxMDhlODdkNDZlYTZmZTQzZDY2ODBcIn1dIiwyXQ';

/** Schemas that the mail service fills: they allow additional members. */
export const OPEN_MAIL_SCHEMAS = [
  'MailAddress',
  'MailServiceError',
  'MailAttachment',
  'MailHeader',
  'MailMailbox',
  'MailMailboxList',
  'MailMailboxCreated',
  'MailMessageSummary',
  'MailMessageList',
  'MailMessage',
  'MailMessageCreated',
  'MailStoredMessage',
  'MailSuccess',
  'MailBulkResult',
  'MailDraft',
  'MailSubmission',
] as const;

const Integer = () => ApiPropertyOptional({ type: 'integer' });
const Nullable = (example: string | null = null) =>
  ApiPropertyOptional({ type: String, nullable: true, example });
const Cursor = (required: boolean, example: string | false = false) =>
  ApiProperty({
    required,
    oneOf: [{ type: 'string' }, { type: 'boolean', enum: [false] }],
    example,
  });

/** An error of the mail service, forwarded unchanged. */
export class MailServiceError {
  /** Text for users. @example 'This message does not exist' */ error!: string;
  /** Constant for programs. */
  @ApiPropertyOptional({ oneOf: [{ type: 'string' }, { type: 'integer' }], example: 'MessageNotFound' })
  code?: string | number;
  /** Errors by field. */
  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    example: { limit: '"limit" must be a number' },
  })
  details?: Record<string, unknown>;
}

export class MailAddress {
  /** @example 'Carol' */ name?: string;
  /** @example 'carol@example.org' */ address!: string;
}

export class MailHeader {
  /** Lower-case name. @example 'list-id' */ key!: string;
  /** @example '<news.example.org>' */ value!: string;
}

export class MailAttachment {
  /** For `GET /mail/attachment`. @example 'ATT00001' */ id!: string;
  /** @example 'hello.txt' */ filename?: string;
  /** @example 'text/plain' */ contentType?: string;
  /** @example 'attachment' */ disposition?: string;
  @Nullable() cid?: string | null;
  /** True for an image shown within the HTML body. @example false */ related?: boolean;
  /** @example 1 */ @Integer() sizeKb?: number;
  /** Size of the content in bytes, where known. @example 5 */
  @Integer() decodedSize?: number;
}

export class MailSuccess {
  /** @example true */ success!: boolean;
}

/** Members of every mailbox response. */
class MailboxIdentity {
  @ApiProperty({ example: MAILBOX }) id!: string;
  /** `\Sent`, `\Drafts`, `\Trash`, `\Junk`; null for the inbox. */
  @Nullable('\\Sent') specialUse?: string | null;
}

export class MailMailbox extends MailboxIdentity {
  /** @example 'INBOX' */ path!: string;
  /** @example 'INBOX' */ name!: string;
  /** Milliseconds. @example 2592000000 */ @Integer() retention?: number;
  /** @example true */ subscribed?: boolean;
  /** @example false */ hidden?: boolean;
  /** Number of messages, with `counters`. @example 12 */ @Integer() total?: number;
  /** Number of unseen messages, with `counters`. @example 3 */ @Integer() unseen?: number;
}

export class MailMailboxList {
  /** @example true */ success?: boolean;
  /** @example 5 */ @Integer() total?: number;
  @Cursor(false) nextCursor?: string | false;
  @Cursor(false) previousCursor?: string | false;
  results!: MailMailbox[];
}

export class MailMailboxCreated extends MailboxIdentity {
  /** @example true */ success?: boolean;
  /** @example 'Projects/Alpha' */ path?: string;
  /** @example 'Alpha' */ name?: string;
}

/** Members of a message in a list and in a single read. */
class MessageBase {
  /** Id within the mailbox; a move changes it. */ @ApiProperty({ type: 'integer', example: 1 }) id!: number;
  @ApiProperty({ example: MAILBOX }) mailbox!: string;
  /** @example '6b0108e67d46ea6fe43d6630' */ thread?: string;
  from?: MailAddress;
  to?: MailAddress[];
  cc?: MailAddress[];
  /** @example 'Plan ✓' */ subject?: string;
  /** @example '2026-11-21T02:58:46.000Z' */ @ApiPropertyOptional({ format: 'date-time' }) date?: string;
  /** @example false */ seen?: boolean;
  /** The opposite of `seen`. @example true */ unseen?: boolean;
  /** @example true */ flagged?: boolean;
  /** @example false */ draft?: boolean;
}

export class MailMessageSummary extends MessageBase {
  /** Number of messages of the thread, with `threadCounters`. @example 2 */
  @Integer() threadMessageCount?: number;
  /** @example 'Hello Alice' */ intro?: string;
  /** True when the message has attachments; `attachmentsList` lists them. */
  @ApiPropertyOptional({
    oneOf: [{ type: 'boolean' }, { type: 'array', items: { $ref: '#/components/schemas/MailAttachment' } }],
    example: true,
  })
  attachments?: boolean | MailAttachment[];
  attachmentsList?: MailAttachment[];
}

export class MailMessageList {
  /** @example true */ success?: boolean;
  @ApiProperty({ type: 'integer', example: 30 }) total!: number;
  /** @example 1 */ @Integer() page?: number;
  /** Send it back as `cursor`; false on the last page. */ @Cursor(true, CURSOR) nextCursor!: string | false;
  /** Send it back as `cursor` with `direction=previous`; false on the first page. */
  @Cursor(true) previousCursor!: string | false;
  @Nullable() specialUse?: string | null;
  results!: MailMessageSummary[];
}

export class MailMessage extends MessageBase {
  /** @example true */ success?: boolean;
  /** Address for replies when it differs from `from`. */
  @ApiPropertyOptional({
    oneOf: [
      { type: 'array', items: { $ref: '#/components/schemas/MailAddress' } },
      { $ref: '#/components/schemas/MailAddress' },
    ],
    example: [{ name: 'Alice Adams', address: 'alice@demo.example' }],
  })
  replyTo?: MailAddress[] | MailAddress;
  bcc?: MailAddress[];
  /** @example 'Hello Alice' */ text?: string;
  /** As the sender wrote it, not sanitised: render it in a sandbox only. */
  @ApiPropertyOptional({
    oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
    example: ['<p>Hello <b>Alice</b></p>'],
  })
  html?: string | string[];
  /** Headers of the message, where the mail service provides them. */
  headers?: MailHeader[];
  attachments?: MailAttachment[];
}

export class MailStoredMessage {
  /** @example 1 */ @Integer() id?: number;
  @ApiPropertyOptional({ example: MAILBOX }) mailbox?: string;
  /** Bytes. @example 1450 */ @Integer() size?: number;
}

/** Result of `replacePrevious`. */
class ReplaceResult {
  /** True when the draft named in `replacePrevious` was deleted. @example true */ previousDeleted?: boolean;
  /** @example 'Failed to delete previous message. Message was not found' */ previousDeleteError?: string;
}

export class MailMessageCreated extends ReplaceResult {
  /** @example true */ success?: boolean;
  message?: MailStoredMessage;
}

export class MailDraft extends ReplaceResult {
  message!: MailStoredMessage;
}

export class MailBulkResult {
  /** @example true */ success?: boolean;
  /** Number of messages marked. @example 2 */ @Integer() updated?: number;
  /** Number of messages deleted. @example 2 */ @Integer() deleted?: number;
  /** Target mailbox of a move. */ @ApiPropertyOptional({ example: MAILBOX }) mailbox?: string;
  /** For each moved message: the old id and the new id. */
  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'array', items: { type: 'integer' } },
    example: [
      [6, 1],
      [7, 2],
    ],
  })
  id?: number[][];
  /** The moves by target, when messages were restored to several mailboxes. */
  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'object' },
    example: [{ mailbox: MAILBOX, id: [[1, 6]] }],
  })
  restored?: object[];
}

export class MailSubmission {
  /** @example true */ success?: boolean;
  /** @example '1a1fc0ace1e0000aa9' */ queueId?: string;
  /** The copy in the mailbox `\Sent`. */ message?: MailStoredMessage;
}

export const MailErrors = {
  endpointNotAvailable: defineError(
    404,
    'mail_endpoint_not_available',
    'This method and path are not part of the mail API.',
  ),
  tenantRequired: defineError(403, 'tenant_id_required', 'The token must name a workspace.'),
  accountRequired: defineError(
    403,
    'mail_account_required',
    'You have no mail account in this workspace. An administrator can link one.',
  ),
  hiddenNotAllowed: defineError(
    422,
    'hidden_mailbox_not_allowed',
    'Hidden mailboxes are reserved for the system.',
  ),
  notAnObject: defineError(400, 'invalid_json', 'The body must be a JSON object.'),
  tooManyRequests: defineError(
    429,
    'too_many_mail_requests',
    'You have too many mail requests in progress. Try again shortly.',
  ),
  busy: defineError(
    503,
    'mail_service_busy',
    'The mail service cannot respond at the moment. Try again shortly.',
  ),
  unavailable: defineError(503, 'mail_service_unavailable', 'This installation has no mail service.'),
  proxyFailed: defineError(500, 'Proxy failed', 'The mail service sent no usable response.'),
  internal: defineError(500, 'Internal server error', 'The request failed.'),
} as const;

/** For the documentation only: errors of the mail service have no `message`. */
const rejection = (status: number, error: string, more: Record<string, unknown>) =>
  new ErrorKind(status, error, 'The mail service rejects the request.', {
    example: { message: undefined, ...more },
    type: MailServiceError,
  });

/** Errors of the mail service are forwarded unchanged; one example for each status. */
export const MAIL_REJECTIONS = [
  rejection(400, '"limit" must be a number', {
    code: 'InputValidationError',
    details: { limit: '"limit" must be a number' },
  }),
  rejection(403, 'Your email has too many recipients', { code: 'TooMany' }),
  rejection(404, 'This message does not exist', { code: 'MessageNotFound' }),
  rejection(422, 'The message has no recipients', { code: 'NoRecipients' }),
  rejection(500, 'Nothing was changed', {}),
];
