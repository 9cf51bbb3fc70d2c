import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

export type ErasureState = 'pending' | 'running' | 'done';

/** The erasure of the data of a former member. */
@Entity('personal_erasures')
@Index('personal_erasures_user', ['user_id'])
@Index('personal_erasures_due', ['due_at'], { where: 'due_at IS NOT NULL' })
@ForeignKey('TenantMember', ['tenant_id', 'user_id'], ['tenant_id', 'user_id'])
export class PersonalErasure {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('text') state!: ErasureState;
  @Column('timestamptz') requested_at!: Date;
  /** When a process may take the erasure: the end of the grace time, of a lease or of a pause after a failure. */
  @Column('timestamptz', { nullable: true }) due_at!: Date | null;
  /** The process that runs the erasure. */
  @Column('uuid', { nullable: true }) lease_id!: string | null;
  @Column('int') attempts!: number;
  /** Names of the sources whose data are erased. */
  @Column('text', { array: true }) steps!: string[];
  @Column('timestamptz', { nullable: true }) finished_at!: Date | null;
}
