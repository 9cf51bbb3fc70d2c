import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

const MAILBOX = '6b0108e57d46ea6fe43d660f';
const CURSOR =
  'WyJbe1wiJGRhdGVcIjpcIjIwMjYtMTEtMjFUMDI6NTg6NDguMDc1WlwifSx7XCIkb2lkXCI6XCI2YjAxMDhlODdkNDZlYTZmZTQzZDY2ODBcIn1dIiwyXQ';

/** Names of the schemas that the mail service fills: it may say more than is described. */
export const OPEN_MAIL_SCHEMAS = [
  'MailAddress',
  'MailRefusal',
  'MailAttachment',
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

export class MailAddress {
  @ApiPropertyOptional({ example: 'Carol' }) name?: string;
  @ApiProperty({ example: 'carol@example.org' }) address!: string;
}

export class MailAttachment {
  @ApiProperty({ example: 'ATT00001', description: 'For `GET /mail/attachment`.' }) id!: string;
  @ApiPropertyOptional({ example: 'hello.txt' }) filename?: string;
  @ApiPropertyOptional({ example: 'text/plain' }) contentType?: string;
  @ApiPropertyOptional({ example: 'attachment' }) disposition?: string;
  @ApiPropertyOptional({ type: String, nullable: true, example: null }) cid?: string | null;
  @ApiPropertyOptional({ example: false, description: 'Shown within the HTML body.' }) related?: boolean;
  @ApiPropertyOptional({ type: 'integer', example: 1 }) sizeKb?: number;
}

export class MailMailbox {
  @ApiProperty({ example: MAILBOX }) id!: string;
  @ApiProperty({ example: 'INBOX' }) path!: string;
  @ApiProperty({ example: 'INBOX' }) name!: string;
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    example: '\\Sent',
    description: '`\\Sent`, `\\Drafts`, `\\Trash`, `\\Junk`; null for the inbox.',
  })
  specialUse?: string | null;
  @ApiPropertyOptional({ type: 'integer', example: 2592000000, description: 'Milliseconds.' })
  retention?: number;
  @ApiPropertyOptional({ example: true }) subscribed?: boolean;
  @ApiPropertyOptional({ example: false }) hidden?: boolean;
  @ApiPropertyOptional({ type: 'integer', example: 12, description: 'With `counters`.' }) total?: number;
  @ApiPropertyOptional({ type: 'integer', example: 3, description: 'With `counters`.' }) unseen?: number;
}

export class MailMailboxList {
  @ApiPropertyOptional({ example: true }) success?: boolean;
  @ApiPropertyOptional({ type: 'integer', example: 5 }) total?: number;
  @ApiPropertyOptional({
    oneOf: [{ type: 'string' }, { type: 'boolean', enum: [false] }],
    example: false,
  })
  nextCursor?: string | false;
  @ApiPropertyOptional({
    oneOf: [{ type: 'string' }, { type: 'boolean', enum: [false] }],
    example: false,
  })
  previousCursor?: string | false;
  @ApiProperty({ type: [MailMailbox] }) results!: MailMailbox[];
}

export class MailMailboxCreated {
  @ApiPropertyOptional({ example: true }) success?: boolean;
  @ApiProperty({ example: '6b0108e67d46ea6fe43d6620' }) id!: string;
  @ApiPropertyOptional({ example: 'Projects/Alpha' }) path?: string;
  @ApiPropertyOptional({ example: 'Alpha' }) name?: string;
  @ApiPropertyOptional({ type: String, nullable: true, example: null }) specialUse?: string | null;
}

export class MailSuccess {
  @ApiProperty({ example: true }) success!: boolean;
}

export class MailMessageSummary {
  @ApiProperty({ type: 'integer', example: 1, description: 'Within its mailbox; a move changes it.' })
  id!: number;
  @ApiProperty({ example: MAILBOX }) mailbox!: string;
  @ApiPropertyOptional({ example: '6b0108e67d46ea6fe43d6630' }) thread?: string;
  @ApiPropertyOptional({ type: 'integer', example: 2, description: 'With `threadCounters`.' })
  threadMessageCount?: number;
  @ApiPropertyOptional({ type: MailAddress }) from?: MailAddress;
  @ApiPropertyOptional({ type: [MailAddress] }) to?: MailAddress[];
  @ApiPropertyOptional({ type: [MailAddress] }) cc?: MailAddress[];
  @ApiPropertyOptional({ example: 'Plan ✓' }) subject?: string;
  @ApiPropertyOptional({ format: 'date-time', example: '2026-11-21T02:58:46.000Z' }) date?: string;
  @ApiPropertyOptional({ example: 'Hello Alice' }) intro?: string;
  @ApiPropertyOptional({ example: false }) seen?: boolean;
  @ApiPropertyOptional({ example: true }) flagged?: boolean;
  @ApiPropertyOptional({ example: false }) draft?: boolean;
  @ApiPropertyOptional({
    oneOf: [{ type: 'boolean' }, { type: 'array', items: { $ref: '#/components/schemas/MailAttachment' } }],
    example: true,
    description: 'Whether there are any; which ones, in `attachmentsList`.',
  })
  attachments?: boolean | MailAttachment[];
  @ApiPropertyOptional({ type: [MailAttachment] }) attachmentsList?: MailAttachment[];
}

