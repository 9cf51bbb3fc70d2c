import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { PersonalErasure } from './erasure/personal-erasure.entity.js';
import { PersonalExport } from './personal-export.entity.js';

export const personalDataSchema: SchemaPart = {
  owner: 'personal-data',
  entities: { workspace: [PersonalExport, PersonalErasure] },
  migrations: sqlMigrations(import.meta.url, {
    PersonalExports1797911230241: '0001-personal-exports',
    PersonalErasures1798112308253: '0002-personal-erasures',
  }),
};
