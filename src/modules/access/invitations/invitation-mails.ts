import { Injectable, type OnModuleInit } from '@nestjs/common';
import { API_PREFIX, Config } from '../../../config/config.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import type { Tx } from '../../../platform/database/tx.js';
import { type Catalogues, type Language, translator } from '../../../platform/languages/languages.js';
import { readToken } from '../../../platform/secrets/secret-box.js';
import type { MailContent, MailRequest, MailTemplate } from '../../../platform/system-mail/mail-template.js';
import { SystemMail } from '../../../platform/system-mail/system-mail.js';
import { AccessErrors } from '../access.dto.js';
import { TenantInvitation } from '../access.schema.js';

const en = {
  subject: '{inviter} invites you to {workspace}',
  text: '{inviter} ({email}) invites you to join the workspace {workspace}.',
  join_subject: 'Join {workspace}',
  join_text: 'You requested a link to join the workspace {workspace}.',
  action: 'Join the workspace',
  closing: 'The link works once, until {date}. If you did not expect this mail, ignore it.',
};

/** Texts of the mails with the link of an invitation. */
export const INVITATION_MAIL_TEXTS: Catalogues<keyof typeof en> = {
  en,
  de: {
    subject: '{inviter} lädt Sie zu {workspace} ein',
    text: '{inviter} ({email}) lädt Sie in den Arbeitsbereich {workspace} ein.',
    join_subject: '{workspace} beitreten',
    join_text: 'Sie haben einen Link angefordert, um dem Arbeitsbereich {workspace} beizutreten.',
    action: 'Dem Arbeitsbereich beitreten',
    closing:
      'Der Link funktioniert einmal, bis zum {date}. Wenn Sie diese E-Mail nicht erwartet haben, ignorieren Sie sie.',
  },
  pt: {
    subject: '{inviter} convida você para {workspace}',
    text: '{inviter} ({email}) convida você para o espaço de trabalho {workspace}.',
    join_subject: 'Entrar em {workspace}',
    join_text: 'Você solicitou um link para entrar no espaço de trabalho {workspace}.',
    action: 'Entrar no espaço de trabalho',
    closing: 'O link funciona uma vez, até {date}. Se você não esperava este e-mail, ignore-o.',
  },
  vi: {
    subject: '{inviter} mời bạn tham gia {workspace}',
    text: '{inviter} ({email}) mời bạn tham gia không gian làm việc {workspace}.',
    join_subject: 'Tham gia {workspace}',
    join_text: 'Bạn đã yêu cầu liên kết để tham gia không gian làm việc {workspace}.',
    action: 'Tham gia không gian làm việc',
    closing: 'Liên kết chỉ dùng được một lần, đến {date}. Nếu bạn không chờ thư này, hãy bỏ qua.',
  },
};

interface InvitationMailValues {
  id: string;
  workspace: string;
  /** Null means that the recipient requested the link. */
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
