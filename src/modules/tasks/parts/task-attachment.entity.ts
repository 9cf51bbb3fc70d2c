import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TaskPart } from '../task.entity.js';

@Entity('task_attachments')
export class TaskAttachment extends TaskPart {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'blob_id' }) blobId!: string;
  @Column('text') name!: string;
  @Column('bigint') size!: string;
  @Column('text', { name: 'content_type' }) contentType!: string;
  @Column('bytea') sha256!: Buffer;
  @Column('uuid', { name: 'created_by' }) createdBy!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}
