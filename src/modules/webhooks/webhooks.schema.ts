import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import { Webhook, WebhookDelivery, WebhookQueue } from './webhook.entity.js';

export const webhooksSchema: SchemaPart = {
  owner: 'webhooks',
  entities: { workspace: [Webhook, WebhookQueue, WebhookDelivery] },
  migrations: sqlMigrations(import.meta.url, {
    Webhooks1798808000001: '0001-webhooks',
    ReadyWebhookQueues1798814000052: '0002-ready-queues',
  }),
  sql: sqlFiles('workspace', import.meta.url, 'webhook-queues'),
};
