import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

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
