import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
import { NotificationCauseRow, NotificationEntity, NotificationHead } from './notification.entity.js';

export const notificationsSchema: SchemaPart = {
  owner: 'notifications',
  entities: { workspace: [NotificationHead, NotificationEntity, NotificationCauseRow] },
  migrations: [
    sqlMigration('Notifications1796900000021', new URL('migrations/0001-notifications.sql', import.meta.url)),
    sqlMigration(
      'GuestApprovalSubjects1798600000031',
      new URL('migrations/0002-guest-approvals.sql', import.meta.url),
    ),
  ],
  sql: [],
};
