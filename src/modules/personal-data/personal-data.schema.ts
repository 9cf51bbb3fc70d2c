import type { SchemaPart } from '../../platform/database/schema-part.js';
import { sqlMigration } from '../../platform/database/sql-migration.js';
import { PersonalExport } from './personal-export.entity.js';

export const personalDataSchema: SchemaPart = {
  owner: 'personal-data',
  entities: { workspace: [PersonalExport] },
  migrations: [
    sqlMigration(
      'PersonalExports1797911230241',
      new URL('migrations/0001-personal-exports.sql', import.meta.url),
    ),
  ],
};
