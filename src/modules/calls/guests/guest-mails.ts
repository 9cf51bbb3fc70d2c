import { Injectable, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Tx } from '../../../platform/database/tx.js';
import { languageOf, translator } from '../../../platform/languages/languages.js';
import type { MailTemplate } from '../../../platform/system-mail/mail-template.js';
import { SystemMail } from '../../../platform/system-mail/system-mail.js';
import { GUEST_MAIL_TEXTS } from './guest-mail-texts.js';

const CODE_SECONDS = 600;

interface CodeMail {
  /** Null: the address does not fit the invite, and no mail is sent. */
  code: string | null;
  title: string;
}

interface InviteMail {
  title: string;
  inviter: string;
  inviterEmail: string;
  message: string;
  url: string;
}

interface Recipient {
  email: string;
  /** BCP 47. */
  locale?: string;
}

const CODE_MAIL: MailTemplate<CodeMail> = {
  name: 'guests.code',
  compose({ language, values: { code, title } }) {
    if (code === null) return null;
    const text = translator(GUEST_MAIL_TEXTS, language);
    return {
      subject: text('code_subject', { code }),
      title: text('code_title'),
      paragraphs: [text('code_text', { title })],
      code,
      closing: [text('code_closing')],
    };
  },
};

const INVITE_MAIL: MailTemplate<InviteMail> = {
  name: 'guests.invite',
  compose({ language, values: { title, inviter, inviterEmail, message, url } }) {
    const text = translator(GUEST_MAIL_TEXTS, language);
    return {
      subject: text('invite_subject', { inviter, title }),
      paragraphs: [text('invite_text', { inviter, title }), ...(message === '' ? [] : [message])],
      action: { label: text('invite_action'), url },
      closing: [text('invite_closing')],
      senderName: inviter,
      replyTo: { name: inviter, address: inviterEmail },
    };
  },
};

/** Mails to guests. */
@Injectable()
export class GuestMails implements OnModuleInit {
  constructor(private readonly mails: SystemMail) {}

  onModuleInit(): void {
    this.mails.register(CODE_MAIL);
    this.mails.register(INVITE_MAIL);
  }

  /** Queues a mail for any address, so that the work is the same; it is sent only with a code. */
  async sendCode(
    tx: Tx,
    tenantId: string,
    { email: to, locale }: Recipient,
    values: CodeMail,
  ): Promise<void> {
    const language = languageOf(locale) ?? 'en';
    const mail = { tenantId, template: CODE_MAIL, to, language, values, key: `guest-code ${uuidv7()}` };
    await this.mails.queue(tx, { ...mail, lifetimeSeconds: CODE_SECONDS });
  }

  /** @param key of the invite */
  async sendInvite(
    tx: Tx,
    tenantId: string,
    { email: to, locale }: Recipient,
    key: string,
    values: InviteMail,
  ): Promise<void> {
    const language = languageOf(locale) ?? 'en';
    await this.mails.queue(tx, { tenantId, template: INVITE_MAIL, to, language, values, key });
  }
}
