import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { DRAFTS, INBOX, TRASH } from './mail.examples.js';

// What clients may send, for the description alone: the mail service checks the fields.

export class UpdateMailbox {
  @ApiPropertyOptional({ example: 'Projects/Beta', description: 'With the names of its parents.' })
  path?: string;
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    example: 31_536_000_000,
    description: 'For how many milliseconds messages are kept; 0: for ever.',
  })
  retention?: number;
  @ApiPropertyOptional({ example: true }) subscribed?: boolean;
  @ApiPropertyOptional({ enum: [false], example: false, description: 'Reserved for the system.' })
  hidden?: false;
}

export class CreateMailbox extends UpdateMailbox {
  @ApiProperty({ example: 'Projects/Alpha', description: 'With the names of its parents.' })
  declare path: string;
}

export class NewAddress {
  @ApiPropertyOptional({ example: 'Bob Okafor' }) name?: string;
  @ApiProperty({ example: 'bob@demo.example' }) address!: string;
}

export class NewAttachment {
  @ApiPropertyOptional({ example: 'hello.txt' }) filename?: string;
  @ApiPropertyOptional({ example: 'text/plain', description: '`mimeType` and `type` are taken too.' })
  contentType?: string;
  @ApiProperty({ example: 'SGVsbG8=', description: 'Base64; the prefix of a `data:` URL is taken off.' })
  content!: string;
  @ApiPropertyOptional({ example: 'dot@x', description: 'For `cid:` links; `contentId` is taken too.' })
  cid?: string;
  @ApiPropertyOptional({
    enum: ['attachment', 'inline'],
    example: 'attachment',
    description: '`disposition` is taken too.',
  })
  contentDisposition?: 'attachment' | 'inline';
}

export class MessageReference {
  @ApiProperty({ example: INBOX }) mailbox!: string;
  @ApiProperty({ type: 'integer', example: 1 }) id!: number;
  @ApiProperty({
    enum: ['reply', 'replyAll', 'forward'],
    example: 'reply',
    description: '`reply-all` is taken too.',
  })
  action!: 'reply' | 'replyAll' | 'forward';
  @ApiPropertyOptional({
    oneOf: [{ type: 'boolean' }, { type: 'array', items: { type: 'string' } }],
    example: true,
    description: 'Take all attachments along, or those named.',
  })
  attachments?: boolean | string[];
}

export class PreviousDraft {
  @ApiPropertyOptional({ example: DRAFTS }) mailbox?: string;
  @ApiProperty({ type: 'integer', example: 1 }) id!: number;
}

export class NewMessage {
  @ApiPropertyOptional({ type: NewAddress }) from?: NewAddress;
  @ApiPropertyOptional({ type: NewAddress }) replyTo?: NewAddress;
  @ApiPropertyOptional({ type: [NewAddress] }) to?: NewAddress[];
  @ApiPropertyOptional({ type: [NewAddress] }) cc?: NewAddress[];
  @ApiPropertyOptional({ type: [NewAddress] }) bcc?: NewAddress[];
  @ApiPropertyOptional({ maxLength: 2048, example: 'Plan' }) subject?: string;
  @ApiPropertyOptional({ example: 'Hello Bob' }) text?: string;
  @ApiPropertyOptional({ example: '<p>Hello Bob</p>' }) html?: string;
  @ApiPropertyOptional({ example: true, description: 'Only drafts can be submitted.' }) draft?: boolean;
  @ApiPropertyOptional({ example: false }) unseen?: boolean;
  @ApiPropertyOptional({ example: false }) flagged?: boolean;
  @ApiPropertyOptional({ type: [NewAttachment] }) attachments?: NewAttachment[];
  @ApiPropertyOptional({
    type: [String],
    example: [],
    description: 'Attachments stored at the mail service before.',
  })
  files?: string[];
  @ApiPropertyOptional({ type: MessageReference, description: 'The message this one answers or forwards.' })
  reference?: MessageReference;
  @ApiPropertyOptional({ type: PreviousDraft, description: 'The draft this one takes the place of.' })
  replacePrevious?: PreviousDraft;
}

export class NewDraft extends NewMessage {
  @ApiProperty({ example: DRAFTS, description: 'The mailbox it goes to.' }) mailbox!: string;
}

export class UpdateMessages {
  @ApiProperty({
    type: 'array',
    items: { oneOf: [{ type: 'integer' }, { type: 'string' }] },
    maxItems: 5000,
    example: [4, 5],
  })
  message!: (number | string)[];
  @ApiPropertyOptional({ example: true }) seen?: boolean;
  @ApiPropertyOptional({ example: TRASH, description: 'The mailbox to move them to.' })
  moveTo?: string;
  @ApiPropertyOptional({
    example: false,
    description:
      'Move each back to where it was moved from by this API; to the inbox, where that is not known or not there any more.',
  })
  restoreToOrigin?: boolean;
}

export class UpdateMessage {
  @ApiPropertyOptional({ example: true }) seen?: boolean;
  @ApiPropertyOptional({ example: false, description: 'The opposite of `seen`.' }) unseen?: boolean;
  @ApiPropertyOptional({ example: false }) flagged?: boolean;
  @ApiPropertyOptional({ example: false }) deleted?: boolean;
  @ApiPropertyOptional({ example: TRASH, description: 'The mailbox to move it to.' })
  moveTo?: string;
}

export class SubmitMessage {
  @ApiPropertyOptional({ format: 'date-time', example: '2027-01-01T10:00:00Z', description: 'Not before.' })
  sendTime?: string;
  @ApiPropertyOptional({
    example: false,
    description: 'Delete the stored `files` of the draft once it is sent.',
  })
  deleteFiles?: boolean;
}
