import type { SchemaPart } from '../../platform/database/data-source.js';
import { sqlMigration } from '../../platform/database/sql-migration.js';
import { Tenant, TenantDomain, TenantMember } from './tenant.entity.js';

export const tenantsSchema: SchemaPart = {
  entities: [Tenant, TenantDomain, TenantMember],
  migrations: [
    sqlMigration('Tenants1795000000002', new URL('migrations/0001-tenants.sql', import.meta.url)),
    sqlMigration('TenantDirectory1795700000004', new URL('migrations/0101-directory.sql', import.meta.url)),
  ],
};
