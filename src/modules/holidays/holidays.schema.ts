import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { MemberSubscriptions, TenantSubscriptions } from './holidays.entity.js';

export const holidaysSchema: SchemaPart = {
  owner: 'holidays',
  entities: { workspace: [MemberSubscriptions, TenantSubscriptions] },
  migrations: sqlMigrations(import.meta.url, {
    Holidays1796250000001: '0001-holidays',
  }),
  sql: [],
};
