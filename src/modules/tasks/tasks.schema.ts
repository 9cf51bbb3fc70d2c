import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { TimedItem } from '../../platform/database/schema/item.entity.js';
import { type SchemaPart, sqlMigrations } from '../../platform/database/schema/schema-part.js';
import { sqlFiles } from '../../platform/database/schema/stored-sql.js';

/** Statuses and priorities as in the API; the database stores their index. */
export const STATUSES = ['open', 'in_progress', 'done', 'cancelled'] as const;
export const PRIORITIES = ['none', 'low', 'normal', 'medium', 'high', 'urgent', 'critical'] as const;

/** The order is ascending: each role includes those before it. */
export const ROLES = ['viewer', 'editor', 'owner'] as const;

export type TaskRole = (typeof ROLES)[number];
export type TaskStatus = (typeof STATUSES)[number];
export type TaskPriority = (typeof PRIORITIES)[number];

/** A reference of a task; the title of a note or a task is read with each response. */
export interface StoredReference {
  type: 'note' | 'task' | 'url';
  id?: string;
  title?: string;
  url?: string;
}

export interface StoredRecurrence {
  rrule: string;
  from: 'schedule' | 'completion';
  /** Local day or day and time of the first occurrence, e.g. `2026-01-05T09:00:00`. */
  start: string;
  /** The day of this occurrence by the rule, wherever the task was moved; missing in old tasks. */
  scheduled?: string;
  /** The time of that day, where programs added the occurrence at another one than that of `start`: `T07:00:00`. */
  hour?: string;
  /** Place of this occurrence, from 1, where intervals count from completions. */
  number?: number;
}

export type StoredReminder = { at: string } | { minutes_before: number };

@Entity('tasks')
@Index('tasks_folder', ['tenant_id', 'folder_id'], { where: 'folder_id IS NOT NULL' })
@Index('tasks_by_title', ['tenant_id', 'creator_id', 'title', 'id'])
@Index('tasks_uid', ['tenant_id', 'uid'], { where: 'uid IS NOT NULL' })
@Index('tasks_purge_due', ['purge_at'], { where: 'purge_at IS NOT NULL' })
@Index('tasks_reminder_due', ['next_reminder_at'], { where: 'next_reminder_at IS NOT NULL' })
@Index('tasks_due', ['next_due_at'], { where: 'next_due_at IS NOT NULL' })
export class Task extends TimedItem {
  @Column('uuid') creator_id!: string;
  @Column('uuid', { nullable: true }) folder_id!: string | null;
  @Column('text') title!: string;
  @Column('text', { nullable: true }) description!: string | null;
  /** Index in `STATUSES`. */
  @Column('smallint') status!: number;
  /** Index in `PRIORITIES`. */
  @Column('smallint') priority!: number;
  @Column('text', { nullable: true }) group_name!: string | null;
  @Column('text', { array: true }) labels!: string[];
  @Column('uuid', { array: true }) assignee_ids!: string[];
  /** The day it is due in its time zone; that of `due_at` where the task has an hour. */
  @Column('date', { nullable: true }) date!: string | null;
  @Column('timestamptz', { nullable: true }) due_at!: Date | null;
  @Column('text') time_zone!: string;
  /** When the task is overdue: `due_at`, or the end of its day. */
  @Column('timestamptz', { nullable: true }) overdue_at!: Date | null;
  @Column('jsonb', { nullable: true }) recurrence!: StoredRecurrence | null;
  /** The task that was created when this one was completed. */
  @Column('uuid', { nullable: true }) next_task_id!: string | null;
  @Column('jsonb') reminders!: StoredReminder[];
  @Column('timestamptz', { nullable: true }) next_reminder_at!: Date | null;
  /** The moment of the next event about the due date. `due_stage`: 1 when it is due, 2 when it is overdue, 0 without an event. */
  @Column('timestamptz', { nullable: true }) next_due_at!: Date | null;
  @Column('smallint') due_stage!: number;
  @Column('jsonb') refs!: StoredReference[];
  /** Notes that have a link back to the task. */
  @Column('uuid', { array: true }) linked_notes!: string[];
  @Column('jsonb') attachments!: unknown[];
  @Column('int') subtasks_count!: number;
  @Column('int') comments_count!: number;
  @Column('int') activity_count!: number;
  @Column('text') position!: string;
  @Column('int') revision!: number;
  @Column('timestamptz', { nullable: true }) completed_at!: Date | null;
  @Column('uuid') updated_by!: string;
  @Column('timestamptz', { nullable: true }) deleted_at!: Date | null;
  @Column('uuid', { nullable: true }) deleted_by!: string | null;
  @Column('timestamptz', { nullable: true }) purge_at!: Date | null;
  /** The UID that a CalDAV program chose; null: the id. */
  @Column('text', { nullable: true }) uid!: string | null;
  /** What a program stored that the task has no field for. */
  @Column('jsonb', { nullable: true }) icalendar!: object | null;
}

