import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import { TenantPolicy } from './tenant-policy.entity.js';
import { Tenant, TenantDomain, TenantLogo, TenantMember } from './tenant.entity.js';

export const tenantsSchema: SchemaPart = {
  owner: 'tenants',
  publishes: ['member_profiles', 'inactive_members', 'tenant_names'],
  entities: { directory: [Tenant, TenantDomain, TenantLogo, TenantPolicy], workspace: [TenantMember] },
  migrations: sqlMigrations(import.meta.url, {
    Tenants1795000000002: '0001-tenants',
    TenantDirectory1795700000004: '0101-directory',
    TenantLogos1795700000005: '0102-tenant-logos',
    TenantPolicies1797100000000: '0103-policies-and-domains',
    ServicesAndLogos1797300000004: '0201-services-and-logos',
    MemberErasure1798112308251: '0301-erasure',
    SeparateEnds1798800000012: '0302-separate-ends',
    MemberChanges1798800000074: '0303-member-changes',
  }),
  sql: [
    ...sqlFiles('workspace', import.meta.url, 'member-profiles'),
    ...sqlFiles('directory', import.meta.url, 'tenant-names'),
  ],
};
