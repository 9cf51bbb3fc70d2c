import { Injectable, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../../config/config.js';
import type { RequestContext, MemberKey } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { fill, type Language, translator } from '../../../platform/languages/languages.js';
import type { NotificationPreference } from '../../../platform/notifications/notification-preferences.js';
import type { NotificationType } from '../../../platform/notifications/notification-type.js';
import { Notifications } from '../../../platform/notifications/notifications.js';
import type { MailContent, MailRequest, MailTemplate } from '../../../platform/system-mail/mail-template.js';
import { SystemMail } from '../../../platform/system-mail/system-mail.js';
import { type NotificationSettings, NotificationSettingsApi } from '../../settings/index.js';
import type { NotificationResponse } from '../notification.response.js';
import { NotificationPresenter } from '../notification.presenter.js';
import { NotificationSockets } from '../notification-sockets.js';
import { NOTIFICATION_TEXTS } from '../notification-texts.js';
import { type NotificationRow, NotificationsRepository } from '../notifications.repository.js';
import { UnsubscribeLinks } from './unsubscribe-links.js';

export interface NotificationMailValues {
  user_id: string;
  /** Ids of notifications. */
  ids: string[];
}

const INBOX_PATH = '/notifications';

/**
 * The e-mail with notifications. It is composed when it is sent: it contains the notifications that are still unread, with the
 * titles that the recipient may read then.
 */
@Injectable()
export class NotificationMail implements MailTemplate<NotificationMailValues>, OnModuleInit {
  readonly name = 'notifications.unread';

  constructor(
    private readonly mail: SystemMail,
    private readonly notifications: Notifications,
    private readonly presenter: NotificationPresenter,
    private readonly rows: NotificationsRepository,
    private readonly sockets: NotificationSockets,
    private readonly settings: NotificationSettingsApi,
    private readonly links: UnsubscribeLinks,
    private readonly config: Config,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.mail.register(this);
  }

  async compose({
    tenantId,
    language,
    values,
  }: MailRequest<NotificationMailValues>): Promise<MailContent | null> {
    const member = { tenantId, userId: values.user_id };
    const ctx = await this.contextOf(member);
    if (ctx === null) return null;
    await this.sockets.examine(ctx);
    const [settings] = await this.settings.of(this.db, tenantId, [member.userId]);
    if (!settings) return null;
    const rows = (await this.rows.byIds(this.db, member, values.ids)).filter((row) =>
      this.isWanted(row, settings),
    );
    const shown = (await this.presenter.present(this.db, ctx, rows, language)).filter(
      ({ subject }) => subject === null || subject.title !== null,
    );
    if (shown.length === 0) return null;
    const [{ type, title, data, created_at }] = shown as [NotificationResponse];
    const ownMail = shown.length === 1 ? this.notifications.find(type)?.mail : undefined;
    if (!ownMail) return this.content(ctx, shown, language);
    const { webClientUrl: clientUrl } = this.config;
    const createdAt = new Date(created_at);
    return ownMail({
      text: title,
      data,
      createdAt,
      language,
      timeZone: settings.timeZone,
      clientUrl,
    });
  }

  /** The rights with which the notifications of a recipient are read. @returns null unless the user is an active member */
  async contextOf(member: MemberKey): Promise<RequestContext | null> {
    return this.rows.contextOf(member, this.name);
  }

  previews(language: Language): Record<string, MailContent> {
    const own = this.notifications.all.flatMap((type) => {
      const content = this.ownPreview(type, language);
      return content ? [[type.key, content] as const] : [];
    });
    const ctx = { tenantId: uuidv7(), userId: uuidv7() };
    const line = (type: string, title: string, preference: NotificationPreference) =>
      ({ type, title, preference, url_path: '/tasks' }) as NotificationResponse;
    const one = line('task.assigned', 'Ann Example: “Book the venue”', 'task.*');
    const lines = [one, line('note.shared', 'Ann Example: “Spring offsite”', 'note.shared')];
    return {
      one: this.content(ctx, [one], language),
      many: this.content(ctx, lines, language),
      ...Object.fromEntries(own),
    };
  }

  private ownPreview({ texts, mail, mailExample }: NotificationType, language: Language): MailContent | null {
    const createdAt = new Date('2026-11-21T09:30:00Z');
    const [timeZone, clientUrl] = ['Europe/Berlin', 'https://work.example'];
    const data = mailExample ?? {};
    const text = fill(language, texts[language], data);
    return mail?.({ text, data, createdAt, language, timeZone, clientUrl }) ?? null;
  }

  /** Whether the recipient still wants an e-mail of a notification: it is unread, and e-mails of its kind are switched on. */
  isWanted(
    { type, state }: Pick<NotificationRow, 'type' | 'state'>,
    settings: NotificationSettings,
  ): boolean {
    const found = this.notifications.find(type);
    if (!found) return false;
    return found.isRequired === true || (state === 'unread' && settings.uses('email', found.preference));
  }

  /** Whether e-mails of this type are sent regardless of the settings. */
  isRequired(type: string): boolean {
    return this.notifications.find(type)?.isRequired === true;
  }

  private content(
    { tenantId, userId }: MemberKey,
    shown: NotificationResponse[],
    language: Language,
  ): MailContent {
    const t = translator(NOTIFICATION_TEXTS, language);
    const [only] = shown.length === 1 ? shown : [];
    const optional = shown.filter(({ type }) => !this.isRequired(type));
    const kinds = new Set(optional.map(({ preference }) => preference as NotificationPreference));
    const [kind] = kinds.size === 1 ? kinds : [];
    const subject = only?.title ?? t('many', { count: shown.length });
    const scope = kind ?? 'all';
    return {
      subject,
      paragraphs: [],
      items: shown.map(({ title, url_path }) => ({ title, ...(url_path && { url: this.link(url_path) }) })),
      ...(only ? { title: t('many', { count: 1 }) } : {}),
      action: { label: t('open'), url: this.link(INBOX_PATH) },
      footer: [optional.length > 0 ? t('reason') : t('security_reason')],
      ...(optional.length > 0 && {
        unsubscribe: {
          label: t(kind ? 'stop_kind' : 'stop_all'),
          url: this.links.url({ tenantId, userId, scope }),
        },
      }),
    };
  }

  private link(path: string): string {
    return `${this.config.webClientUrl}${path}`;
  }
}
