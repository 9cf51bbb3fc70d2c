import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TaskPart } from '../task.entity.js';

@Entity('task_attachments')
export class TaskAttachment extends TaskPart {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') blob_id!: string;
  @Column('text') name!: string;
  @Column('bigint') size!: string;
  @Column('text') content_type!: string;
  @Column('bytea') sha256!: Buffer;
  @Column('uuid') created_by!: string;
  @Column('timestamptz') created_at!: Date;
}
