import type { StoredRecurrence, StoredReference, StoredReminder } from '../../task.entity.js';
import type { KeptTodo } from '../todo-values.js';

/** The columns of a task that its rules read and write. */
export interface TaskRow {
  id: string;
  creator_id: string;
  folder_id: string | null;
  title: string;
  description: string | null;
  /** Index in `STATUSES`. */
  status: number;
  /** Index in `PRIORITIES`. */
  priority: number;
  group_name: string | null;
  labels: string[];
  assignee_ids: string[];
  /** The day it is due in its time zone; that of `due_at` where the task has an hour. */
  date: string | null;
  due_at: Date | null;
  time_zone: string;
  /** When the task is overdue: `due_at`, or the end of its day. */
  overdue_at: Date | null;
  recurrence: StoredRecurrence | null;
  /** The task that was created when this one was completed. */
  next_task_id: string | null;
  reminders: StoredReminder[];
  next_reminder_at: Date | null;
  /** The moment of the next event about the due date. `due_stage`: 1 when it is due, 2 when it is overdue, 0 without an event. */
  next_due_at: Date | null;
  due_stage: number;
  refs: StoredReference[];
  /** Notes that have a link back to the task. */
  linked_notes: string[];
  position: string;
  revision: number;
  completed_at: Date | null;
  created_at: Date;
  updated_at: Date;
  updated_by: string;
  deleted_at: Date | null;
  deleted_by: string | null;
  purge_at: Date | null;
  uid: string | null;
  /** What programs stored that the task has no field for. */
  icalendar: KeptTodo | null;
  subtasks_count: number;
  comments_count: number;
}

/** Index of `done` in `STATUSES`. Tasks from here on are closed. */
export const DONE = 2;
