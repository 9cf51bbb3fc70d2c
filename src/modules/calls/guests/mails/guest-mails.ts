import { Injectable, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Tx } from '../../../../platform/database/tx.js';
import { type Catalogues, languageOf } from '../../../../platform/languages/languages.js';
import { catalogueMail } from '../../../../platform/system-mail/mail-template.js';
import { SystemMail } from '../../../../platform/system-mail/system-mail.js';
import { CODE_SECONDS } from '../model/code-rules.js';

export type GuestMailText =
  | 'code_subject'
  | 'code_title'
  | 'code_text'
  | 'code_closing'
  | 'invite_subject'
  | 'invite_text'
  | 'invite_action'
  | 'invite_closing';

export const GUEST_MAIL_TEXTS: Catalogues<GuestMailText> = {
  en: {
    code_subject: '{code} is your code',
    code_title: 'Your code',
    code_text: 'Enter this code to join “{title}” as a guest. It is valid for 10 minutes.',
    code_closing: 'If you did not request this code, ignore this mail. Do not share the code.',
    invite_subject: '{inviter} invites you to “{title}”',
    invite_text: '{inviter} invites you to “{title}” as a guest. You need no account.',
    invite_action: 'Open the invite',
    invite_closing: 'The link is for you only.',
  },
  de: {
    code_subject: '{code} ist Ihr Code',
    code_title: 'Ihr Code',
    code_text: 'Mit diesem Code nehmen Sie als Gast an „{title}“ teil. Er gilt 10 Minuten.',
    code_closing:
      'Wenn Sie keinen Code angefordert haben, ignorieren Sie diese E-Mail. Geben Sie den Code nicht weiter.',
    invite_subject: '{inviter} lädt Sie zu „{title}“ ein',
    invite_text: '{inviter} lädt Sie als Gast zu „{title}“ ein. Sie brauchen kein Konto.',
    invite_action: 'Einladung öffnen',
    invite_closing: 'Der Link ist nur für Sie bestimmt.',
  },
  pt: {
    code_subject: '{code} é o seu código',
    code_title: 'O seu código',
    code_text: 'Use este código para participar em “{title}” como convidado. É válido durante 10 minutos.',
    code_closing: 'Se não pediu este código, ignore esta mensagem. Não partilhe o código.',
    invite_subject: '{inviter} convida-o para “{title}”',
    invite_text: '{inviter} convida-o para “{title}” como convidado. Não precisa de conta.',
    invite_action: 'Abrir o convite',
    invite_closing: 'A ligação é só para si.',
  },
  vi: {
    code_subject: '{code} là mã của bạn',
    code_title: 'Mã của bạn',
    code_text: 'Nhập mã này để tham gia “{title}” với tư cách khách. Mã có hiệu lực trong 10 phút.',
    code_closing: 'Nếu bạn không yêu cầu mã này, hãy bỏ qua thư này. Không chia sẻ mã.',
    invite_subject: '{inviter} mời bạn tham gia “{title}”',
    invite_text: '{inviter} mời bạn tham gia “{title}” với tư cách khách. Bạn không cần tài khoản.',
    invite_action: 'Mở lời mời',
    invite_closing: 'Liên kết này chỉ dành cho bạn.',
  },
};

interface CodeMail {
  /** Null means that the address does not fit the invite, and no mail is sent. */
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
