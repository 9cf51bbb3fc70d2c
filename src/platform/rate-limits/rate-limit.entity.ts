import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('rate_limits')
export class RateLimitRow {
  @PrimaryColumn('text') scope!: string;
  @PrimaryColumn('bytea') subject!: Buffer;
  @Column('timestamptz', { name: 'paid_until' }) paidUntil!: Date;
}

@Entity('guess_locks')
export class GuessLockRow {
  @PrimaryColumn('text') purpose!: string;
  @PrimaryColumn('bytea') subject!: Buffer;
  @Column('int') failures!: number;
  @Column('timestamptz', { name: 'last_at' }) lastAt!: Date;
  @Column('timestamptz', { name: 'locked_until', nullable: true }) lockedUntil!: Date | null;
}
