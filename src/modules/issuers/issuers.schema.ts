import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
import { TenantIssuer, TenantIssuerLink } from './issuer.entity.js';

export const issuersSchema: SchemaPart = {
  owner: 'issuers',
  entities: { directory: [TenantIssuer, TenantIssuerLink] },
  migrations: [sqlMigration('Issuers1798100000002', new URL('migrations/0001-issuers.sql', import.meta.url))],
};
