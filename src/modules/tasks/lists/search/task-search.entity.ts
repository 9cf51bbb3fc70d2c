import { Column, Entity } from 'typeorm';
import { TaskPart } from '../../task.entity.js';

/** Search index entry of a task: its words, its search keys and the beginning of its description. */
@Entity('task_search')
export class TaskSearch extends TaskPart {
  @Column('int') revision!: number;
  @Column('uuid') audience!: string;
  @Column('smallint') rules!: number;
  @Column('tsvector') tsv!: string;
  @Column('text') beginning!: string;
}
