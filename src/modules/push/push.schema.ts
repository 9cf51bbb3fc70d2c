import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { PushDelivery, PushKey, PushSubscription } from './push.entity.js';

export const pushSchema: SchemaPart = {
  owner: 'push',
  entities: { directory: [PushKey], workspace: [PushSubscription, PushDelivery] },
  migrations: sqlMigrations(import.meta.url, { Push1798811000002: '0001-push' }),
  sql: [],
};
