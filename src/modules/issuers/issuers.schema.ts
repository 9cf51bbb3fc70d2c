import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { TenantIssuer, TenantIssuerLink } from './issuer.entity.js';

export const issuersSchema: SchemaPart = {
  owner: 'issuers',
  entities: { directory: [TenantIssuer, TenantIssuerLink] },
  migrations: sqlMigrations(import.meta.url, { Issuers1798100000002: '0001-issuers' }),
};
