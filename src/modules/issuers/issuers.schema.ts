import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';

/** A group that a new member joins when the groups claim contains the value. */
export interface GroupMapping {
  value: string;
  group_id: string;
}

@Entity('tenant_issuers')
@ForeignKey('Tenant', ['tenant_id'], ['id'])
export class TenantIssuer {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('int') revision!: number;
  @Column('text') name!: string;
  @Column('text') issuer!: string;
  @Column('text') client_id!: string;
  @Column('text', { nullable: true }) client_secret!: string | null;
  @Column('text', { array: true }) scopes!: string[];
  @Column('text', { array: true }) domains!: string[];
  @Column('text') email_claim!: string;
  @Column('text') name_claim!: string;
  @Column('text', { nullable: true }) groups_claim!: string | null;
  @Column('jsonb') group_mappings!: GroupMapping[];
  @Column('boolean') trusts_email!: boolean;
  @Column('boolean') creates_members!: boolean;
  @Column('text') default_role!: 'member' | 'admin';
  @Column('boolean') links_accounts!: boolean;
  @Column('boolean') is_required!: boolean;
  @Column('boolean') is_enabled!: boolean;
  @Column('uuid', { nullable: true }) created_by!: string | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
}

@Entity('tenant_issuer_links')
@ForeignKey('TenantIssuer', ['tenant_id', 'issuer_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
@ForeignKey('Account', ['account_id'], ['id'])
@Index('tenant_issuer_links_account', ['tenant_id', 'issuer_id', 'account_id'], { unique: true })
export class TenantIssuerLink {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') issuer_id!: string;
  @PrimaryColumn('text') subject!: string;
  @Column('uuid') account_id!: string;
  @Column('timestamptz') created_at!: Date;
}

export const issuersSchema: SchemaPart = {
  owner: 'issuers',
  entities: { directory: [TenantIssuer, TenantIssuerLink] },
  growth: { bounded: ['tenant_issuer_links', 'tenant_issuers'] },
  migrations: sqlMigrations(import.meta.url, { Issuers1798100000002: '0001-issuers' }),
};
