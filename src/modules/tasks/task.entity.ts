import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { TimedItem } from '../../platform/database/schema/item.entity.js';

/** Statuses and priorities as in the API; the database stores their index. */
export const STATUSES = ['open', 'in_progress', 'done', 'cancelled'] as const;
export const PRIORITIES = ['none', 'low', 'normal', 'medium', 'high', 'urgent', 'critical'] as const;

/** In ascending order: each role includes those before it. */
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
  /** Place of this occurrence, from 1, where intervals count from completions. */
  number?: number;
}

export type StoredReminder = { at: string } | { minutes_before: number };

@Entity('tasks')
@Index('tasks_folder', ['tenantId', 'folderId'], { where: 'folder_id IS NOT NULL' })
@Index('tasks_by_title', ['tenantId', 'creatorId', 'title', 'id'])
@Index('tasks_uid', ['tenantId', 'uid'], { where: 'uid IS NOT NULL' })
@Index('tasks_purge_due', ['purgeAt'], { where: 'purge_at IS NOT NULL' })
@Index('tasks_reminder_due', ['nextReminderAt'], { where: 'next_reminder_at IS NOT NULL' })
@Index('tasks_due', ['nextDueAt'], { where: 'next_due_at IS NOT NULL' })
export class Task extends TimedItem {
  @Column('uuid', { name: 'creator_id' }) creatorId!: string;
  @Column('uuid', { name: 'folder_id', nullable: true }) folderId!: string | null;
  @Column('text') title!: string;
  @Column('text', { nullable: true }) description!: string | null;
  @Column('smallint') status!: number;
  @Column('smallint') priority!: number;
  @Column('text', { name: 'group_name', nullable: true }) groupName!: string | null;
  @Column('text', { array: true }) labels!: string[];
  @Column('uuid', { name: 'assignee_ids', array: true }) assigneeIds!: string[];
  @Column('date', { nullable: true }) date!: string | null;
  @Column('timestamptz', { name: 'due_at', nullable: true }) dueAt!: Date | null;
  @Column('text', { name: 'time_zone' }) timeZone!: string;
  @Column('timestamptz', { name: 'overdue_at', nullable: true }) overdueAt!: Date | null;
  @Column('jsonb', { nullable: true }) recurrence!: StoredRecurrence | null;
  @Column('uuid', { name: 'next_task_id', nullable: true }) nextTaskId!: string | null;
  @Column('jsonb') reminders!: StoredReminder[];
  @Column('timestamptz', { name: 'next_reminder_at', nullable: true }) nextReminderAt!: Date | null;
  @Column('timestamptz', { name: 'next_due_at', nullable: true }) nextDueAt!: Date | null;
  @Column('smallint', { name: 'due_stage' }) dueStage!: number;
  @Column('jsonb') refs!: StoredReference[];
  @Column('uuid', { name: 'linked_notes', array: true }) linkedNotes!: string[];
  @Column('jsonb') attachments!: unknown[];
  @Column('int', { name: 'subtasks_count' }) subtasksCount!: number;
  @Column('int', { name: 'comments_count' }) commentsCount!: number;
  @Column('int', { name: 'activity_count' }) activityCount!: number;
  @Column('text') position!: string;
  @Column('int') revision!: number;
  @Column('timestamptz', { name: 'completed_at', nullable: true }) completedAt!: Date | null;
  @Column('uuid', { name: 'updated_by' }) updatedBy!: string;
  @Column('timestamptz', { name: 'deleted_at', nullable: true }) deletedAt!: Date | null;
  @Column('uuid', { name: 'deleted_by', nullable: true }) deletedBy!: string | null;
  @Column('timestamptz', { name: 'purge_at', nullable: true }) purgeAt!: Date | null;
  /** The UID that a CalDAV program chose; null: the id. */
  @Column('text', { nullable: true }) uid!: string | null;
  /** What a program stored that the task has no field for. */
  @Column('jsonb', { nullable: true }) icalendar!: object | null;
}

