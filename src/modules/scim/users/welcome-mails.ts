import { Injectable, type OnModuleInit } from '@nestjs/common';
import { API_PREFIX, Config } from '../../../config/config.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { Catalogues, Language } from '../../../platform/languages/languages.js';
import { catalogueMail, type MailTemplate } from '../../../platform/system-mail/mail-template.js';
import { SystemMail } from '../../../platform/system-mail/system-mail.js';
import { PasswordRecovery } from '../../account-security/index.js';

const en = {
  subject: 'Your account in {workspace}',
  text: 'You have an account in the workspace {workspace}. You sign in with the address {email}.',
  password_text: 'The account has no password yet. Request a link on the page below and set one.',
  password_action: 'Set a password',
  sign_in_text: 'You sign in with the account of your company.',
  sign_in_action: 'Open the workspace',
};

export type WelcomeText = keyof typeof en;

/** Texts of the mail to a user whose account a provisioning client has created. */
export const WELCOME_TEXTS: Catalogues<WelcomeText> = {
  en,
  de: {
    subject: 'Ihr Konto in {workspace}',
    text: 'Sie haben ein Konto im Arbeitsbereich {workspace}. Sie melden sich mit der Adresse {email} an.',
    password_text:
      'Das Konto hat noch kein Passwort. Fordern Sie auf der Seite einen Link an und legen Sie eines fest.',
    password_action: 'Passwort festlegen',
    sign_in_text: 'Sie melden sich mit dem Konto Ihres Unternehmens an.',
    sign_in_action: 'Arbeitsbereich öffnen',
  },
  pt: {
    subject: 'A sua conta em {workspace}',
    text: 'Você tem uma conta no espaço de trabalho {workspace}. Você entra com o endereço {email}.',
    password_text: 'A conta ainda não tem senha. Solicite um link na página abaixo e defina uma.',
    password_action: 'Definir uma senha',
    sign_in_text: 'Você entra com a conta da sua empresa.',
    sign_in_action: 'Abrir o espaço de trabalho',
  },
  vi: {
    subject: 'Tài khoản của bạn trong {workspace}',
    text: 'Bạn có một tài khoản trong không gian làm việc {workspace}. Bạn đăng nhập bằng địa chỉ {email}.',
    password_text: 'Tài khoản chưa có mật khẩu. Hãy yêu cầu liên kết trên trang dưới đây và đặt mật khẩu.',
    password_action: 'Đặt mật khẩu',
    sign_in_text: 'Bạn đăng nhập bằng tài khoản của công ty.',
    sign_in_action: 'Mở không gian làm việc',
  },
};

const LIFETIME_SECONDS = 7 * 86_400;

interface WelcomeMail {
  workspace: string;
  email: string;
  /** The page where the user sets a password, or the client where an external issuer signs in. */
  url: string;
  setsPassword: boolean;
}

interface NewMember {
  tenantId: string;
  userId: string;
  email: string;
  workspace: string;
  language: Language;
}

const EXAMPLE = { workspace: 'Demo Workspace', email: 'ann@example.com' };

/** Mails to users whose account a provisioning client has created. They contain no secret: the page sends a link. */
@Injectable()
export class WelcomeMails implements OnModuleInit {
  private readonly template: MailTemplate<WelcomeMail> = catalogueMail<WelcomeText, WelcomeMail>({
    name: 'scim.welcome',
    texts: WELCOME_TEXTS,
    content: (text, { workspace, email, url, setsPassword }) => ({
      subject: text('subject', { workspace }),
      paragraphs: [text('text', { workspace, email }), text(setsPassword ? 'password_text' : 'sign_in_text')],
      action: { label: text(setsPassword ? 'password_action' : 'sign_in_action'), url },
    }),
    examples: {
      password: { ...EXAMPLE, url: 'https://work.example/apis/v1/account/password', setsPassword: true },
      external: { ...EXAMPLE, url: 'https://work.example', setsPassword: false },
    },
  });

  constructor(
    private readonly recovery: PasswordRecovery,
    private readonly mails: SystemMail,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.mails.register(this.template);
  }

  /** Queues the mail; without a mail server, the administrator informs the user. */
  async send(tx: Tx, { tenantId, userId, email, workspace, language }: NewMember): Promise<void> {
    const setsPassword = this.recovery.enabled;
    const { publicUrl, webClientUrl } = this.config;
    const url = setsPassword ? `${publicUrl}/${API_PREFIX}/account/password` : webClientUrl;
    await this.mails.queue(tx, {
      tenantId,
      template: this.template,
      to: email,
      language,
      values: { workspace, email, url, setsPassword },
      key: `scim welcome ${userId}`,
      lifetimeSeconds: LIFETIME_SECONDS,
    });
  }
}
