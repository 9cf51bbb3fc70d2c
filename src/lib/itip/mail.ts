import MailComposer from 'nodemailer/lib/mail-composer';
import { encodeLookalikes, protectNames } from '../encoded-words/index.js';
import type { ItipMethod } from './methods.js';
/** A scheduling message as a mail. */
export interface ItipMail {
  from: { name: string; address: string };
  to: { name: string; address: string };
  /** `<id@domain>`. */
  messageId: string;
  /** The message of the same meeting that was sent first, for threads. */
  references: string[];
  subject: string;
  date: Date;
  text: string;
  html: string;
  method: ItipMethod;
  ics: string;
}
/**
 * Composes a mail with the calendar as an alternative of its text and as an attachment (RFC 6047). METHOD of the part equals
 * METHOD of the calendar.
 */
export function composeItipMail(mail: ItipMail): Promise<Buffer> {
  const { from, to, messageId, references, subject, date, text, html, method, ics } = mail;
  const composer = new MailComposer({
    from,
    to,
    messageId,
    ...(references.length > 0 && { references }),
    subject: encodeLookalikes(subject),
    date,
    text,
    html,
    alternatives: [
      {
        contentType: `text/calendar; method=${method}; component=VEVENT; charset=UTF-8`,
        content: Buffer.from(ics),
        contentTransferEncoding: 'base64',
      },
    ],
    attachments: [
      {
        filename: 'invite.ics',
        contentType: `application/ics; name="invite.ics"`,
        content: Buffer.from(ics),
      },
    ],
    headers: { 'X-Auto-Response-Suppress': 'OOF, AutoReply' },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const node = composer.compile();
  protectNames(node);
  return node.build();
}
