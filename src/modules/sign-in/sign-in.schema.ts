import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';

@Entity('oidc_records')
@Index('oidc_records_grant', ['grant_id'], { where: 'grant_id IS NOT NULL' })
@Index('oidc_records_uid', ['uid_hash'], { where: 'uid_hash IS NOT NULL' })
@Index('oidc_records_user_code', ['user_code_hash'], { unique: true, where: 'user_code_hash IS NOT NULL' })
@Index('oidc_records_expires', ['expires_at'])
export class OidcRecord {
  @PrimaryColumn('text') model!: string;
  @PrimaryColumn('bytea') id_hash!: Buffer;
  @Column('text') payload!: string;
  @Column('uuid', { nullable: true }) grant_id!: string | null;
  @Column('bytea', { nullable: true }) uid_hash!: Buffer | null;
  @Column('bytea', { nullable: true }) user_code_hash!: Buffer | null;
  @Column('timestamptz', { nullable: true }) consumed_at!: Date | null;
  /** HMAC of the address of the first use. */
  @Column('bytea', { nullable: true }) consumed_by!: Buffer | null;
  @Column('timestamptz', { nullable: true }) polled_at!: Date | null;
  @Column('timestamptz') expires_at!: Date;
}

@Entity('oidc_clients')
@ForeignKey('Account', ['account_id'], ['id'])
@ForeignKey('Tenant', ['tenant_id'], ['id'])
@ForeignKey('Tenant', ['owner_tenant_id'], ['id'])
@Index('oidc_clients_owner', ['owner_tenant_id', 'id'], { where: 'owner_tenant_id IS NOT NULL' })
export class OidcClient {
  @PrimaryColumn('text') id!: string;
  @Column('text') kind!: string;
  @Column('text') name!: string;
  @Column('boolean') first_party!: boolean;
  @Column('bytea', { nullable: true }) secret_hash!: Buffer | null;
  @Column('text', { array: true }) redirect_uris!: string[];
  @Column('text', { array: true }) logout_uris!: string[];
  @Column('uuid', { nullable: true }) account_id!: string | null;
  @Column('uuid', { nullable: true }) tenant_id!: string | null;
  @Column('uuid', { nullable: true }) owner_tenant_id!: string | null;
  @Column('uuid', { nullable: true }) created_by!: string | null;
  @Column('text', { array: true, nullable: true }) scopes!: string[] | null;
  @Column('timestamptz') created_at!: Date;
}

export const signInSchema: SchemaPart = {
  owner: 'sign-in',
  entities: { directory: [OidcRecord, OidcClient] },
  growth: {
    trimmedBy: { 'sign-in.forget-expired': ['oidc_records'] },
    bounded: ['oidc_clients'],
  },
  migrations: sqlMigrations(import.meta.url, {
    SignIn1795600000001: '0001-sign-in',
    TenantClients1797100000003: '0010-tenant-clients',
    ConsumedBy1797300000002: '0002-consumed-by',
  }),
  sql: [],
};
