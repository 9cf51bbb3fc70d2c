import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsNotEmpty, IsString, Matches, MaxLength, ValidateBy } from 'class-validator';
import { DRAFTS, INBOX } from './mail.examples.js';

const MAILBOX_ID = /^[0-9a-f]{24}$/i;

const IsMailboxId = (): PropertyDecorator =>
  Matches(MAILBOX_ID, { message: '$property must be a mailbox id: 24 hexadecimal digits' });

const isMessageId = (value: unknown): boolean =>
  typeof value === 'string' && /^[1-9]\d{0,15}$/.test(value) && Number.isSafeInteger(Number(value));

/** A message id; a number is taken as the text of it. */
function IsMessageId(): PropertyDecorator {
  const text = Transform(({ value }) => (typeof value === 'number' ? String(value) : value));
  const check = ValidateBy({
    name: 'isMessageId',
    validator: {
      validate: isMessageId,
      defaultMessage: () => '$property must be a message id: a positive integer',
    },
  });
  return (target, key) => {
    text(target, key);
    check(target, key);
  };
}

/** Where a draft goes; its other fields are the mail service's to check. */
export class DraftMailbox {
  @IsMailboxId() mailbox!: string;
}

/** A draft to be sent. */
export class SubmitDraft {
  @ApiProperty({ example: DRAFTS, description: 'The id of the mailbox it lies in.' })
  @IsMailboxId()
  mailbox_id!: string;

  @ApiProperty({ type: String, example: '1', description: 'Its id within the mailbox.' })
  @IsMessageId()
  message_id!: string;
}

/** An attachment to be downloaded. */
export class ReadAttachment {
  @ApiProperty({ example: INBOX, description: 'The id of the mailbox that the message is in.' })
  @IsMailboxId()
  mailbox_id!: string;

  @ApiProperty({ type: String, example: '1', description: 'The id of the message within the mailbox.' })
  @IsMessageId()
  message_id!: string;

  @ApiProperty({ example: 'ATT00001', description: 'As the message lists it.' })
  @Matches(/^ATT\d{1,12}$/i, { message: 'attachment_id must be an attachment id such as ATT00001' })
  attachment_id!: string;

  @ApiProperty({ example: 'hello.txt', description: 'The name the download gets.' })
  @MaxLength(1_000)
  @IsNotEmpty()
  @IsString()
  filename!: string;
}
