import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('rate_limits')
@Index('rate_limits_paid', ['paidUntil'])
export class RateLimitRow {
  @PrimaryColumn('text') scope!: string;
  @PrimaryColumn('bytea') subject!: Buffer;
  @Column('timestamptz', { name: 'paid_until' }) paidUntil!: Date;
}

@Entity('guess_locks')
@Index('guess_locks_last', ['lastAt'])
export class GuessLockRow {
  @PrimaryColumn('text') purpose!: string;
  @PrimaryColumn('bytea') subject!: Buffer;
  @Column('int') failures!: number;
  @Column('timestamptz', { name: 'last_at' }) lastAt!: Date;
  @Column('timestamptz', { name: 'locked_until', nullable: true }) lockedUntil!: Date | null;
}
