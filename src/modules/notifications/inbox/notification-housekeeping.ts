import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { MemberKey } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { deletion, type Sweep, sweep } from '../../../platform/jobs/sweep.js';
import { Announcements } from './announcements.js';
import { NotificationSockets } from '../notification-sockets.js';
import type { NotificationEntity } from '../notifications.schema.js';

const BATCH = 500;
const KEPT_DAYS = 180;
const DISMISSED_DAYS = 30;
/** Time after {@link DISMISSED_DAYS} in which dismissed notifications are looked for. */
const LATE_DAYS = 7;
const CAUSE_DAYS = 30;

type WokenNotification = Pick<NotificationEntity, 'tenant_id' | 'user_id' | 'id' | 'type'>;

const DUE = `state = 'snoozed' AND snooze_until <= now()`;

/** Each row gets a new number, so that it is at the top of the list. @param due SQL: a condition, and what a lock that is held means */
const wakeSql = (due: string, held: 'SKIP LOCKED' | '' = ''): string =>
  `WITH due AS MATERIALIZED (
     SELECT tenant_id, user_id, id FROM notifications WHERE ${due}
      ORDER BY tenant_id, user_id, id LIMIT ${BATCH} FOR UPDATE ${held}),
   numbered AS (
     SELECT due.*, row_number() OVER own AS n, count(*) OVER (PARTITION BY due.tenant_id, due.user_id) AS total
       FROM due WINDOW own AS (PARTITION BY due.tenant_id, due.user_id ORDER BY due.id)),
   heads AS (
     INSERT INTO notification_heads AS head (tenant_id, user_id, seq)
     SELECT DISTINCT tenant_id, user_id, total FROM numbered ORDER BY tenant_id, user_id
     ON CONFLICT (tenant_id, user_id) DO UPDATE SET seq = head.seq + excluded.seq
     RETURNING head.tenant_id, head.user_id, head.seq)
   UPDATE notifications notification
      SET state = 'unread', snooze_until = NULL, read_at = NULL, seen_at = NULL, updated_at = now(),
          seq = heads.seq - numbered.total + numbered.n
     FROM numbered JOIN heads ON heads.tenant_id = numbered.tenant_id AND heads.user_id = numbered.user_id
    WHERE notification.tenant_id = numbered.tenant_id AND notification.user_id = numbered.user_id
      AND notification.id = numbered.id
   RETURNING notification.tenant_id, notification.user_id, notification.id, notification.type`;

// Each row is updated by one process only.
const wake = workspace.statement<WokenNotification>('notifications.wake', wakeSql(DUE, 'SKIP LOCKED'), {
  reach: 'cell',
});

const wakeOwn = workspace.statement<WokenNotification>(
  'notifications.wake_own',
  wakeSql(`tenant_id = $1 AND user_id = $2 AND ${DUE}`),
);

// Index notifications_snoozed: few rows are due, because the job wakes them soon.
const isDue = workspace.statement<{ is_due: boolean }>(
  'notifications.is_wake_due',
  `SELECT EXISTS (SELECT FROM notifications WHERE tenant_id = $1 AND user_id = $2 AND ${DUE}) AS is_due`,
);

// Index notifications_age, as for dismissed ones.
const forgetOld: Sweep = workspace.statement(
  'notifications.forget_old',
  deletion('notifications', `updated_at < now() - interval '${KEPT_DAYS} days' AND state <> 'snoozed'`),
  { reach: 'cell' },
);

// Only those of some days, because all older notifications would be read each time. After a longer pause of the job, `forgetOld`
// deletes the rest.
const forgetDismissed: Sweep = workspace.statement(
  'notifications.forget_dismissed',
  deletion(
    'notifications',
    `state = 'dismissed' AND updated_at > now() - interval '${DISMISSED_DAYS + LATE_DAYS} days'
       AND updated_at < now() - interval '${DISMISSED_DAYS} days'`,
  ),
  { reach: 'cell' },
);

const forgetCauses: Sweep = workspace.statement(
  'notifications.forget_causes',
  deletion('notification_causes', `created_at < now() - interval '${CAUSE_DAYS} days'`),
  { reach: 'cell' },
);

/** Returns snoozed notifications and deletes old ones. */
@Injectable()
export class NotificationHousekeeping implements OnModuleInit {
  constructor(
    private readonly jobs: PeriodicJobs,
    private readonly sockets: NotificationSockets,
    private readonly announcements: Announcements,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'wake-notifications', everySeconds: 15, run: () => this.wake() });
    this.jobs.register({ name: 'expire-notifications', everySeconds: 3_600, run: () => this.expire() });
  }

  /** Marks snoozed notifications as unread when their snooze has ended. */
  async wake(): Promise<void> {
    await this.wakeBy((tx) => tx.query(wake, []));
  }

  /** The same for those of one user, so that what the user reads is not late. */
  async wakeOwn({ tenantId, userId }: MemberKey): Promise<void> {
    const [found] = await this.db.query(isDue, [tenantId, userId]);
    if (found?.is_due) await this.wakeBy((tx) => tx.query(wakeOwn, [tenantId, userId]));
  }

  private async wakeBy(change: (tx: Tx) => Promise<WokenNotification[]>): Promise<void> {
    for (let count = BATCH; count === BATCH;) {
      count = await this.db.tx(async (tx) => {
        const woken = await change(tx);
        this.sockets.reportChanges(tx, woken);
        await this.announcements.announceWoken(tx, woken);
        return woken.length;
      });
    }
  }

  /** Deletes notifications after 180 days without a change, dismissed ones after 30. */
  async expire(): Promise<void> {
    for (const statement of [forgetOld, forgetDismissed, forgetCauses])
      await sweep(this.db, statement, BATCH * 10);
  }
}
