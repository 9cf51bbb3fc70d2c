import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The words of a task, who may find them, and how its description begins. */
@Entity('task_search')
export class TaskSearch {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'task_id' }) taskId!: string;
  @Column('int') revision!: number;
  @Column('uuid') audience!: string;
  @Column('smallint') rules!: number;
  @Column('tsvector') tsv!: string;
  @Column('text') beginning!: string;
}
