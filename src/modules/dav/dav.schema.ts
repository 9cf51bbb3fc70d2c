import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { DavName, DavProperties } from './dav.entity.js';

export const davSchema: SchemaPart = {
  owner: 'dav',
  entities: { workspace: [DavName, DavProperties] },
  migrations: sqlMigrations(import.meta.url, {
    Dav1798809000001: '0001-dav',
    DavProperties1798814000001: '0002-dav-properties',
  }),
};
