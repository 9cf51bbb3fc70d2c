import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { DavName } from './dav.entity.js';

export const davSchema: SchemaPart = {
  owner: 'dav',
  entities: { workspace: [DavName] },
  migrations: sqlMigrations(import.meta.url, { Dav1798809000001: '0001-dav' }),
};
