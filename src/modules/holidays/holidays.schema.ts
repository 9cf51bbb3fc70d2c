import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
import { MemberSubscriptions, TenantSubscriptions } from './holidays.entity.js';

export const holidaysSchema: SchemaPart = {
  owner: 'holidays',
  entities: { workspace: [MemberSubscriptions, TenantSubscriptions] },
  migrations: [
    sqlMigration('Holidays1796250000001', new URL('migrations/0001-holidays.sql', import.meta.url)),
  ],
  sql: [],
};
