import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { ItemFailures } from '../../../platform/jobs/item-failures.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { Notifications } from '../../../platform/notifications/notifications.js';
import { SystemMail } from '../../../platform/system-mail/system-mail.js';
import { type NotificationSettings, NotificationSettingsApi } from '../../settings/index.js';
import type { NotificationState } from '../notification.entity.js';
import { afterQuiet, DELAY_SECONDS } from './email-time.js';
import { NotificationSockets } from '../notification-sockets.js';
import { NotificationMail } from './notification-mail.js';
import { UserActivity } from './user-activity.js';

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

const dueUsers = workspace.statement<{ tenant_id: string; user_id: string }>(
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
      const [settings] = await this.settings.of(tx, member.tenantId, [member.userId]);
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
      const later = postponed(settings, isActive);
      if (later) await this.move(tx, member, optional, later);
      await this.send(tx, member, settings, later ? required : wanted);
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

/** @returns the time until which e-mails wait; null: they are sent now */
function postponed(settings: NotificationSettings, isActive: boolean): Date | null {
  const now = new Date();
  const quietEnd = afterQuiet(now, settings);
  if (quietEnd > now) return quietEnd;
  return isActive ? new Date(now.getTime() + DELAY_SECONDS * 1_000) : null;
}
