import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { NotificationCauseRow, NotificationEntity, NotificationHead } from './notification.entity.js';

export const notificationsSchema: SchemaPart = {
  owner: 'notifications',
  entities: { workspace: [NotificationHead, NotificationEntity, NotificationCauseRow] },
  migrations: sqlMigrations(import.meta.url, {
    Notifications1796900000021: '0001-notifications',
    GuestApprovalSubjects1798600000031: '0002-guest-approvals',
  }),
  sql: [],
};
