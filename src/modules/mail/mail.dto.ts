import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { DRAFTS, INBOX, TRASH } from './mail.docs.js';

// Request bodies, for the documentation only: the mail service validates the fields.

export class UpdateMailbox {
  /** Includes the names of the parent mailboxes. @example 'Projects/Beta' */ path?: string;
  /** Retention of messages in milliseconds; 0 keeps them forever. A shorter one applies to later messages. @example 31536000000 */
  @ApiPropertyOptional({ type: 'integer', minimum: 0 }) retention?: number;
  /** @example true */ subscribed?: boolean;
  /** Reserved for the system. */ @ApiPropertyOptional({ enum: [false], example: false }) hidden?: false;
}

export class CreateMailbox extends UpdateMailbox {
  /** Includes the names of the parent mailboxes. @example 'Projects/Alpha' */ declare path: string;
}

export class NewAddress {
  /** @example 'Bob Okafor' */ name?: string;
  /** @example 'bob@demo.example' */ address!: string;
}

export class NewAttachment {
  /** @example 'hello.txt' */ filename?: string;
  /** `mimeType` and `type` are accepted too. @example 'text/plain' */ contentType?: string;
  /** Base64; the prefix of a `data:` URL is removed. Required unless `keep` is set. @example 'SGVsbG8=' */
  content?: string;
  /** Id of an attachment of the draft in `replacePrevious` that the new version keeps, in place of the other members. */
  @ApiPropertyOptional({ example: 'ATT00001' }) keep?: string;
  /** For `cid:` links; `contentId` is accepted too. @example 'dot@x' */ cid?: string;
  /** `disposition` is accepted too. @example 'attachment' */ contentDisposition?: 'attachment' | 'inline';
}

export class MessageReference {
  @ApiProperty({ example: INBOX }) mailbox!: string;
  @ApiProperty({ type: 'integer', example: 1 }) id!: number;
  /** `reply-all` is accepted too. @example 'reply' */ action!: 'reply' | 'replyAll' | 'forward';
  /** Copies all attachments, or those listed by id. */
  @ApiPropertyOptional({
    oneOf: [{ type: 'boolean' }, { type: 'array', items: { type: 'string' } }],
    example: true,
  })
  attachments?: boolean | string[];
}

export class PreviousDraft {
  @ApiPropertyOptional({ example: DRAFTS }) mailbox?: string;
  @ApiProperty({ type: 'integer', example: 1 }) id!: number;
}

export class NewMessage {
  from?: NewAddress;
  replyTo?: NewAddress;
  to?: NewAddress[];
  cc?: NewAddress[];
  bcc?: NewAddress[];
  /** @example 'Plan' */ @ApiPropertyOptional({ maxLength: 2048 }) subject?: string;
  /** @example 'Hello Bob' */ text?: string;
  /** Links to copied and kept attachments may stay as they were read (`attachment:ATT00001`). @example '<p>Hello Bob</p>' */
  html?: string;
  /** Only drafts can be submitted. @example true */ draft?: boolean;
  /** @example false */ unseen?: boolean;
  /** @example false */ flagged?: boolean;
  attachments?: NewAttachment[];
  /** Ids of attachments that the mail service already stores. */
  @ApiPropertyOptional({ type: [String], example: [] }) files?: string[];
  /** The message that this one replies to or forwards. */ reference?: MessageReference;
  /**
   * The draft that this one replaces. Without `reference`, the new version keeps that of the draft, and its thread. All other fields are
   * those of the new version: name the files that it keeps in `attachments` (`keep`).
   */
  replacePrevious?: PreviousDraft;
}

export class NewDraft extends NewMessage {
  /** Target mailbox. */ @ApiProperty({ example: DRAFTS }) mailbox!: string;
}

/** Changes of one message or of several. */
class MessageChanges {
  /** @example false */ flagged?: boolean;
  /** @example true */ seen?: boolean;
  /** Target mailbox of a move. */ @ApiPropertyOptional({ example: TRASH }) moveTo?: string;
}

export class UpdateMessages extends MessageChanges {
  @ApiProperty({
    type: 'array',
    items: { oneOf: [{ type: 'integer' }, { type: 'string' }] },
    maxItems: 5000,
    example: [4, 5],
  })
  message!: (number | string)[];
  /**
   * Moves each message back to the mailbox from which this API moved it, or to the inbox when that mailbox is unknown or
   * deleted.
   * @example false
   */
  restoreToOrigin?: boolean;
  /** Deletes the messages permanently. Cannot be combined with other changes. @example false */
  delete?: boolean;
}

export class UpdateMessage extends MessageChanges {
  /** The opposite of `seen`. @example false */ unseen?: boolean;
  /** @example false */ deleted?: boolean;
}

export class SubmitMessage {
  /** Earliest time of delivery. @example '2027-01-01T10:00:00Z' */
  @ApiPropertyOptional({ format: 'date-time' }) sendTime?: string;
  /** Deletes the stored `files` of the draft after sending. @example false */ deleteFiles?: boolean;
}
