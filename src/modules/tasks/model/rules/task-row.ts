import type { KeptTodo } from '../todo-values.js';
import type { Task } from '../../task.entity.js';

/** The columns of a task that its rules read and write. */
export interface TaskRow extends Pick<
  Task,
  | 'id'
  | 'creator_id'
  | 'folder_id'
  | 'title'
  | 'description'
  | 'status'
  | 'priority'
  | 'group_name'
  | 'labels'
  | 'assignee_ids'
  | 'date'
  | 'due_at'
  | 'time_zone'
  | 'overdue_at'
  | 'recurrence'
  | 'next_task_id'
  | 'reminders'
  | 'next_reminder_at'
  | 'next_due_at'
  | 'due_stage'
  | 'refs'
  | 'linked_notes'
  | 'position'
  | 'revision'
  | 'completed_at'
  | 'created_at'
  | 'updated_at'
  | 'updated_by'
  | 'deleted_at'
  | 'deleted_by'
  | 'purge_at'
  | 'uid'
  | 'subtasks_count'
  | 'comments_count'
> {
  /** What programs stored that the task has no field for. */
  icalendar: KeptTodo | null;
}

/** Index of `done` in `STATUSES`. Tasks from here on are closed. */
export const DONE = 2;
