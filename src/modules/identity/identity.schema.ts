import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';

@Entity('accounts')
@Index('accounts_email_key_key', ['email_key'], { unique: true })
export class Account {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') email!: string;
  @Column('text') email_key!: string;
  @Column('text') display_name!: string;
  @Column('text', { nullable: true }) password_hash!: string | null;
  @Column('text') status!: 'active' | 'deactivated';
  @Column('boolean') closed_by_owner!: boolean;
  @Column('timestamptz', { nullable: true }) tokens_valid_after!: Date | null;
  @Column('timestamptz', { nullable: true }) password_changed_at!: Date | null;
  @Column('timestamptz', { nullable: true }) second_factor_since!: Date | null;
  @Column('timestamptz', { nullable: true }) erased_at!: Date | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
}

@Entity('account_links')
@Index('account_links_issuer_account_id_key', ['issuer', 'account_id'], { unique: true })
@ForeignKey('Account', ['account_id'], ['id'])
export class AccountLink {
  @PrimaryColumn('text') issuer!: string;
  @PrimaryColumn('text') subject!: string;
  @Column('uuid') account_id!: string;
  @Column('timestamptz') created_at!: Date;
}

@Entity('sessions')
@Index('sessions_account', ['account_id'])
@Index('sessions_expired', ['expires_at'])
@ForeignKey('Account', ['account_id'], ['id'])
export class Session {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') account_id!: string;
  @Column('uuid', { nullable: true }) tenant_id!: string | null;
  @Column('text') client_id!: string;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') expires_at!: Date;
  @Column('timestamptz', { nullable: true }) revoked_at!: Date | null;
  @Column('timestamptz', { nullable: true }) aal2_at!: Date | null;
  @Column('timestamptz', { nullable: true }) signed_in_at!: Date | null;
  @Column('text', { nullable: true }) user_agent!: string | null;
  @Column('text', { nullable: true }) ip!: string | null;
  @Column('timestamptz', { nullable: true }) last_seen_at!: Date | null;
  @Column('timestamptz', { nullable: true }) activated_at!: Date | null;
  @Column('text', { nullable: true }) issuer!: string | null;
}

@Entity('signing_keys')
export class SigningKey {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') algorithm!: string;
  @Column('jsonb') public_jwk!: Record<string, unknown>;
  @Column('jsonb', { nullable: true }) private_jwk!: Record<string, unknown> | null;
  @Column('text', { nullable: true }) sealed_private_key!: string | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz', { nullable: true }) retired_at!: Date | null;
}

@Entity('access_changes')
@Index('access_changes_created', ['created_at'])
export class AccessChange {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') account_id!: string;
  @Column('uuid', { nullable: true }) tenant_id!: string | null;
  @Column('uuid', { nullable: true }) session_id!: string | null;
  @Column('timestamptz') created_at!: Date;
}

export const identitySchema: SchemaPart = {
  owner: 'identity',
  entities: { directory: [Account, AccountLink, Session, SigningKey, AccessChange] },
  growth: {
    trimmedBy: { 'forget-ended-sessions': ['access_changes', 'sessions'] },
    bounded: ['account_links', 'accounts', 'signing_keys'],
  },
  migrations: sqlMigrations(import.meta.url, {
    Identity1795000000003: '0001-identity',
    SecondFactor1795500000002: '0201-second-factor',
    ClosedAccounts1796000000001: '0301-closed-accounts',
    AccessNotices1796950000002: '0401-access-notices',
    SealedKeysAndPendingSessions1797300000001: '0501-sealed-keys-and-pending-sessions',
    SessionIssuers1798100000001: '0601-session-issuers',
    AccountErasure1798112308252: '0701-erasure',
    SignInTime1798600000021: '0801-sign-in-time',
  }),
  sql: [],
};
