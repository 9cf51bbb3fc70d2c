import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

export const EXPORT_STATES = ['pending', 'running', 'done', 'failed'] as const;
export type ExportState = (typeof EXPORT_STATES)[number];

/** The latest export of a member's data. */
@Entity('personal_exports')
@Index('personal_exports_user', ['userId'])
@Index('personal_exports_due', ['dueAt'], { where: 'due_at IS NOT NULL' })
@Index('personal_exports_expired', ['expiresAt'], { where: 'expires_at IS NOT NULL' })
@ForeignKey('TenantMember', ['tenantId', 'userId'], ['tenantId', 'userId'])
export class PersonalExport {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('uuid') id!: string;
  @Column('text') state!: ExportState;
  @Column('timestamptz', { name: 'requested_at' }) requestedAt!: Date;
  @Column('timestamptz', { name: 'finished_at', nullable: true }) finishedAt!: Date | null;
  @Column('timestamptz', { name: 'expires_at', nullable: true }) expiresAt!: Date | null;
  @Column('int', { name: 'sources_done' }) sourcesDone!: number;
  @Column('int', { name: 'sources_total' }) sourcesTotal!: number;
  @Column('int') omitted!: number;
  @Column('int') attempts!: number;
  /** The process that runs the export. */
  @Column('uuid', { name: 'lease_id', nullable: true }) leaseId!: string | null;
  /** When a process may take the export: the end of the lease or of the pause after a failure. */
  @Column('timestamptz', { name: 'due_at', nullable: true }) dueAt!: Date | null;
  @Column('uuid', { name: 'blob_id', nullable: true }) blobId!: string | null;
  @Column('bigint', { nullable: true }) size!: string | null;
  @Column('bytea', { nullable: true }) sha256!: Buffer | null;
}
