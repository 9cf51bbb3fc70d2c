import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';

/** Search index entry of a task: its words, its search keys and the beginning of its description. */
@Entity('task_search')
@ForeignKey('Task', ['tenantId', 'taskId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export class TaskSearch {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'task_id' }) taskId!: string;
  @Column('int') revision!: number;
  @Column('uuid') audience!: string;
  @Column('smallint') rules!: number;
  @Column('tsvector') tsv!: string;
  @Column('text') beginning!: string;
}
