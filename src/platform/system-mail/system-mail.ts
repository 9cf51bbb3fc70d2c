import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Tx } from '../database/tx.js';
import { Outbox } from '../events/outbox.js';
import type { Language } from '../languages/languages.js';
import { SecretBox } from '../secrets/secret-box.js';
import type { MailTemplate } from './mail-template.js';
import { MailTransport } from './mail-transport.js';
import { SystemMailsRepository, type SystemMailState } from './system-mails.repository.js';

export const MAIL_QUEUED = 'system_mail.queued';
export const SEALED_VALUES = 'system mail';
const LIFETIME_SECONDS = 24 * 3_600;

export interface NewSystemMail<Values extends object> {
  tenantId: string;
  template: MailTemplate<Values>;
  /** The address. */
  to: string;
  language: Language;
  /** JSON; stored encrypted until the mail is sent. */
  values: Values;
  /** Identifies the mail in the workspace: the second mail with a key is not sent. */
  key: string;
  /** The mail is not sent later than this. */
  lifetimeSeconds?: number;
}

/**
 * Mails of the workspace itself. A mail is queued in the transaction of its cause and sent after the commit. The embedded mail
 * service delivers it exactly once. Through SMTP_URL it is sent again only if a process ends after the server has accepted the
 * mail and before this is recorded.
 */
@Injectable()
export class SystemMail {
  private readonly templates = new Map<string, MailTemplate<object>>();

  constructor(
    private readonly mails: SystemMailsRepository,
    private readonly transport: MailTransport,
    private readonly outbox: Outbox,
    private readonly box: SecretBox,
  ) {}

  /** Whether mails can be sent: the embedded mail service runs, or SMTP_URL is set. */
  get isConfigured(): boolean {
    return this.transport.isConfigured;
  }

  /** Whether mails reach addresses that are not mailboxes of the embedded mail service: SMTP_URL is set. */
  get reachesOutside(): boolean {
    return this.transport.reachesOutside;
  }

  register<Values extends object>(template: MailTemplate<Values>): void {
    if (this.templates.has(template.name)) throw new Error(`two mail templates are named ${template.name}`);
    this.templates.set(template.name, template);
  }

  templateOf(name: string): MailTemplate<object> | undefined {
    return this.templates.get(name);
  }

  get registered(): MailTemplate<object>[] {
    return [...this.templates.values()];
  }

  /**
   * Queues a mail. @param tx the transaction of its cause
   * @returns `not_configured`: nothing is queued; `duplicate`: a mail with this key was queued before
   */
  async queue<Values extends object>(
    tx: Tx,
    mail: NewSystemMail<Values>,
  ): Promise<'queued' | 'duplicate' | 'not_configured'> {
    const { tenantId, template, to, language, values, key, lifetimeSeconds = LIFETIME_SECONDS } = mail;
    if (!this.templates.has(template.name))
      throw new Error(`the mail template ${template.name} is not registered`);
    if (!this.isConfigured) return 'not_configured';
    const id = uuidv7();
    const sealed = this.box.seal(SEALED_VALUES, id, Buffer.from(JSON.stringify(values)));
    const row = {
      tenantId,
      id,
      key,
      template: template.name,
      recipient: to,
      language,
      sealed,
      lifetimeSeconds,
    };
    if (!(await this.mails.insert(tx, row))) return 'duplicate';
    await this.outbox.append(tx, { tenantId, type: MAIL_QUEUED, payload: { id } });
    return 'queued';
  }

  /** Withdraws those of the mails with these keys that are not sent yet. @param tx the transaction that makes them needless */
  async withdraw(tx: Tx, tenantId: string, keys: readonly string[]): Promise<void> {
    if (keys.length > 0) await this.mails.withdraw(tx, tenantId, keys);
  }

  /** @returns the state of a mail, null without one; `error` is the response of the mail server */
  stateOf(tenantId: string, key: string): Promise<{ state: SystemMailState; error: string | null } | null> {
    return this.mails.stateOf(tenantId, key);
  }
}
