import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
import { OidcClient, OidcRecord } from './sign-in.entities.js';

export const signInSchema: SchemaPart = {
  owner: 'sign-in',
  entities: { directory: [OidcRecord, OidcClient] },
  migrations: [
    sqlMigration('SignIn1795600000001', new URL('migrations/0001-sign-in.sql', import.meta.url)),
    sqlMigration(
      'TenantClients1797100000003',
      new URL('migrations/0010-tenant-clients.sql', import.meta.url),
    ),
    sqlMigration('ConsumedBy1797300000002', new URL('migrations/0002-consumed-by.sql', import.meta.url)),
  ],
  sql: [],
};
