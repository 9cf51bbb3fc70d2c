import type { SchemaPart } from '../../platform/database/schema/schema-part.js';
import { sqlMigration } from '../../platform/database/schema/sql-migration.js';
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
  migrations: [
    sqlMigration('Access1795700000002', new URL('migrations/0001-access.sql', import.meta.url)),
    sqlMigration(
      'TransferPermission1796000000002',
      new URL('migrations/0002-transfer-permission.sql', import.meta.url),
    ),
    sqlMigration('Invitations1797100000001', new URL('migrations/0003-invitations.sql', import.meta.url)),
    sqlMigration(
      'ResentInvitations1798800000011',
      new URL('migrations/0004-resent-invitations.sql', import.meta.url),
    ),
  ],
  sql: sqlFiles('workspace', new URL('sql/', import.meta.url), 'groups'),
};
