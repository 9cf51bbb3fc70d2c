import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigrations } from '../../platform/database/schema/sql-migration.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import { TenantInvitation } from './invitations/invitation.entity.js';
import { SecondFactorReset } from './members/second-factor-reset.entity.js';
import { RbacGrant, RbacGroup, RbacMember, TenantRbac } from './access.entity.js';

export const accessSchema: SchemaPart = {
  owner: 'access',
  publishes: ['group_memberships', 'group_names', 'member_has_permission'],
  entities: {
    workspace: [TenantRbac, RbacGroup, RbacMember, RbacGrant, TenantInvitation, SecondFactorReset],
  },
  migrations: sqlMigrations(import.meta.url, {
    Access1795700000002: '0001-access',
    TransferPermission1796000000002: '0002-transfer-permission',
    Invitations1797100000001: '0003-invitations',
    ResentInvitations1798800000011: '0004-resent-invitations',
  }),
  sql: sqlFiles('workspace', import.meta.url, 'groups'),
};
