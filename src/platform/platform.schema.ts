import type { SchemaPart } from './database/data-source.js';
import { sqlMigration } from './database/sql-migration.js';
import { sqlFiles } from './database/stored-sql.js';
import { PLATFORM_ENTITIES } from './platform.entities.js';

export const platformSchema: SchemaPart = {
  entities: PLATFORM_ENTITIES,
  migrations: [
    sqlMigration('Platform1795000000001', new URL('migrations/0001-platform.sql', import.meta.url)),
    sqlMigration('RateLimits1795500000001', new URL('migrations/0004-rate-limits.sql', import.meta.url)),
    sqlMigration('Audit1795700000001', new URL('migrations/0005-audit.sql', import.meta.url)),
    sqlMigration('Blobs1795200000001', new URL('migrations/0003-blobs.sql', import.meta.url)),
  ],
  sql: sqlFiles(new URL('sql/', import.meta.url), 'values', 'blobs', 'rate-limits'),
};
