import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { TimedItem } from '../../../platform/database/schema/item.entity.js';
import { ROLES, type TaskRole } from '../task.entity.js';

@Entity('task_folders')
@Index('task_folders_children', ['tenantId', 'ownerId', 'parentId'], { where: 'gone_at IS NULL' })
@Index('task_folders_gone', ['goneAt'], { where: 'gone_at IS NOT NULL' })
export class TaskFolder extends TimedItem {
  @Column('uuid', { name: 'owner_id' }) ownerId!: string;
  @Column('uuid', { name: 'parent_id', nullable: true }) parentId!: string | null;
  @Column('text') name!: string;
  @Column('text', { nullable: true }) color!: string | null;
  @Column('double precision') position!: number;
  /** Users that the folder is shared with, and their roles in the same order. */
  @Column('uuid', { name: 'member_ids', array: true }) memberIds!: string[];
  @Column('enum', { name: 'member_roles', enum: ROLES, enumName: 'task_role', array: true })
  memberRoles!: TaskRole[];
  @Column('int') revision!: number;
  @Column('timestamptz', { name: 'gone_at', nullable: true }) goneAt!: Date | null;
}

/** One row for each user who has, or had, access to a folder, inherited access included. */
@Entity('task_folder_members')
@Index('task_folder_members_feed', ['tenantId', 'userId', 'seq'], { unique: true })
@Index('task_folder_members_gone', ['goneAt'], { where: 'gone_at IS NOT NULL' })
export class TaskFolderMember {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'folder_id' }) folderId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('enum', { enum: ROLES, enumName: 'task_role', nullable: true }) role!: TaskRole | null;
  @Column('bigint') seq!: string;
  @Column('smallint', { nullable: true }) gone!: number | null;
  @Column('timestamptz', { name: 'gone_at', nullable: true }) goneAt!: Date | null;
  @Column('text', { name: 'device_id', nullable: true }) deviceId!: string | null;
  /** The place of the list among the calendars of the user in CalDAV programs; null: none was chosen. */
  @Column('double precision', { name: 'calendar_order', nullable: true }) calendarOrder!: number | null;
}
