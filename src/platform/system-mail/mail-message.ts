import type { Language } from '../languages/languages.js';
import { htmlOf, textOf } from './mail-layout.js';
import type { MailContent } from './mail-template.js';

/** A mail that is ready to be sent. */
export interface MailMessage {
  id: string;
  from: string;
  to: string;
  subject: string;
  /** MIME. */
  raw: Buffer;
}

/** @param id of the mail; its Message-ID contains it, so that mail servers recognise a repeated delivery */
export async function mailMessage(
  content: MailContent,
  envelope: {
    id: string;
    from: { name: string; address: string };
    to: string;
    date: Date;
    language: Language;
  },
): Promise<MailMessage> {
  // Loaded on first use: a process that sends no mail is smaller.
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
  const { id, from, to, date, language } = envelope;
  const { subject, senderName, replyTo, unsubscribe, calendar } = content;
  const composer = new MailComposer({
    from: {
      name: senderName === undefined ? from.name : `${senderName} (${from.name})`,
      address: from.address,
    },
    to,
    ...(replyTo && { replyTo: { name: replyTo.name ?? '', address: replyTo.address } }),
    subject,
    date,
    messageId: `<${id}@${from.address.split('@')[1]}>`,
    text: textOf(content),
    html: htmlOf(content, language),
    ...(calendar && { icalEvent: { method: calendar.method, content: calendar.content } }),
    headers: {
      'Auto-Submitted': 'auto-generated',
      'Content-Language': language,
      ...(unsubscribe && {
        'List-Unsubscribe': `<${unsubscribe.url}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return { id, from: from.address, to, subject, raw: await composer.compile().build() };
}
