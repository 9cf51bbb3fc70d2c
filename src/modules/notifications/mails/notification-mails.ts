import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../../config/config.js';
import type { MemberKey, RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { ItemFailures } from '../../../platform/jobs/sweep.js';
import { fill, type Language, translator } from '../../../platform/languages/languages.js';
import type {
  NotificationPreference,
  NotificationType,
} from '../../../platform/notifications/notification-type.js';
import { Notifications } from '../../../platform/notifications/notifications.js';
import type { MailContent, MailRequest, MailTemplate } from '../../../platform/system-mail/mail-template.js';
import { SystemMail } from '../../../platform/system-mail/system-mail.js';
import { PresenceApi } from '../../presence/index.js';
import { type NotificationSettings, NotificationSettingsApi } from '../../settings/index.js';
import { NotificationSockets } from '../notification-sockets.js';
import { NOTIFICATION_TEXTS } from '../notification-texts.js';
import { NotificationPresenter } from '../notification.presenter.js';
import type { NotificationResponse } from '../notifications.dto.js';
import { type NotificationRow, NotificationsRepository } from '../notifications.repository.js';
import type { NotificationState, NotificationEntity } from '../notifications.schema.js';
import { afterQuiet, DELAY_SECONDS } from './email-time.js';
import { UnsubscribeLinks } from './unsubscribe.controller.js';

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
    const [settings] = await this.settings.readSettings(this.db, tenantId, [member.userId]);
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
    if (!ownMail) return this.content(ctx, shown, language, settings.timeZone);
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
    const zone = 'Europe/Berlin';
    const line = (type: string, title: string, preference: NotificationPreference) =>
      ({ type, title, preference, url_path: '/tasks' }) as NotificationResponse;
    const one = line('task.assigned', 'Ann Example: “Book the venue”', 'task.*');
    const lines = [one, line('note.shared', 'Ann Example: “Spring offsite”', 'note.shared')];
    return {
      one: this.content(ctx, [one], language, zone),
      many: this.content(ctx, lines, language, zone),
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
    timeZone: string,
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
      items: shown.map(({ type, title, data, url_path }) => {
        const detail = this.notifications.find(type)?.detail?.({ data, language, timeZone });
        return { title, ...(detail && { detail }), ...(url_path && { url: this.link(url_path) }) };
      }),
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

/** Whether a user works with the workspace now, and sees notifications without an e-mail. */
@Injectable()
export class UserActivity {
  constructor(private readonly presence: PresenceApi) {}

  /** Reads the presence: an invisible user counts as absent. */
  async isActive(member: MemberKey): Promise<boolean> {
    const status = (await this.presence.readPresence(member, [member.userId])).get(member.userId)?.status;
    return status === 'online' || status === 'dnd';
  }
}

const USERS = 200;
/** Notifications in one e-mail. */
const ITEMS = 50;
/** Pause after a failure, seconds. */
const RETRY_SECONDS = 600;

interface DueRow {
  id: string;
  type: string;
  state: NotificationState;
}

const dueUsers = workspace.statement<Pick<NotificationEntity, 'tenant_id' | 'user_id'>>(
  'notifications.due_users',
  `SELECT DISTINCT tenant_id, user_id FROM (
     SELECT tenant_id, user_id FROM notifications WHERE email_due_at <= now() ORDER BY email_due_at LIMIT ${USERS}) AS due`,
  { reach: 'cell' },
);

const lockDue = workspace.statement<DueRow>(
  'notifications.lock_due',
  `SELECT id, type, state FROM notifications
    WHERE tenant_id = $1 AND user_id = $2 AND email_due_at <= now() ORDER BY seq LIMIT ${ITEMS} FOR UPDATE`,
);

// A mailed notification that is not shown leaves its group, so that the next cause is mailed too: nothing would mark it as read.
// With `data.seq` it stays, since `settle` marks it.
const schedule = workspace.statement<never>(
  'notifications.schedule',
  `UPDATE notifications SET email_due_at = $4, emailed_at = CASE WHEN $5 THEN now() ELSE emailed_at END,
          group_key = CASE WHEN $5 AND NOT shown AND NOT data ? 'seq' THEN NULL ELSE group_key END
    WHERE tenant_id = $1 AND user_id = $2 AND id = ANY ($3::uuid[])`,
);

const postpone = workspace.statement<never>(
  'notifications.postpone_emails',
  `UPDATE notifications SET email_due_at = now() + make_interval(secs => $3)
    WHERE tenant_id = $1 AND user_id = $2 AND email_due_at <= now()`,
);

/**
 * Queues e-mails for notifications that stay unread. An e-mail and the mark on its notifications commit together, so any number of
 * processes sends it once.
 */
@Injectable()
export class NotificationMails implements OnModuleInit {
  private readonly logger = new Logger('Notifications');

  constructor(
    private readonly jobs: PeriodicJobs,
    private readonly notifications: Notifications,
    private readonly settings: NotificationSettingsApi,
    private readonly activity: UserActivity,
    private readonly mail: SystemMail,
    private readonly template: NotificationMail,
    private readonly sockets: NotificationSockets,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'mail-notifications', everySeconds: 15, run: () => this.run() });
  }

  /**
   * Handles all notifications whose e-mail is due. A user whose e-mails fail does not hold up those of others.
   * @throws Error after the last user, when the e-mails of one failed
   */
  async run(): Promise<void> {
    const failures = new ItemFailures(this.logger, 'the e-mails of a user');
    for (let users = USERS; users > 0;) {
      const due = await this.db.query(dueUsers, []);
      for (const { tenant_id: tenantId, user_id: userId } of due) {
        const member = { tenantId, userId };
        if (!(await failures.guard(member, () => this.handle(member))))
          await this.db.single((tx) => tx.query(postpone, [tenantId, userId, RETRY_SECONDS]));
      }
      users = due.length;
    }
    failures.report();
  }

  private async handle(member: MemberKey): Promise<void> {
    const isActive = await this.activity.isActive(member);
    const ctx = await this.template.contextOf(member);
    if (ctx) await this.sockets.examine(ctx);
    await this.db.tx(async (tx) => {
      const rows = await tx.query(lockDue, [member.tenantId, member.userId]);
      const [settings] = await this.settings.readSettings(tx, member.tenantId, [member.userId]);
      const wanted = settings ? rows.filter((row) => this.template.isWanted(row, settings)) : [];
      const required = wanted.filter(({ type }) => this.template.isRequired(type));
      const optional = wanted.filter(({ type }) => !this.template.isRequired(type));
      await this.move(
        tx,
        member,
        rows.filter((row) => !wanted.includes(row)),
        null,
      );
      if (!settings) return;
      const now = new Date();
      const time = mailTime(now, settings, isActive);
      const isDue = time !== null && time <= now;
      if (!isDue) await this.move(tx, member, optional, time);
      await this.send(tx, member, settings, isDue ? wanted : required);
    });
  }

  private async send(
    tx: Tx,
    member: MemberKey,
    settings: NotificationSettings,
    rows: readonly DueRow[],
  ): Promise<void> {
    const hasOwnMail = ({ type }: DueRow) => this.notifications.find(type)?.mail !== undefined;
    for (const row of rows) if (hasOwnMail(row)) await this.queue(tx, member, settings, [row.id]);
    const common = rows.filter((row) => !hasOwnMail(row)).map(({ id }) => id);
    await this.queue(tx, member, settings, common);
  }

  /** Queues one e-mail. */
  private async queue(
    tx: Tx,
    member: MemberKey,
    { email, language }: NotificationSettings,
    ids: string[],
  ): Promise<void> {
    const [first] = ids;
    if (first === undefined) return;
    await tx.query(schedule, [member.tenantId, member.userId, ids, null, true]);
    await this.mail.queue(tx, {
      tenantId: member.tenantId,
      template: this.template,
      to: email,
      language,
      values: { user_id: member.userId, ids },
      // A notification is in at most one e-mail, so its id identifies the e-mail.
      key: `notifications ${first}`,
    });
  }

  /** @param to null: no e-mail */
  private async move(tx: Tx, member: MemberKey, rows: readonly DueRow[], to: Date | null): Promise<void> {
    if (rows.length === 0) return;
    const ids = rows.map(({ id }) => id);
    await tx.query(schedule, [member.tenantId, member.userId, ids, to, false]);
  }
}

/** @returns the time of the e-mails that are due; null: never */
function mailTime(now: Date, settings: NotificationSettings, isActive: boolean): Date | null {
  const quietEnd = afterQuiet(now, settings);
  if (quietEnd === null || quietEnd > now) return quietEnd;
  return isActive ? new Date(now.getTime() + DELAY_SECONDS * 1_000) : now;
}
