import { Injectable, type OnModuleInit } from '@nestjs/common';
import { API_PREFIX, Config } from '../../../config/config.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import type { Tx } from '../../../platform/database/tx.js';
import { type Language, translator } from '../../../platform/languages/languages.js';
import { readToken } from '../../../platform/secrets/workspace-token.js';
import type { MailContent, MailRequest, MailTemplate } from '../../../platform/system-mail/mail-template.js';
import { SystemMail } from '../../../platform/system-mail/system-mail.js';
import { AccessErrors } from '../access.errors.js';
import { TenantInvitation } from './invitation.entity.js';
import { INVITATION_MAIL_TEXTS } from './invitation-mail-texts.js';

interface InvitationMailValues {
  id: string;
  workspace: string;
  /** Null: the recipient requested the link. */
  inviter: { name: string; email: string } | null;
  message: string;
  token: string;
  /** RFC 3339. */
  expiresAt: string;
}

const EXAMPLE: Omit<InvitationMailValues, 'id'> = {
  workspace: 'Demo Workspace',
  inviter: { name: 'Ann Example', email: 'ann@example.com' },
  message: 'Welcome to the team.',
  token: 'token',
  expiresAt: '2026-12-06T12:00:00.000Z',
};

const keyOf = ({ id, sent }: Pick<TenantInvitation, 'id' | 'sent'>): string => `invitation ${id} ${sent}`;

/** Mails with the link of an invitation. */
@Injectable()
export class InvitationMails implements OnModuleInit {
  private readonly template: MailTemplate<InvitationMailValues> = {
    name: 'access.invitation',
    compose: (request) => this.compose(request),
    previews: (language) => ({ invitation: this.content(language, EXAMPLE) }),
  };

  constructor(
    private readonly mails: SystemMail,
    private readonly db: Db,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.mails.register(this.template);
  }

  /** @throws ApiError 503 `mail_not_configured` */
  async send(
    tx: Tx,
    invitation: TenantInvitation,
    values: Omit<InvitationMailValues, 'id' | 'message' | 'expiresAt'>,
  ) {
    const { tenant_id: tenantId, id, email: to, language, message, expires_at } = invitation;
    const outcome = await this.mails.queue(tx, {
      tenantId,
      template: this.template,
      to,
      language,
      key: keyOf(invitation),
      values: { ...values, id, message, expiresAt: expires_at.toISOString() },
      lifetimeSeconds: Math.ceil((expires_at.getTime() - Date.now()) / 1000),
    });
    if (outcome === 'not_configured') throw AccessErrors.mailNotConfigured.with();
  }

  stateOf(invitation: TenantInvitation) {
    return this.mails.stateOf(invitation.tenant_id, keyOf(invitation));
  }

  /** The mail of a link by a verified domain, which is composed without being queued first. */
  contentFor(invitation: TenantInvitation, workspace: string, token: string): MailContent {
    const values = { workspace, inviter: null, message: '', token };
    return this.content(invitation.language, { ...values, expiresAt: invitation.expires_at.toISOString() });
  }

  previewForDomain(language: Language): MailContent {
    return this.content(language, { ...EXAMPLE, inviter: null, message: '' });
  }

  private async compose({
    tenantId,
    language,
    values,
  }: MailRequest<InvitationMailValues>): Promise<MailContent | null> {
    const { hash: tokenHash } = readToken(values.token);
    // Not found after the end of the invitation, nor after another link has replaced this one.
    const current = { tenant_id: tenantId, id: values.id, token_hash: tokenHash, state: 'pending' } as const;
    const invitation = await rowsOf(this.db, TenantInvitation).one(current);
    return invitation && this.content(language, values);
  }

  private content(language: Language, values: Omit<InvitationMailValues, 'id'>): MailContent {
    const { workspace, inviter, message, token, expiresAt } = values;
    const text = translator(INVITATION_MAIL_TEXTS, language);
    const date = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(
      new Date(expiresAt),
    );
    const names = { workspace, inviter: inviter?.name ?? '' };
    return {
      subject: text(inviter ? 'subject' : 'join_subject', names),
      paragraphs: [
        inviter ? text('text', { ...names, email: inviter.email }) : text('join_text', names),
        ...(message === '' ? [] : [message]),
      ],
      action: {
        label: text('action'),
        url: `${this.config.publicUrl}/${API_PREFIX}/account/invitations/${token}`,
      },
      closing: [text('closing', { date })],
      ...(inviter && { senderName: inviter.name, replyTo: { name: inviter.name, address: inviter.email } }),
    };
  }
}