export class MailMessageList {
  @ApiPropertyOptional({ example: true }) success?: boolean;
  @ApiProperty({ type: 'integer', example: 30 }) total!: number;
  @ApiPropertyOptional({ type: 'integer', example: 1 }) page?: number;
  @ApiProperty({
    oneOf: [{ type: 'string' }, { type: 'boolean', enum: [false] }],
    example: CURSOR,
    description: 'Send it back as `cursor`; false on the last page.',
  })
  nextCursor!: string | false;
  @ApiProperty({
    oneOf: [{ type: 'string' }, { type: 'boolean', enum: [false] }],
    example: false,
    description: 'Send it back as `cursor` with `direction=previous`; false on the first page.',
  })
  previousCursor!: string | false;
  @ApiPropertyOptional({ type: String, nullable: true, example: null }) specialUse?: string | null;
  @ApiProperty({ type: [MailMessageSummary] }) results!: MailMessageSummary[];
}

export class MailMessage {
  @ApiPropertyOptional({ example: true }) success?: boolean;
  @ApiProperty({ type: 'integer', example: 1 }) id!: number;
  @ApiProperty({ example: MAILBOX }) mailbox!: string;
  @ApiPropertyOptional({ example: '6b0108e67d46ea6fe43d6630' }) thread?: string;
  @ApiPropertyOptional({ type: MailAddress }) from?: MailAddress;
  @ApiPropertyOptional({
    oneOf: [
      { type: 'array', items: { $ref: '#/components/schemas/MailAddress' } },
      { $ref: '#/components/schemas/MailAddress' },
    ],
    example: [{ name: 'Alice Adams', address: 'alice@demo.example' }],
    description: 'Whom to answer, if not `from`.',
  })
  replyTo?: MailAddress[] | MailAddress;
  @ApiPropertyOptional({ type: [MailAddress] }) to?: MailAddress[];
  @ApiPropertyOptional({ type: [MailAddress] }) cc?: MailAddress[];
  @ApiPropertyOptional({ type: [MailAddress] }) bcc?: MailAddress[];
  @ApiPropertyOptional({ example: 'Plan ✓' }) subject?: string;
  @ApiPropertyOptional({ format: 'date-time', example: '2026-11-21T02:58:46.000Z' }) date?: string;
  @ApiPropertyOptional({ example: 'Hello Alice' }) text?: string;
  @ApiPropertyOptional({
    oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
    example: ['<p>Hello <b>Alice</b></p>'],
    description: 'As its sender wrote it: show it only in a sandbox.',
  })
  html?: string | string[];
  @ApiPropertyOptional({ example: false }) seen?: boolean;
  @ApiPropertyOptional({ example: true }) flagged?: boolean;
  @ApiPropertyOptional({ example: false }) draft?: boolean;
  @ApiPropertyOptional({ type: [MailAttachment] }) attachments?: MailAttachment[];
}

export class MailStoredMessage {
  @ApiPropertyOptional({ type: 'integer', example: 1 }) id?: number;
  @ApiPropertyOptional({ example: MAILBOX }) mailbox?: string;
  @ApiPropertyOptional({ type: 'integer', example: 1450, description: 'Bytes.' }) size?: number;
}

export class MailMessageCreated {
  @ApiPropertyOptional({ example: true }) success?: boolean;
  @ApiPropertyOptional({ type: MailStoredMessage }) message?: MailStoredMessage;
  @ApiPropertyOptional({ example: true, description: 'The message of `replacePrevious` is gone.' })
  previousDeleted?: boolean;
  @ApiPropertyOptional({ example: 'Failed to delete previous message. Message was not found' })
  previousDeleteError?: string;
}

export class MailDraft {
  @ApiProperty({ type: MailStoredMessage }) message!: MailStoredMessage;
  @ApiPropertyOptional({ example: true, description: 'The message of `replacePrevious` is gone.' })
  previousDeleted?: boolean;
  @ApiPropertyOptional({ example: 'Failed to delete previous message. Message was not found' })
  previousDeleteError?: string;
}

export class MailBulkResult {
  @ApiPropertyOptional({ example: true }) success?: boolean;
  @ApiPropertyOptional({ type: 'integer', example: 2, description: 'Messages that were marked.' })
  updated?: number;
  @ApiPropertyOptional({ example: MAILBOX, description: 'Where messages were moved to.' }) mailbox?: string;
  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'array', items: { type: 'integer' } },
    example: [
      [6, 1],
      [7, 2],
    ],
    description: 'Of each message moved: the id it had and the id it has.',
  })
  id?: number[][];
  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'object' },
    example: [{ mailbox: MAILBOX, id: [[1, 6]] }],
    description: 'Where messages were restored to more than one mailbox.',
  })
  restored?: object[];
}

export class MailSubmission {
  @ApiPropertyOptional({ example: true }) success?: boolean;
  @ApiPropertyOptional({ example: '1a1fc0ace1e0000aa9' }) queueId?: string;
  @ApiPropertyOptional({ type: MailStoredMessage, description: 'The copy in the sent mail.' })
  message?: MailStoredMessage;
}
