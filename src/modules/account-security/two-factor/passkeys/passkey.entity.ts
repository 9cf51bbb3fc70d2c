import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

@Entity('passkeys')
@ForeignKey('Account', ['accountId'], ['id'], { onDelete: 'CASCADE' })
@Index('passkeys_credential', ['credentialId'], { unique: true })
@Index('passkeys_account', ['accountId'])
export class Passkey {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('bytea', { name: 'credential_id' }) credentialId!: Buffer;
  @Column('bytea', { name: 'public_key' }) publicKey!: Buffer;
  @Column('bigint') counter!: string;
  @Column('text', { array: true }) transports!: string[];
  @Column('boolean') synced!: boolean;
  @Column('text') name!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'last_used_at', nullable: true }) lastUsedAt!: Date | null;
}

@Entity('passkey_challenges')
@Index('passkey_challenges_expiry', ['expiresAt'])
export class PasskeyChallenge {
  @PrimaryColumn('text') purpose!: 'registration' | 'sign_in' | 'second_factor';
  @PrimaryColumn('text') subject!: string;
  @Column('bytea') challenge!: Buffer;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
}
