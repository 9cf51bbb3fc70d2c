import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
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

// Each row is updated by one process only. It gets a new number, so that it is at the top of the list.
const wake = workspace.statement<Pick<NotificationEntity, 'tenant_id' | 'user_id' | 'id' | 'type'>>(
  'notifications.wake',
  `WITH due AS MATERIALIZED (
     SELECT tenant_id, user_id, id FROM notifications WHERE state = 'snoozed' AND snooze_until <= now()
      ORDER BY tenant_id, user_id, id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED),
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
   RETURNING notification.tenant_id, notification.user_id, notification.id, notification.type`,
  { reach: 'cell' },
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
    for (let count = BATCH; count === BATCH;) {
      count = await this.db.tx(async (tx) => {
        const woken = await tx.query(wake, []);
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
