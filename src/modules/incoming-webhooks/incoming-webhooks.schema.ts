import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { IncomingWebhook } from './incoming-webhook.entity.js';

export const incomingWebhooksSchema: SchemaPart = {
  owner: 'incoming-webhooks',
  entities: { workspace: [IncomingWebhook] },
  migrations: sqlMigrations(import.meta.url, { IncomingWebhooks1798812000001: '0001-incoming-webhooks' }),
};