@Entity('task_members')
@Index('task_members_feed', ['tenantId', 'userId', 'seq'], { unique: true })
@Index('task_members_gone', ['goneAt'], { where: 'gone_at IS NOT NULL' })
@Index('task_members_board', ['tenantId', 'userId', 'folderId', 'position', 'taskId'], {
  where: '(role IS NOT NULL) AND (NOT trashed)',
})
@Index('task_members_agenda', ['tenantId', 'userId', 'dueOn', 'taskId'], {
  where: '(role IS NOT NULL) AND (NOT trashed) AND open',
})
@Index('task_members_shared', ['tenantId', 'userId'], {
  where: "role = ANY (ARRAY['viewer'::task_role, 'editor'::task_role])",
})
@Index('task_members_days', ['tenantId', 'userId', 'dueOn', 'taskId'], {
  where: '(role IS NOT NULL) AND (NOT trashed)',
})
export class TaskMember {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'task_id' }) taskId!: string;
  @PrimaryColumn('uuid', { name: 'user_id' }) userId!: string;
  @Column('enum', { enum: ROLES, enumName: 'task_role', nullable: true }) role!: TaskRole | null;
  @Column('uuid', { name: 'folder_id', nullable: true }) folderId!: string | null;
  @Column('bigint') seq!: string;
  @Column('smallint', { nullable: true }) gone!: number | null;
  @Column('timestamptz', { name: 'gone_at', nullable: true }) goneAt!: Date | null;
  @Column('text', { name: 'device_id', nullable: true }) deviceId!: string | null;
  @Column('timestamptz', { name: 'listed_at' }) listedAt!: Date;
  @Column('text') position!: string;
  @Column('date', { name: 'due_on' }) dueOn!: string;
  @Column('boolean') open!: boolean;
  @Column('boolean') assigned!: boolean;
  @Column('boolean') trashed!: boolean;
  /** The member reads entries of the history with a higher number; the owner reads all. */
  @Column('int', { name: 'history_from', default: 0 }) historyFrom!: number;
  /** Folders that the task has left for this member, for their synchronised lists. */
  @Column('uuid', { name: 'left_folders', array: true }) leftFolders!: string[];
}

/** Key of the task, for tables of its parts, which are deleted with it. */
@ForeignKey('Task', ['tenantId', 'taskId'], ['tenantId', 'id'], { onDelete: 'CASCADE' })
export abstract class TaskPart {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'task_id' }) taskId!: string;
}

@Entity('subtasks')
export class Subtask extends TaskPart {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') title!: string;
  @Column('boolean') done!: boolean;
  @Column('uuid', { name: 'assignee_id', nullable: true }) assigneeId!: string | null;
  @Column('date', { nullable: true }) date!: string | null;
  @Column('text') position!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

@Entity('task_comments')
export class TaskComment extends TaskPart {
  @PrimaryColumn('uuid') id!: string;
  @Column('uuid', { name: 'author_id' }) authorId!: string;
  @Column('text') body!: string;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'edited_at', nullable: true }) editedAt!: Date | null;
}

@Entity('task_activity')
export class TaskActivity extends TaskPart {
  @PrimaryColumn('int') n!: number;
  @Column('text') type!: string;
  @Column('uuid', { name: 'actor_id', nullable: true }) actorId!: string | null;
  @Column('jsonb') data!: Record<string, unknown>;
  @Column('timestamptz') at!: Date;
}

/** An id that no new task may use. */
@Entity('purged_tasks')
export class PurgedTask {
  @PrimaryColumn('uuid', { name: 'tenant_id' }) tenantId!: string;
  @PrimaryColumn('uuid', { name: 'task_id' }) taskId!: string;
}

/** SQL over the row `item` of a task, with the workspace as $1: about the bytes of the task without its description. */
export const TASK_SUMMARY_BYTES = `1024 + 256 * (cardinality(item.assignee_ids) + cardinality(item.labels))
  + CASE WHEN item.refs = '[]' THEN 0 ELSE 2 * octet_length(item.refs::text) END
  + CASE WHEN item.attachments = '[]' THEN 0 ELSE octet_length(item.attachments::text) END
  + CASE WHEN item.subtasks_count = 0 THEN 0 ELSE (
      SELECT coalesce(sum(512 + octet_length(subtask.title)), 0) FROM subtasks subtask
       WHERE subtask.tenant_id = $1 AND subtask.task_id = item.id) END`;
