import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

@Entity('accounts')
@Index('accounts_email_key_key', ['emailKey'], { unique: true })
export class Account {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') email!: string;
  @Column('text', { name: 'email_key' }) emailKey!: string;
  @Column('text', { name: 'display_name' }) displayName!: string;
  @Column('text', { name: 'password_hash', nullable: true }) passwordHash!: string | null;
  @Column('text') status!: 'active' | 'deactivated';
  @Column('boolean', { name: 'closed_by_owner' }) closedByOwner!: boolean;
  @Column('timestamptz', { name: 'tokens_valid_after', nullable: true }) tokensValidAfter!: Date | null;
  @Column('timestamptz', { name: 'password_changed_at', nullable: true }) passwordChangedAt!: Date | null;
  @Column('timestamptz', { name: 'second_factor_since', nullable: true }) secondFactorSince!: Date | null;
  @Column('timestamptz', { name: 'erased_at', nullable: true }) erasedAt!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

@Entity('account_links')
@Index('account_links_issuer_account_id_key', ['issuer', 'accountId'], { unique: true })
@ForeignKey('Account', ['accountId'], ['id'])
export class AccountLink {
  @PrimaryColumn('text') issuer!: string;
  @PrimaryColumn('text') subject!: string;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('sessions')
@Index('sessions_account', ['accountId'])
@Index('sessions_expired', ['expiresAt'])
@ForeignKey('Account', ['accountId'], ['id'])
export class Session {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('uuid', { name: 'tenant_id', nullable: true }) tenantId!: string | null;
  @Column('text', { name: 'client_id' }) clientId!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
  @Column('timestamptz', { name: 'revoked_at', nullable: true }) revokedAt!: Date | null;
  @Column('timestamptz', { name: 'aal2_at', nullable: true }) aal2At!: Date | null;
  @Column('timestamptz', { name: 'signed_in_at', nullable: true }) signedInAt!: Date | null;
  @Column('text', { name: 'user_agent', nullable: true }) userAgent!: string | null;
  @Column('text', { nullable: true }) ip!: string | null;
  @Column('timestamptz', { name: 'last_seen_at', nullable: true }) lastSeenAt!: Date | null;
  @Column('timestamptz', { name: 'activated_at', nullable: true }) activatedAt!: Date | null;
  @Column('text', { nullable: true }) issuer!: string | null;
}

@Entity('signing_keys')
export class SigningKey {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') algorithm!: string;
  @Column('jsonb', { name: 'public_jwk' }) publicJwk!: Record<string, unknown>;
  @Column('jsonb', { name: 'private_jwk', nullable: true }) privateJwk!: Record<string, unknown> | null;
  @Column('text', { name: 'sealed_private_key', nullable: true }) sealedPrivateKey!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'retired_at', nullable: true }) retiredAt!: Date | null;
}

@Entity('access_changes')
@Index('access_changes_created', ['createdAt'])
export class AccessChange {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('uuid', { name: 'tenant_id', nullable: true }) tenantId!: string | null;
  @Column('uuid', { name: 'session_id', nullable: true }) sessionId!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
