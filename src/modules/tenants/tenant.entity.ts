import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { TenantRole } from '../../platform/context/request-context.js';

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
