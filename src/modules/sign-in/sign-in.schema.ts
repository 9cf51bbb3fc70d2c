import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { OidcClient, OidcRecord } from './sign-in.entities.js';

export const signInSchema: SchemaPart = {
  owner: 'sign-in',
  entities: { directory: [OidcRecord, OidcClient] },
  migrations: sqlMigrations(import.meta.url, {
    SignIn1795600000001: '0001-sign-in',
    TenantClients1797100000003: '0010-tenant-clients',
    ConsumedBy1797300000002: '0002-consumed-by',
  }),
  sql: [],
};
