import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

@Entity('account_tokens')
@ForeignKey('Account', ['accountId'], ['id'], { onDelete: 'CASCADE' })
@Index('account_tokens_expiry', ['expiresAt'])
export class AccountToken {
  @PrimaryColumn('uuid', { name: 'account_id' }) accountId!: string;
  @PrimaryColumn('text') purpose!: 'password' | 'email' | 'passkeys';
  @Column('bytea', { name: 'token_hash' }) tokenHash!: Buffer;
  @Column('text', { nullable: true }) email!: string | null;
  @Column('uuid', { name: 'session_id', nullable: true }) sessionId!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'expires_at' }) expiresAt!: Date;
}
