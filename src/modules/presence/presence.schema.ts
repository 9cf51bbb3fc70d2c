import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import { PresenceDevice, PresenceUser } from './presence.entity.js';

export const presenceSchema: SchemaPart = {
  owner: 'presence',
  publishes: ['presence_views', 'presence_viewers'],
  entities: { workspace: [PresenceUser, PresenceDevice] },
  migrations: sqlMigrations(import.meta.url, {
    Presence1796950000003: '0001-presence',
    PresenceTextWhileOffline1798803000000: '0002-text-while-offline',
    PresenceSessions1798811000001: '0003-sessions-of-devices',
  }),
  sql: sqlFiles('workspace', import.meta.url, 'presence-views', 'release-0.1.0'),
};
