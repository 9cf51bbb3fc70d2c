import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** A group that a new member joins when the groups claim contains the value. */
export interface GroupMapping {
  value: string;
  group_id: string;
}

@Entity('tenant_issuers')
@ForeignKey('Tenant', ['tenantId'], ['id'])
export class TenantIssuer {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('int') revision!: number;
  @Column('text') name!: string;
  @Column('text') issuer!: string;
  @Column('text', { name: 'client_id' }) clientId!: string;
  @Column('text', { name: 'client_secret', nullable: true }) clientSecret!: string | null;
  @Column('text', { array: true }) scopes!: string[];
  @Column('text', { array: true }) domains!: string[];
  @Column('text', { name: 'email_claim' }) emailClaim!: string;
  @Column('text', { name: 'name_claim' }) nameClaim!: string;
  @Column('text', { name: 'groups_claim', nullable: true }) groupsClaim!: string | null;
  @Column('jsonb', { name: 'group_mappings' }) groupMappings!: GroupMapping[];
  @Column('boolean', { name: 'trusts_email' }) trustsEmail!: boolean;
  @Column('boolean', { name: 'creates_members' }) createsMembers!: boolean;
  @Column('text', { name: 'default_role' }) defaultRole!: 'member' | 'admin';
  @Column('boolean', { name: 'links_accounts' }) linksAccounts!: boolean;
  @Column('boolean', { name: 'is_required' }) isRequired!: boolean;
  @Column('boolean', { name: 'is_enabled' }) isEnabled!: boolean;
  @Column('uuid', { name: 'created_by', nullable: true }) createdBy!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

@Entity('tenant_issuer_links')
@ForeignKey('TenantIssuer', ['tenantId', 'issuerId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
@ForeignKey('Account', ['accountId'], ['id'])
@Index('tenant_issuer_links_account', ['tenantId', 'issuerId', 'accountId'], { unique: true })
export class TenantIssuerLink {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'issuer_id' }) issuerId!: string;
  @PrimaryColumn('text') subject!: string;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
