import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

export type ErasureState = 'pending' | 'running' | 'done';

/** The erasure of the data of a former member. */
@Entity('personal_erasures')
@Index('personal_erasures_user', ['userId'])
@Index('personal_erasures_due', ['dueAt'], { where: 'due_at IS NOT NULL' })
@ForeignKey('TenantMember', ['tenantId', 'userId'], ['tenantId', 'userId'])
export class PersonalErasure {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('text') state!: ErasureState;
  @Column('timestamptz', { name: 'requested_at' }) requestedAt!: Date;
  /** When a process may take the erasure: the end of the grace time, of a lease or of a pause after a failure. */
  @Column('timestamptz', { name: 'due_at', nullable: true }) dueAt!: Date | null;
  /** The process that runs the erasure. */
  @Column('uuid', { name: 'lease_id', nullable: true }) leaseId!: string | null;
  @Column('int') attempts!: number;
  /** Names of the sources whose data are erased. */
  @Column('text', { array: true }) steps!: string[];
  @Column('timestamptz', { name: 'finished_at', nullable: true }) finishedAt!: Date | null;
}
