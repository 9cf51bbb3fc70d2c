import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('rate_limits')
@Index('rate_limits_paid', ['paid_until'])
export class RateLimitRow {
  @PrimaryColumn('text') scope!: string;
  @PrimaryColumn('bytea') subject!: Buffer;
  @Column('timestamptz') paid_until!: Date;
}

@Entity('guess_locks')
@Index('guess_locks_last', ['last_at'])
export class GuessLockRow {
  @PrimaryColumn('text') purpose!: string;
  @PrimaryColumn('bytea') subject!: Buffer;
  @Column('int') failures!: number;
  @Column('timestamptz') last_at!: Date;
  @Column('timestamptz', { nullable: true }) locked_until!: Date | null;
}
