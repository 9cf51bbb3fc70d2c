import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import { TenantPolicy } from './tenant-policy.entity.js';
import { Tenant, TenantDomain, TenantLogo, TenantMember } from './tenant.entity.js';

const SQL = new URL('sql/', import.meta.url);

export const tenantsSchema: SchemaPart = {
  owner: 'tenants',
  publishes: ['member_profiles', 'inactive_members', 'tenant_names'],
  entities: { directory: [Tenant, TenantDomain, TenantLogo, TenantPolicy], workspace: [TenantMember] },
  migrations: [
    sqlMigration('Tenants1795000000002', new URL('migrations/0001-tenants.sql', import.meta.url)),
    sqlMigration('TenantDirectory1795700000004', new URL('migrations/0101-directory.sql', import.meta.url)),
    sqlMigration('TenantLogos1795700000005', new URL('migrations/0102-tenant-logos.sql', import.meta.url)),
    sqlMigration(
      'TenantPolicies1797100000000',
      new URL('migrations/0103-policies-and-domains.sql', import.meta.url),
    ),
    sqlMigration(
      'ServicesAndLogos1797300000004',
      new URL('migrations/0201-services-and-logos.sql', import.meta.url),
    ),
    sqlMigration('MemberErasure1798112308251', new URL('migrations/0301-erasure.sql', import.meta.url)),
    sqlMigration('SeparateEnds1798800000012', new URL('migrations/0302-separate-ends.sql', import.meta.url)),
  ],
  sql: [...sqlFiles('workspace', SQL, 'member-profiles'), ...sqlFiles('directory', SQL, 'tenant-names')],
};
