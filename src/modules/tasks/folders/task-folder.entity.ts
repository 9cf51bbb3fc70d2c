import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { TimedItem } from '../../../platform/database/schema/item.entity.js';
import { ROLES, type TaskRole } from '../task.entity.js';

@Entity('task_folders')
@Index('task_folders_children', ['tenant_id', 'owner_id', 'parent_id'], { where: 'gone_at IS NULL' })
@Index('task_folders_gone', ['gone_at'], { where: 'gone_at IS NOT NULL' })
export class TaskFolder extends TimedItem {
  @Column('uuid') owner_id!: string;
  @Column('uuid', { nullable: true }) parent_id!: string | null;
  @Column('text') name!: string;
  @Column('text', { nullable: true }) color!: string | null;
  @Column('double precision') position!: number;
  /** Users that the folder is shared with, and their roles in the same order. */
  @Column('uuid', { array: true }) member_ids!: string[];
  @Column('enum', { enum: ROLES, enumName: 'task_role', array: true })
  member_roles!: TaskRole[];
  @Column('int') revision!: number;
  @Column('timestamptz', { nullable: true }) gone_at!: Date | null;
}

/** One row for each user who has, or had, access to a folder, inherited access included. */
@Entity('task_folder_members')
@Index('task_folder_members_feed', ['tenant_id', 'user_id', 'seq'], { unique: true })
@Index('task_folder_members_gone', ['gone_at'], { where: 'gone_at IS NOT NULL' })
export class TaskFolderMember {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') folder_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('enum', { enum: ROLES, enumName: 'task_role', nullable: true }) role!: TaskRole | null;
  @Column('bigint') seq!: string;
  @Column('smallint', { nullable: true }) gone!: number | null;
  @Column('timestamptz', { nullable: true }) gone_at!: Date | null;
  @Column('text', { nullable: true }) device_id!: string | null;
  /** The place of the list among the calendars of the user in CalDAV programs; null: none was chosen. */
  @Column('double precision', { nullable: true }) calendar_order!: number | null;
}
