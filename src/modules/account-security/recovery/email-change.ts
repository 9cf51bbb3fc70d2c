import { Injectable, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { API_PREFIX, Config } from '../../../config/config.js';
import { Audit, type AuditActor, NO_TENANT } from '../../../platform/audit/audit.js';
import type { AccountContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { fieldError } from '../../../platform/http/errors.js';
import { type Language, translator } from '../../../platform/languages/languages.js';
import {
  catalogueMail,
  type MailContent,
  type MailRequest,
  type MailTemplate,
} from '../../../platform/system-mail/mail-template.js';
import { SystemMail } from '../../../platform/system-mail/system-mail.js';
import { CredentialsApi, type CredentialsRow, IdentityApi } from '../../identity/index.js';
import { TenantsApi } from '../../tenants/index.js';
import { SecurityErrors } from '../account-security.errors.js';
import { Confirmation } from '../confirmation.js';
import { OwnerCheck } from '../owner-check.js';
import { ACCOUNT_MAIL_TEXTS, type AccountMailText } from './account-mail-texts.js';
import { AccountTokens } from './account-tokens.js';
import { SecurityLog } from '../security-log.js';
import type { ChangeEmail, EmailState } from './email-change.dto.js';

const LINK_SECONDS = 86_400;
const EMAIL_CHANGED = 'account.email_changed';
const NO_PASSWORD =
  'The account has no password. Set one by the link for a forgotten password, then change the address.';

interface ConfirmMail {
  name: string;
  old: string;
  token: string;
}

interface ChangedMail {
  old: string;
  email: string;
}

/** Changes of the address of an account: confirmed by a link to the new address, with a notice to the old one. */
@Injectable()
export class EmailChange implements OnModuleInit {
  private readonly confirmation: MailTemplate<ConfirmMail> = {
    name: 'account.email_confirmation',
    compose: (request) => this.composeConfirmation(request),
    previews: (language) => ({ confirmation: this.content(language, 'ann@new.example', EXAMPLE) }),
  };

  constructor(
    private readonly tokens: AccountTokens,
    private readonly credentials: CredentialsApi,
    private readonly identity: IdentityApi,
    private readonly owner: OwnerCheck,
    private readonly confirm: Confirmation,
    private readonly tenants: TenantsApi,
    private readonly mails: SystemMail,
    private readonly outbox: Outbox,
    private readonly log: SecurityLog,
    private readonly audit: Audit,
    private readonly config: Config,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.mails.register(this.confirmation);
    this.mails.register(CHANGED_MAIL);
    // The memberships have copies of the address. The handler repeats until all of them have the current one.
    this.outbox.subscribe(EMAIL_CHANGED, 'memberships', ({ payload }) =>
      this.copyToMemberships(payload['user_id'] as string),
    );
  }

  async read(ctx: AccountContext): Promise<EmailState> {
    const account = await this.credentials.byId(ctx.userId);
    const pending = await this.tokens.findPending(ctx.userId, 'email');
    return {
      email: account?.email ?? '',
      pending: pending && { email: pending.email ?? '', expires_at: pending.expires_at.toISOString() },
    };
  }

  /**
   * Sends a link to the new address. The response is the same for an address of another account, which gets no mail.
   * @throws ApiError 403 `invalid_password`, `second_factor_required`; 409 `managed_externally`; 422 `invalid_code`
   */
  async request(ctx: AccountContext, input: ChangeEmail, language: Language): Promise<EmailState> {
    this.confirm.requireLocal();
    const account = (await this.credentials.byId(ctx.userId)) as CredentialsRow;
    // A sign-in alone is not enough proof: the new mailbox gives permanent access to the account.
    if (account.password_hash === null && account.second_factor_since === null)
      throw SecurityErrors.invalidPassword.with({ message: NO_PASSWORD });
    await this.owner.assert(ctx, input);
    const { email } = input;
    if (email === account.email) throw fieldError('email', 'unchanged', 'email is the current address');
    await this.db.tx(async (tx) => {
      await this.requireUnchangedPassword(tx, account);
      const lifetime = { seconds: LINK_SECONDS, email };
      const token = await this.tokens.create(tx, account.id, 'email', lifetime);
      const values = { name: account.display_name, old: account.email, token };
      await this.send(tx, this.confirmation, email, language, values);
      await this.log.recordOnly(tx, ctx, 'security.email_change_requested', { email });
    });
    return this.read(ctx);
  }

  /**
   * Locks the account. A new password has ended the earlier links, so the proof by the old one must not create another.
   * @throws ApiError 403 `invalid_password`
   */
  private async requireUnchangedPassword(
    tx: Tx,
    { id, password_changed_at: at }: CredentialsRow,
  ): Promise<void> {
    await this.identity.lockAccount(tx, id);
    const current = await this.credentials.byId(id, tx);
    if (current?.password_changed_at?.getTime() !== at?.getTime())
      throw SecurityErrors.invalidPassword.with();
  }

  /** Makes a pending link invalid. */
  async cancel(ctx: AccountContext): Promise<EmailState> {
    await this.db.tx(async (tx) => {
      if (await this.tokens.remove(tx, ctx.userId, 'email'))
        await this.log.recordOnly(tx, ctx, 'security.email_change_cancelled');
    });
    return this.read(ctx);
  }

  /** The new address of a link; null for an unknown, used or expired one. */
  async find(token: string): Promise<{ id: string; email: string; old: string } | null> {
    const row = await this.tokens.find('email', token);
    const account = row && (await this.credentials.byId(row.account_id));
    if (!row?.email || account?.status !== 'active') return null;
    return { id: account.id, email: row.email, old: account.email };
  }

  /** Uses the link. @returns false when it is invalid, or when another account has the address */
  async complete(
    token: string,
    language: Language,
    origin: { ip: string | null; requestId: string | null },
  ): Promise<boolean> {
    const found = await this.find(token);
    if (!found) return false;
    const { id, email, old } = found;
    return this.db.tx(async (tx) => {
      if (!(await this.tokens.take(tx, 'email', token))) return false;
      if (!(await this.write(tx, { id, old }, email, language))) return false;
      const actor = { tenantId: null, userId: id, ip: origin.ip, requestId: origin.requestId ?? '' };
      await this.log.record(tx, actor, 'security.email_changed', { old, email });
      return true;
    });
  }

  /**
   * Changes the address of a member for a provisioning client, which is responsible for the addresses of its domains.
   * @returns false when another account has the address
   */
  async apply(
    tx: Tx,
    account: { id: string; old: string },
    email: string,
    language: Language,
    actor: AuditActor,
  ): Promise<boolean> {
    if (!(await this.write(tx, account, email, language))) return false;
    const data = { old: account.old, email };
    const entry = { action: 'security.email_changed', objectKind: 'user', objectId: account.id, data };
    await this.audit.record(tx, actor, entry);
    return true;
  }

  /**
   * Writes the current address of an account to its memberships, and again if the address changes meanwhile: otherwise the earlier
   * address could replace the copies of the later one.
   */
  async copyToMemberships(accountId: string): Promise<void> {
    for (let copied: string | undefined; ;) {
      const account = await this.credentials.byId(accountId);
      if (!account || account.email === copied) return;
      copied = account.email;
      await this.tenants.setEmail(accountId, copied);
    }
  }

  /** Writes the address to the account; an event writes the copies in the memberships. @returns false when another account has it */
  private async write(
    tx: Tx,
    { id, old }: { id: string; old: string },
    email: string,
    language: Language,
  ): Promise<boolean> {
    if (!(await this.credentials.setEmail(tx, id, email))) return false;
    // A link to the old address must not open the account any more, and an earlier request must not replace this address.
    await this.tokens.endAccessLinks(tx, id);
    await this.send(tx, CHANGED_MAIL, old, language, { old, email });
    await this.outbox.append(tx, { tenantId: NO_TENANT, type: EMAIL_CHANGED, payload: { user_id: id } });
    return true;
  }

  private async send<Values extends object>(
    tx: Tx,
    template: MailTemplate<Values>,
    to: string,
    language: Language,
    values: Values,
  ): Promise<void> {
    const key = `${template.name} ${uuidv7()}`;
    await this.mails.queue(tx, { tenantId: NO_TENANT, template, to, language, values, key });
  }

  private async composeConfirmation({
    recipient,
    language,
    values: { name, old, token },
  }: MailRequest<ConfirmMail>): Promise<MailContent | null> {
    const pending = await this.tokens.find('email', token);
    const other = await this.credentials.byEmail(recipient);
    if (!pending || (other && other.id !== pending.account_id)) return null;
    return this.content(language, recipient, { name, old, token });
  }

  private content(language: Language, email: string, { name, old, token }: ConfirmMail): MailContent {
    const text = translator(ACCOUNT_MAIL_TEXTS, language);
    return {
      subject: text('email_subject'),
      paragraphs: [text('email_text', { name, old, email })],
      action: {
        label: text('email_action'),
        url: `${this.config.publicUrl}/${API_PREFIX}/account/email/${token}`,
      },
      closing: [text('email_closing')],
    };
  }
}

const EXAMPLE: ConfirmMail = { name: 'Ann Example', old: 'ann@example.com', token: 'token' };

const CHANGED_MAIL = catalogueMail<AccountMailText, ChangedMail>({
  name: 'account.email_changed',
  texts: ACCOUNT_MAIL_TEXTS,
  content(text, values) {
    return {
      subject: text('changed_subject'),
      paragraphs: [text('changed_text', { ...values })],
      closing: [text('changed_closing')],
    };
  },
  examples: { changed: { old: 'ann@example.com', email: 'ann@new.example' } },
});
