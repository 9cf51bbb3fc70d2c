import { Injectable, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Tx } from '../../../../platform/database/tx.js';
import { languageOf } from '../../../../platform/languages/languages.js';
import { catalogueMail } from '../../../../platform/system-mail/mail-template.js';
import { SystemMail } from '../../../../platform/system-mail/system-mail.js';
import { GUEST_MAIL_TEXTS, type GuestMailText } from './guest-mail-texts.js';
import { CODE_SECONDS } from '../model/code-rules.js';

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

const CODE_MAIL = catalogueMail<GuestMailText, CodeMail>({
  name: 'guests.code',
  texts: GUEST_MAIL_TEXTS,
  content(text, { code, title }) {
    if (code === null) return null;
    return {
      subject: text('code_subject', { code }),
      title: text('code_title'),
      paragraphs: [text('code_text', { title })],
      code,
      closing: [text('code_closing')],
    };
  },
  examples: { code: { code: '493817', title: 'Spring offsite' } },
});

const INVITE_MAIL = catalogueMail<GuestMailText, InviteMail>({
  name: 'guests.invite',
  texts: GUEST_MAIL_TEXTS,
  content(text, { title, inviter, inviterEmail, message, url }) {
    return {
      subject: text('invite_subject', { inviter, title }),
      paragraphs: [text('invite_text', { inviter, title }), ...(message === '' ? [] : [message])],
      action: { label: text('invite_action'), url },
      closing: [text('invite_closing')],
      senderName: inviter,
      replyTo: { name: inviter, address: inviterEmail },
    };
  },
  examples: {
    invite: {
      title: 'Spring offsite',
      inviter: 'Ann Example',
      inviterEmail: 'ann@example.com',
      message: 'We start at nine.\nBring your ideas.',
      url: 'https://work.example/guest#token',
    },
  },
});

/** Mails to guests. */
@Injectable()
export class GuestMails implements OnModuleInit {
  constructor(private readonly mails: SystemMail) {}

  onModuleInit(): void {
    this.mails.register(CODE_MAIL);
    this.mails.register(INVITE_MAIL);
  }

  /** Queues a mail for each address, so that the work is the same. A mail without a code is not sent. */
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
