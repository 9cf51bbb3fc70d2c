import type { SchemaPart } from './database/data-source.js';
import { sqlMigration } from './database/sql-migration.js';
import { PLATFORM_ENTITIES } from './platform.entities.js';

export const platformSchema: SchemaPart = {
  entities: PLATFORM_ENTITIES,
  migrations: [
    sqlMigration('Platform1795000000001', new URL('migrations/0001-platform.sql', import.meta.url)),
    sqlMigration('Blobs1795200000001', new URL('migrations/0101-blobs.sql', import.meta.url)),
  ],
};
