import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsString, Matches, MaxLength, ValidateBy } from 'class-validator';
import { Visible } from '../../../../platform/http/input.decorators.js';
import { DRAFTS, INBOX } from '../../mail.docs.js';

const IsMailboxId = (): PropertyDecorator =>
  Matches(/^[0-9a-f]{24}$/i, { message: '$property must be a mailbox id: 24 hexadecimal digits' });

const isMessageId = (value: unknown): boolean =>
  typeof value === 'string' && /^[1-9]\d{0,15}$/.test(value) && Number.isSafeInteger(Number(value));

/** A message id, as a string or a number. */
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

/** The target mailbox of a draft. The mail service validates the other fields. */
export class DraftMailbox {
  @IsMailboxId() mailbox!: string;
}

export class SubmitDraft {
  /** Id of the mailbox that contains the draft. */
  @ApiProperty({ example: DRAFTS }) @IsMailboxId() mailbox_id!: string;
  /** Id of the draft within the mailbox. @example '1' */
  @IsMessageId() message_id!: string;
}

export class ReadAttachment {
  /** Id of the mailbox that contains the message. */
  @ApiProperty({ example: INBOX }) @IsMailboxId() mailbox_id!: string;
  /** Id of the message within the mailbox. @example '1' */
  @IsMessageId() message_id!: string;

  /** Id from the attachment list of the message. @example 'ATT00001' */
  @Matches(/^ATT\d{1,12}$/i, { message: 'attachment_id must be an attachment id such as ATT00001' })
  attachment_id!: string;

  /** File name of the download. @example 'hello.txt' */
  @MaxLength(1_000) @Visible() @IsString() filename!: string;
}