@Entity('task_members')
@Index('task_members_feed', ['tenant_id', 'user_id', 'seq'], { unique: true })
@Index('task_members_gone', ['gone_at'], { where: 'gone_at IS NOT NULL' })
@Index('task_members_board', ['tenant_id', 'user_id', 'folder_id', 'position', 'task_id'], {
  where: '(role IS NOT NULL) AND (NOT trashed)',
})
@Index('task_members_agenda', ['tenant_id', 'user_id', 'due_on', 'task_id'], {
  where: '(role IS NOT NULL) AND (NOT trashed) AND open',
})
@Index('task_members_shared', ['tenant_id', 'user_id'], {
  where: "role = ANY (ARRAY['viewer'::task_role, 'editor'::task_role])",
})
@Index('task_members_days', ['tenant_id', 'user_id', 'due_on', 'task_id'], {
  where: '(role IS NOT NULL) AND (NOT trashed)',
})
export class TaskMember {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') task_id!: string;
  @PrimaryColumn('uuid') user_id!: string;
  @Column('enum', { enum: ROLES, enumName: 'task_role', nullable: true }) role!: TaskRole | null;
  @Column('uuid', { nullable: true }) folder_id!: string | null;
  @Column('bigint') seq!: string;
  @Column('smallint', { nullable: true }) gone!: number | null;
  @Column('timestamptz', { nullable: true }) gone_at!: Date | null;
  @Column('text', { nullable: true }) device_id!: string | null;
  @Column('timestamptz') listed_at!: Date;
  @Column('text') position!: string;
  @Column('date') due_on!: string;
  @Column('boolean') open!: boolean;
  @Column('boolean') assigned!: boolean;
  @Column('boolean') trashed!: boolean;
  /** The member reads entries of the history with a higher number; the owner reads all. */
  @Column('int', { default: 0 }) history_from!: number;
  /** Folders that the task has left for this member, for their synchronised lists. */
  @Column('uuid', { array: true }) left_folders!: string[];
}

/** Key of the task, for tables of its parts, which are deleted with it. */
@ForeignKey('Task', ['tenant_id', 'task_id'], ['tenant_id', 'id'], { onDelete: 'CASCADE' })
export abstract class TaskPart {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') task_id!: string;
}

@Entity('subtasks')
export class Subtask extends TaskPart {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') title!: string;
  @Column('boolean') done!: boolean;
  @Column('uuid', { nullable: true }) assignee_id!: string | null;
  @Column('date', { nullable: true }) date!: string | null;
  @Column('text') position!: string;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz') updated_at!: Date;
}

@Entity('task_comments')
export class TaskComment extends TaskPart {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid') author_id!: string;
  @Column('text') body!: string;
  @Column('timestamptz') created_at!: Date;
  @Column('timestamptz', { nullable: true }) edited_at!: Date | null;
}

/** Entry of the history of a task. Statements of task writes append it, and readers get the newest ones as JSON. */
@Entity('task_activity')
export class TaskActivity extends TaskPart {
  @PrimaryColumn('int') n!: number;
  @Column('text') type!: string;
  @Column('uuid', { nullable: true }) actor_id!: string | null;
  @Column('jsonb') data!: Record<string, unknown>;
  @Column('timestamptz') at!: Date;
}

/** An id that no new task may use. Statements insert the ids of all purged tasks at once, and the creation of a task checks them. */
@Entity('purged_tasks')
export class PurgedTask {
  @PrimaryColumn('uuid') tenant_id!: string;
  @PrimaryColumn('uuid') task_id!: string;
}

/** SQL over the row `item` of a task, with the workspace as $1: about the bytes of the task without its description. */
export const TASK_SUMMARY_BYTES = `1024 + 256 * (cardinality(item.assignee_ids) + cardinality(item.labels))
  + CASE WHEN item.refs = '[]' THEN 0 ELSE 2 * octet_length(item.refs::text) END
  + CASE WHEN item.attachments = '[]' THEN 0 ELSE octet_length(item.attachments::text) END
  + CASE WHEN item.subtasks_count = 0 THEN 0 ELSE (
      SELECT coalesce(sum(512 + octet_length(subtask.title)), 0) FROM subtasks subtask
       WHERE subtask.tenant_id = $1 AND subtask.task_id = item.id) END`;

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

/**
 * Search index entry of a task: its words, its search keys and the beginning of its description. The statements of `platform/search`,
 * which name the table, read and write it.
 */
@Entity('task_search')
export class TaskSearch extends TaskPart {
  @Column('int') revision!: number;
  @Column('uuid') audience!: string;
  @Column('smallint') rules!: number;
  @Column('tsvector') tsv!: string;
  @Column('text') beginning!: string;
}

export const tasksSchema: SchemaPart = {
  owner: 'tasks',
  publishes: ['task_titles'],
  entities: {
    workspace: [
      Task,
      TaskMember,
      Subtask,
      TaskComment,
      TaskActivity,
      TaskFolder,
      TaskFolderMember,
      TaskAttachment,
      TaskSearch,
      PurgedTask,
    ],
  },
  growth: {
    cleanedBy: { 'forget-feed-removals': ['task_folders'], 'purge-trashed-tasks': ['tasks'] },
    trimmedOnUse: { 'A write keeps the last 500 entries of a task.': ['task_activity'] },
    content: [
      'subtasks',
      'task_attachments',
      'task_comments',
      'task_folder_members',
      'task_members',
      'task_search',
    ],
    permanent: { 'The id of a purged item must not be used again (32 bytes for each).': ['purged_tasks'] },
  },
  migrations: sqlMigrations(import.meta.url, {
    Tasks1795100000001: '0001-tasks',
    TaskSearch1795100000101: '0101-task-search',
    TaskListIndexes1795100000102: '0102-task-list-indexes',
    TaskAttachments1795200000101: '0201-task-attachments',
    TaskRoles1795900000001: '0401-task-roles',
    TaskDevices1795900000002: '0402-task-devices',
    TaskFolderDevices1796200000002: '0403-task-folder-devices',
    TaskTitles1796200000003: '0404-task-titles',
    TaskHistory1798801000000: '0405-task-history',
    TaskIcalendar1798810000001: '0406-task-icalendar',
  }),
  sql: sqlFiles(
    'workspace',
    import.meta.url,
    'task-titles',
    'task-views',
    'task-feeds',
    'task-store',
    'task-folder-tree',
    'task-search',
    'release-0.1.0',
  ),
};
