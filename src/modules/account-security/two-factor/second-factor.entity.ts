import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

@Entity('second_factors')
@ForeignKey('Account', ['accountId'], ['id'])
export class SecondFactor {
  @PrimaryColumn('uuid', { name: 'account_id' }) accountId!: string;
  @Column('text') state!: 'pending' | 'active';
  @Column('text') secret!: string;
  @Column('bigint', { name: 'last_step' }) lastStep!: string;
  @Column('timestamptz', { name: 'expires_at', nullable: true }) expiresAt!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('recovery_codes')
@ForeignKey('Account', ['accountId'], ['id'])
export class RecoveryCode {
  @PrimaryColumn('uuid', { name: 'account_id' }) accountId!: string;
  @PrimaryColumn('smallint') n!: number;
  @Column('text') hash!: string;
  @Column('timestamptz', { name: 'used_at', nullable: true }) usedAt!: Date | null;
}
