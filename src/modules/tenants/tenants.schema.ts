import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { TenantRole } from '../../platform/context/request-context.js';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';

@Entity('tenants')
@Index('tenants_slug_key', ['slug'], { unique: true })
export class Tenant {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') slug!: string;
  @Column('text') name!: string;
  @Column('jsonb') branding!: Record<string, unknown>;
  @Column('timestamptz') created_at!: Date;
}

@Entity('tenant_domains')
@ForeignKey('Tenant', ['tenant_id'], ['id'])
@Index('tenant_domains_verified', ['domain'], { where: 'verified_at IS NOT NULL' })
export class TenantDomain {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('text') domain!: string;
  @Column('timestamptz', { nullable: true }) verified_at!: Date | null;
  @Column('text', { nullable: true }) challenge!: string | null;
  @Column('timestamptz') created_at!: Date;
}

@Entity('tenant_members')
@Index('tenant_members_user', ['user_id'])
@Index('tenant_members_unfolded', ['tenant_id', 'user_id'], { where: 'folded IS NULL' })
export class TenantMember {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('text') role!: TenantRole;
  @Column('text') status!: 'active' | 'deactivated';
  @Column('text') email!: string;
  @Column('text') display_name!: string;
  @Column('timestamptz') created_at!: Date;
  @Column('text', { nullable: true }) folded!: string | null;
  @Column('boolean') is_service!: boolean;
  @Column('timestamptz', { nullable: true }) deactivated_at!: Date | null;
  /** The membership ended separately from the account: reopening the account does not restore it. */
  @Column('boolean') ended_separately!: boolean;
  /** Start of the erasure of the personal data. The membership then stays deactivated until the user joins again. */
  @Column('timestamptz', { nullable: true }) erased_at!: Date | null;
  /** The last change of address, name or status; null: none is known. */
  @Column('timestamptz', { nullable: true }) changed_at!: Date | null;
}

@Entity('tenant_logos')
@ForeignKey('Tenant', ['tenant_id'], ['id'])
export class TenantLogo {
  @PrimaryColumn('uuid') tenant_id!: string;
  @Column('text') format!: 'png' | 'jpeg' | 'webp';
  @Column('bytea') bytes!: Buffer;
  @Column('text') version!: string;
  @Column('int') width!: number;
  @Column('int') height!: number;
  @Column('boolean') is_encoded!: boolean;
  @Column('timestamptz') updated_at!: Date;
}

/** The members to whom a policy limits a feature. The feature may also require a permission. */
export const AUDIENCES = ['members', 'admins', 'nobody'] as const;
export type Audience = (typeof AUDIENCES)[number];

@Entity('tenant_policies')
@ForeignKey('Tenant', ['tenant_id'], ['id'])
export class TenantPolicy {
  @PrimaryColumn('uuid') tenant_id!: string;
  @Column('boolean') second_factor_required!: boolean;
  @Column('int') second_factor_grace_days!: number;
  @Column('timestamptz', { nullable: true }) second_factor_since!: Date | null;
  @Column('int', { nullable: true }) session_days!: number | null;
  @Column('int', { nullable: true }) password_min_length!: number | null;
  @Column('text') link_shares!: Audience;
  @Column('text') guest_invites!: Audience;
  @Column('text', { array: true, nullable: true }) allowed_issuers!: string[] | null;
  @Column('boolean') domain_join!: boolean;
  @Column('int', { nullable: true }) erase_after_days!: number | null;
  @Column('timestamptz') updated_at!: Date;
}

/** The policy of a workspace that has set none. */
export function defaultPolicy(tenantId: string): TenantPolicy {
  return {
    tenant_id: tenantId,
    second_factor_required: false,
    second_factor_grace_days: 7,
    second_factor_since: null,
    session_days: null,
    password_min_length: null,
    link_shares: 'members',
    guest_invites: 'members',
    allowed_issuers: null,
    domain_join: false,
    erase_after_days: null,
    updated_at: new Date(0),
  };
}

export const tenantsSchema: SchemaPart = {
  owner: 'tenants',
  publishes: ['member_profiles', 'inactive_members', 'tenant_names'],
  entities: { directory: [Tenant, TenantDomain, TenantLogo, TenantPolicy], workspace: [TenantMember] },
  growth: {
    cleanedBy: { 'encode-tenant-logos': ['tenant_logos'] },
    bounded: ['tenant_domains', 'tenant_members', 'tenant_policies', 'tenants'],
  },
  migrations: sqlMigrations(import.meta.url, {
    Tenants1795000000002: '0001-tenants',
    TenantDirectory1795700000004: '0101-directory',
    TenantLogos1795700000005: '0102-tenant-logos',
    TenantPolicies1797100000000: '0103-policies-and-domains',
    ServicesAndLogos1797300000004: '0201-services-and-logos',
    MemberErasure1798112308251: '0301-erasure',
    SeparateEnds1798800000012: '0302-separate-ends',
    MemberChanges1798800000074: '0303-member-changes',
    JoinedWords1798814000097: '0304-joined-words',
    Kana1798816000041: '0305-kana',
    Digits1798816000071: '0306-digits',
    Domains1798816000073: '0307-domains',
  }),
  sql: [
    ...sqlFiles('workspace', import.meta.url, 'member-profiles'),
    ...sqlFiles('directory', import.meta.url, 'tenant-names'),
  ],
};
