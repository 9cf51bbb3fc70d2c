import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

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
