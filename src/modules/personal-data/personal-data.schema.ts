import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
import { PersonalErasure } from './erasure/personal-erasure.entity.js';
import { PersonalExport } from './personal-export.entity.js';

export const personalDataSchema: SchemaPart = {
  owner: 'personal-data',
  entities: { workspace: [PersonalExport, PersonalErasure] },
  migrations: [
    sqlMigration(
      'PersonalExports1797911230241',
      new URL('migrations/0001-personal-exports.sql', import.meta.url),
    ),
    sqlMigration(
      'PersonalErasures1798112308253',
      new URL('migrations/0002-personal-erasures.sql', import.meta.url),
    ),
  ],
};
