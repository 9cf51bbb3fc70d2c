import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

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
