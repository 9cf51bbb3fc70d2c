import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import { eraseUserRows, personalRows } from '../../platform/personal-data/personal-rows.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';

const owned = workspace.statement<never>(
  'notifications.personal_owned',
  personalRows(`SELECT notification.id, notification.type, notification.subject_kind, notification.subject_id, notification.count,
            notification.state, notification.seen_at, notification.read_at, notification.snooze_until,
            CASE WHEN notification.data->'anonymous' = 'true' THEN date_trunc('minute', notification.created_at)
                 ELSE notification.created_at END AS created_at
       FROM notifications notification
      WHERE notification.tenant_id = $1 AND notification.user_id = $2 ORDER BY notification.id`),
);

const erase = eraseUserRows('notifications', 'notifications', 'notification_causes', 'notification_heads');

/** The notifications of a user. */
@Injectable()
export class NotificationsPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'notifications',
      rows: { 'notifications.json': owned },
      erasure: { rows: erase },
    });
  }
}
