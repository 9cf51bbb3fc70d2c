import { Injectable, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { API_PREFIX, Config } from '../../config/config.js';
import { NO_TENANT } from '../../platform/audit/audit.js';
import { Db } from '../../platform/database/db.js';
import { type Language, translator } from '../../platform/languages/languages.js';
import { networkOf } from '../../platform/current-work/current-work.js';
import { RateLimits } from '../../platform/rate-limits/rate-limits.js';
import type { MailContent, MailRequest, MailTemplate } from '../../platform/system-mail/mail-template.js';
import { SystemMail } from '../../platform/system-mail/system-mail.js';
import {
  CredentialsApi,
  type CredentialsRow,
  emailKey,
  Passwords,
  sameMailbox,
  SessionsApi,
} from '../identity/index.js';
import { ApplicationPasswords } from './application-passwords/application-passwords.service.js';
import { PasswordPolicy } from './passwords/password-policy.js';
import { SecurityLog } from './security-log.js';
import { ACCOUNT_MAIL_TEXTS } from './recovery/account-mail-texts.js';
import { AccountTokens } from './recovery/account-tokens.js';

const LINK_SECONDS = 3_600;
const ADDRESS_LIMIT = { scope: 'password-recovery-address', requests: 5, perSeconds: 3_600 };

interface RecoveryOrigin {
  ip: string | null;
  requestId: string | null;
}

/**
 * Forgotten passwords. A request does the same work for any address: it queues a mail, and the account is looked up when the
 * mail is composed. Response and time therefore do not disclose whether an address has an account.
 */
@Injectable()
export class PasswordRecovery implements OnModuleInit {
  private readonly template: MailTemplate<object> = {
    name: 'account.password_recovery',
    compose: (request) => this.compose(request),
    previews: (language) => ({ password: this.content(language, 'ann@example.com', 'token') }),
  };

  constructor(
    private readonly tokens: AccountTokens,
    private readonly credentials: CredentialsApi,
    private readonly passwords: Passwords,
    private readonly policy: PasswordPolicy,
    private readonly sessions: SessionsApi,
    private readonly applications: ApplicationPasswords,
    private readonly limits: RateLimits,
    private readonly mails: SystemMail,
    private readonly log: SecurityLog,
    private readonly config: Config,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.mails.register(this.template);
  }

  /** False with an external issuer, which manages the passwords, and when the service cannot send mails. */
  get enabled(): boolean {
    return this.config.signInIssuer !== null && this.mails.isConfigured;
  }

  /**
   * Queues a mail with a link. After five requests in an hour for an address, no more mails are sent.
   * @param email at most 320 characters
   * @returns seconds to wait when the network sends too many requests, else 0
   */
  async request(email: string, language: Language, { ip }: RecoveryOrigin): Promise<number> {
    const limit = { scope: 'password-recovery', requests: this.config.SIGN_IN_PER_MINUTE, perSeconds: 60 };
    const wait = await this.limits.take({ limit, subject: networkOf(ip) });
    if (wait > 0) return wait;
    if ((await this.limits.take({ limit: ADDRESS_LIMIT, subject: emailKey(email) })) > 0) return 0;
    await this.db.tx((tx) =>
      this.mails.queue(tx, {
        tenantId: NO_TENANT,
        template: this.template,
        to: email,
        language,
        values: {},
        key: `password ${uuidv7()}`,
        lifetimeSeconds: LINK_SECONDS,
      }),
    );
    return 0;
  }

  /** The account of a link; null for an unknown, used or expired one. */
  async find(token: string): Promise<CredentialsRow | null> {
    const row = await this.tokens.find('password', token);
    const account = row && (await this.credentials.byId(row.account_id));
    return account?.status === 'active' ? account : null;
  }

  /**
   * Sets a password, and ends all sessions and application passwords: owners reset the password when an intruder has access to
   * the account. The second factor stays.
   * @returns false when the link is invalid @throws ApiError 422 `weak_password`, 503 `overloaded`
   */
  async reset(token: string, password: string, origin: RecoveryOrigin): Promise<boolean> {
    const account = await this.find(token);
    if (!account) return false;
    await this.policy.check(password, account);
    const hash = await this.passwords.hash(password);
    const isDone = await this.db.tx(async (tx) => {
      if (!(await this.tokens.take(tx, 'password', token))) return false;
      if (!(await this.credentials.setPassword(tx, account.id, account.password_hash, hash))) return false;
      await this.tokens.endAccessLinks(tx, account.id);
      const ended = await this.sessions.endOthers(tx, account.id, null);
      const applications = await this.applications.endAll(tx, account.id, null);
      const actor = { tenantId: null, userId: account.id, ...origin, requestId: origin.requestId ?? '' };
      const counts = { sessions_ended: ended, applications_ended: applications };
      await this.log.record(tx, actor, 'security.password_changed', { ...counts, by: 'mail' });
      return true;
    });
    if (isDone) await this.sessions.refreshNow();
    return isDone;
  }

  /**
   * Sets the first password of an account whose owner proved the mailbox by the link of an invitation.
   * @param hash from `Passwords.hash` @returns false when the account has a password meanwhile
   */
  async setFirst(accountId: string, hash: string, origin: RecoveryOrigin): Promise<boolean> {
    return this.db.tx(async (tx) => {
      if (!(await this.credentials.setPassword(tx, accountId, null, hash))) return false;
      await this.tokens.endAccessLinks(tx, accountId);
      const actor = { tenantId: null, userId: accountId, ...origin, requestId: origin.requestId ?? '' };
      await this.log.record(tx, actor, 'security.password_changed', { by: 'invitation' });
      return true;
    });
  }

  /** The token is created when the mail is composed, so that no earlier step depends on the account. */
  private async compose({ recipient, language }: MailRequest<object>): Promise<MailContent | null> {
    const account = await this.credentials.byEmail(recipient);
    // Different addresses can have the same key. Only the exact address of the account gets the mail.
    if (account?.status !== 'active' || !this.enabled || !sameMailbox(account.email, recipient)) return null;
    const token = await this.db.single((tx) =>
      this.tokens.create(tx, account.id, 'password', { seconds: LINK_SECONDS }),
    );
    return this.content(language, account.email, token);
  }

  private content(language: Language, email: string, token: string): MailContent {
    const text = translator(ACCOUNT_MAIL_TEXTS, language);
    return {
      subject: text('password_subject'),
      paragraphs: [text('password_text', { email })],
      action: {
        label: text('password_action'),
        url: `${this.config.publicUrl}/${API_PREFIX}/account/password/${token}`,
      },
      closing: [text('password_closing')],
    };
  }
}
