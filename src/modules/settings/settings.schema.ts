import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import { Preferences, UserProfile } from './settings.entity.js';
import { Signature } from './signatures/signature.entity.js';

export const settingsSchema: SchemaPart = {
  owner: 'settings',
  publishes: ['member_locales', 'user_profiles'],
  entities: { workspace: [UserProfile, Signature, Preferences] },
  migrations: sqlMigrations(import.meta.url, {
    Settings1795700000003: '0001-settings',
  }),
  sql: sqlFiles('workspace', import.meta.url, 'member-locales'),
};
