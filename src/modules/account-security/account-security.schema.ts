import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';

@Entity('application_passwords')
@Index('application_passwords_tenant_id_user_id_slot_key', ['tenant_id', 'user_id', 'slot'], { unique: true })
@Index('application_passwords_selector', ['tenant_id', 'user_id', 'selector'])
@Index('application_passwords_user', ['user_id'])
@Index('application_passwords_expiry', ['expires_at'], {
  where: "(state = 'active'::text) AND (expires_at IS NOT NULL)",
})
@Index('application_passwords_unfinished', ['created_at'], { where: "state = 'creating'::text" })
export class ApplicationPassword {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') user_id!: string;
  @Column('smallint', { nullable: true }) slot!: number | null;
  @Column('text') state!: 'creating' | 'active' | 'removing';
  @Column('text') description!: string;
  @Column('text', { array: true }) scopes!: string[];
  @Column('text') selector!: string;
  @Column('text') hash!: string;
  @Column('text', { nullable: true }) provider_id!: string | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz', { nullable: true }) expires_at!: Date | null;
  @Column('timestamptz', { nullable: true }) last_used_at!: Date | null;
  @Column('text', { nullable: true }) last_used_ip!: string | null;
}

@Entity('account_tokens')
@ForeignKey('Account', ['account_id'], ['id'], { onDelete: 'CASCADE' })
@Index('account_tokens_expiry', ['expires_at'])
export class AccountToken {
  @PrimaryColumn('uuid') account_id!: string;
  @PrimaryColumn('text') purpose!: 'password' | 'email' | 'passkeys';
  @Column('bytea') token_hash!: Buffer;
  @Column('text', { nullable: true }) email!: string | null;
  @Column('uuid', { nullable: true }) session_id!: string | null;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') expires_at!: Date;
}

@Entity('second_factors')
@ForeignKey('Account', ['account_id'], ['id'])
export class SecondFactor {
  @PrimaryColumn('uuid') account_id!: string;
  @Column('text') state!: 'pending' | 'active';
  @Column('text') secret!: string;
  @Column('bigint') last_step!: string;
  @Column('timestamptz', { nullable: true }) expires_at!: Date | null;
  @Column('timestamptz') created_at!: Date;
}

@Entity('recovery_codes')
@ForeignKey('Account', ['account_id'], ['id'])
export class RecoveryCode {
  @PrimaryColumn('uuid') account_id!: string;
  @PrimaryColumn('smallint') n!: number;
  @Column('text') hash!: string;
  @Column('timestamptz', { nullable: true }) used_at!: Date | null;
}

@Entity('passkeys')
@ForeignKey('Account', ['account_id'], ['id'], { onDelete: 'CASCADE' })
@Index('passkeys_credential', ['credential_id'], { unique: true })
@Index('passkeys_account', ['account_id'])
export class Passkey {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') account_id!: string;
  @Column('bytea') credential_id!: Buffer;
  @Column('bytea') public_key!: Buffer;
  @Column('bigint') counter!: string;
  @Column('text', { array: true }) transports!: string[];
  @Column('boolean') synced!: boolean;
  @Column('text') name!: string;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz', { nullable: true }) last_used_at!: Date | null;
}

@Entity('passkey_challenges')
@Index('passkey_challenges_expiry', ['expires_at'])
export class PasskeyChallenge {
  @PrimaryColumn('text') purpose!: 'registration' | 'sign_in' | 'second_factor';
  @PrimaryColumn('text') subject!: string;
  @Column('bytea') challenge!: Buffer;
  @Column('timestamptz') expires_at!: Date;
}

export const accountSecuritySchema: SchemaPart = {
  owner: 'account-security',
  entities: {
    directory: [SecondFactor, RecoveryCode, AccountToken, Passkey, PasskeyChallenge],
    workspace: [ApplicationPassword],
  },
  growth: {
    trimmedBy: {
      'account-tokens.forget': ['account_tokens'],
      'passkey-challenges.forget': ['passkey_challenges'],
    },
    content: ['application_passwords'],
    bounded: ['passkeys', 'recovery_codes', 'second_factors'],
  },
  migrations: sqlMigrations(import.meta.url, {
    SecondFactors1795500000003: '0001-second-factor',
    ApplicationPasswords1795500000004: '0002-application-passwords',
    AccountTokens1797100000002: '0003-account-tokens',
    Passkeys1797900000001: '0004-passkeys',
  }),
  sql: [],
};
