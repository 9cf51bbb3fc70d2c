import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { TenantRole } from '../../platform/context/request-context.js';

@Entity('tenants')
@Index('tenants_slug_key', ['slug'], { unique: true })
export class Tenant {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') slug!: string;
  @Column('text') name!: string;
  @Column('jsonb') branding!: Record<string, unknown>;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('tenant_domains')
@ForeignKey('Tenant', ['tenantId'], ['id'])
@Index('tenant_domains_verified', ['domain'], { where: 'verified_at IS NOT NULL' })
export class TenantDomain {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('text') domain!: string;
  @Column('timestamptz', { name: 'verified_at', nullable: true }) verifiedAt!: Date | null;
  @Column('text', { nullable: true }) challenge!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('tenant_members')
@Index('tenant_members_user', ['userId'])
@Index('tenant_members_unfolded', ['tenantId', 'userId'], { where: 'folded IS NULL' })
export class TenantMember {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('text') role!: TenantRole;
  @Column('text') status!: 'active' | 'deactivated';
  @Column('text') email!: string;
  @Column('text', { name: 'display_name' }) displayName!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('text', { nullable: true }) folded!: string | null;
  @Column('boolean', { name: 'is_service' }) isService!: boolean;
  @Column('timestamptz', { name: 'deactivated_at', nullable: true }) deactivatedAt!: Date | null;
  /** The membership ended separately from the account: reopening the account does not restore it. */
  @Column('boolean', { name: 'ended_separately' }) endedSeparately!: boolean;
  /** Start of the erasure of the personal data. The membership then stays deactivated until the user joins again. */
  @Column('timestamptz', { name: 'erased_at', nullable: true }) erasedAt!: Date | null;
  /** The last change of address, name or status; null: none is known. */
  @Column('timestamptz', { name: 'changed_at', nullable: true }) changedAt!: Date | null;
}

@Entity('tenant_logos')
@ForeignKey('Tenant', ['tenantId'], ['id'])
export class TenantLogo {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @Column('text') format!: 'png' | 'jpeg' | 'webp';
  @Column('bytea') bytes!: Buffer;
  @Column('text') version!: string;
  @Column('int') width!: number;
  @Column('int') height!: number;
  @Column('boolean', { name: 'is_encoded' }) isEncoded!: boolean;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}
