import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { TenantRole } from '../../platform/context/request-context.js';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';
import type { Language } from '../../platform/languages/languages.js';

@Entity('tenant_rbac')
export class TenantRbac {
  @PrimaryColumn('uuid') tenant_id!: string;
  @Column('bigint') version!: string;
}

@Entity('rbac_groups')
@Index('rbac_groups_tenant_id_key_key', ['tenant_id', 'key'], { unique: true })
@Index('rbac_groups_tenant_id_folded_key', ['tenant_id', 'folded'], { unique: true })
@Index('rbac_groups_list', ['tenant_id', 'rank', 'folded'])
export class RbacGroup {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') key!: string;
  @Column('text') name!: string;
  @Column('text') folded!: string;
  @Column('text') description!: string;
  @Column('boolean') system!: boolean;
  @Column('int') rank!: number;
  @Column('int') members_count!: number;
  @Column('int') rev!: number;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
}

@Entity('rbac_members')
@Index('rbac_members_user', ['tenant_id', 'user_id'])
@ForeignKey('RbacGroup', ['tenant_id', 'group_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
@ForeignKey('TenantMember', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'])
export class RbacMember {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') group_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('uuid', { nullable: true }) added_by!: string | null;
  @Column('timestamptz') created_at!: Date;
}

@Entity('rbac_grants')
@ForeignKey('RbacGroup', ['tenant_id', 'group_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export class RbacGrant {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') group_id!: string;
  @PrimaryColumn('text') permission!: string;
  @Column('uuid', { nullable: true }) granted_by!: string | null;
  @Column('timestamptz') created_at!: Date;
}

@Entity('tenant_invitations')
@Index('tenant_invitations_pending', ['tenant_id', 'email_key'], {
  unique: true,
  where: "state = 'pending'::text",
})
@Index('tenant_invitations_token', ['tenant_id', 'token_hash'], { where: 'token_hash IS NOT NULL' })
@Index('tenant_invitations_expiry', ['expires_at'], { where: "state = 'pending'::text" })
@Index('tenant_invitations_ended', ['ended_at'], { where: 'ended_at IS NOT NULL' })
export class TenantInvitation {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text') email!: string;
  @Column('text') email_key!: string;
  @Column('text') role!: TenantRole;
  @Column('uuid', { array: true }) group_ids!: string[];
  @Column('text') message!: string;
  @Column('text') language!: Language;
  @Column('text') state!: 'pending' | 'accepted' | 'revoked' | 'expired';
  @Column('bytea', { nullable: true }) token_hash!: Buffer | null;
  @Column('uuid', { nullable: true }) invited_by!: string | null;
  @Column('uuid', { nullable: true }) accepted_by!: string | null;
  @Column('int') sent!: number;
  @Column('timestamptz') created_at!: Date;
  /** When the current link replaced an earlier one. */
  @Column('timestamptz', { nullable: true }) resent_at!: Date | null;
  @Column('timestamptz') expires_at!: Date;
  @Column('timestamptz', { nullable: true }) ended_at!: Date | null;
}

@Entity('second_factor_resets')
@ForeignKey('TenantMember', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'])
export class SecondFactorReset {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('uuid') requested_by!: string;
  @Column('timestamptz') expires_at!: Date;
}

export const accessSchema: SchemaPart = {
  owner: 'access',
  publishes: ['group_memberships', 'group_names', 'member_has_permission'],
  entities: {
    workspace: [TenantRbac, RbacGroup, RbacMember, RbacGrant, TenantInvitation, SecondFactorReset],
  },
  growth: {
    trimmedBy: { 'access.invitations': ['tenant_invitations'] },
    bounded: ['rbac_grants', 'rbac_groups', 'rbac_members', 'second_factor_resets', 'tenant_rbac'],
  },
  migrations: sqlMigrations(import.meta.url, {
    Access1795700000002: '0001-access',
    TransferPermission1796000000002: '0002-transfer-permission',
    Invitations1797100000001: '0003-invitations',
    ResentInvitations1798800000011: '0004-resent-invitations',
  }),
  sql: sqlFiles('workspace', import.meta.url, 'groups'),
};
