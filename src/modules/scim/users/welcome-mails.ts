import { Injectable, type OnModuleInit } from '@nestjs/common';
import { API_PREFIX, Config } from '../../../config/config.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { Language } from '../../../platform/languages/languages.js';
import { catalogueMail, type MailTemplate } from '../../../platform/system-mail/mail-template.js';
import { SystemMail } from '../../../platform/system-mail/system-mail.js';
import { PasswordRecovery } from '../../account-security/index.js';
import { WELCOME_TEXTS, type WelcomeText } from './welcome-texts.js';

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
