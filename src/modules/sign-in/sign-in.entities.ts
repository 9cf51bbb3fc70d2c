import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

@Entity('oidc_records')
@Index('oidc_records_grant', ['grantId'], { where: 'grant_id IS NOT NULL' })
@Index('oidc_records_uid', ['uidHash'], { where: 'uid_hash IS NOT NULL' })
@Index('oidc_records_user_code', ['userCodeHash'], { unique: true, where: 'user_code_hash IS NOT NULL' })
@Index('oidc_records_expires', ['expiresAt'])
export class OidcRecord {
  @PrimaryColumn('text') model!: string;
  @PrimaryColumn('bytea', { name: 'id_hash' }) idHash!: Buffer;
  @Column('text') payload!: string;
  @Column('uuid', { name: 'grant_id', nullable: true }) grantId!: string | null;
  @Column('bytea', { name: 'uid_hash', nullable: true }) uidHash!: Buffer | null;
  @Column('bytea', { name: 'user_code_hash', nullable: true }) userCodeHash!: Buffer | null;
  @Column('timestamptz', { name: 'consumed_at', nullable: true }) consumedAt!: Date | null;
  @Column('bytea', { name: 'consumed_by', nullable: true }) consumedBy!: Buffer | null;
  @Column('timestamptz', { name: 'polled_at', nullable: true }) polledAt!: Date | null;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
}

@Entity('oidc_clients')
@ForeignKey('Account', ['accountId'], ['id'])
@ForeignKey('Tenant', ['tenantId'], ['id'])
@ForeignKey('Tenant', ['ownerTenantId'], ['id'])
@Index('oidc_clients_owner', ['ownerTenantId', 'id'], { where: 'owner_tenant_id IS NOT NULL' })
export class OidcClient {
  @PrimaryColumn('text') id!: string;
  @Column('text') kind!: string;
  @Column('text') name!: string;
  @Column('boolean', { name: 'first_party' }) firstParty!: boolean;
  @Column('bytea', { name: 'secret_hash', nullable: true }) secretHash!: Buffer | null;
  @Column('text', { name: 'redirect_uris', array: true }) redirectUris!: string[];
  @Column('text', { name: 'logout_uris', array: true }) logoutUris!: string[];
  @Column('uuid', { name: 'account_id', nullable: true }) accountId!: string | null;
  @Column('uuid', { name: 'tenant_id', nullable: true }) tenantId!: string | null;
  @Column('uuid', { name: 'owner_tenant_id', nullable: true }) ownerTenantId!: string | null;
  @Column('uuid', { name: 'created_by', nullable: true }) createdBy!: string | null;
  @Column('text', { array: true, nullable: true }) scopes!: string[] | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
