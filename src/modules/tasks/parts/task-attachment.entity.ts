import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

@Entity('task_attachments')
@ForeignKey('Task', ['tenantId', 'taskId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class TaskAttachment {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'task_id' }) taskId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'blob_id' }) blobId!: string;
  @Column('text') name!: string;
  @Column('bigint') size!: string;
  @Column('text', { name: 'content_type' }) contentType!: string;
  @Column('bytea') sha256!: Buffer;
  @Column('uuid', { name: 'created_by' }) createdBy!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
