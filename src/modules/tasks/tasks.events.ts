import type { RequestContext } from '../../platform/context/request-context.js';
import { TxHook } from '../../platform/events/tx-hooks.js';

/**
 * The events of tasks, appended to the outbox in the transaction of their cause. Each payload names the task, its
 * revision and who did it (`actor_id`, null when the clock did). Handlers look up what they need further: by the time
 * they run, the task may be gone.
 */
export const TaskEvents = {
  /** `repeats`: the completed task this one is the next occurrence of. */
  created: 'task.created',
  /** `changed`: names of fields. Also after every comment, subtask and attachment, with the name of that list. */
  updated: 'task.updated',
  /** `added`, `removed`: ids of people. */
  assigned: 'task.assigned',
  /** `next_task_id`: the next occurrence, or null. Comes with `task.updated`. */
  completed: 'task.completed',
  /** `comment_id`, `recipients`: creator, assignees and earlier commenters who still see the task, without the author. */
  commented: 'task.commented',
  /** `remind_at`, `recipients`: the assignees, or the creator when nobody is assigned. */
  reminder: 'task.reminder',
  /** `due_at`: the moment, or the beginning of the day it is due on; `date`, `recipients`. */
  due: 'task.due',
  /** At the end of the day it was due on, when it is still open: `date`, `recipients`. */
  overdue: 'task.overdue',
  /** To the trash. */
  deleted: 'task.deleted',
  restored: 'task.restored',
  purged: 'task.purged',
} as const;

export interface TaskEventPayload {
  task_id: string;
  revision: number;
  actor_id: string | null;
}

export interface TaskAssignedPayload extends TaskEventPayload {
  added: string[];
  removed: string[];
}

export interface TaskCommentedPayload extends TaskEventPayload {
  comment_id: string;
  recipients: string[];
}

export interface TaskReminderPayload extends TaskEventPayload {
  remind_at: string;
  recipients: string[];
}

export interface TaskDuePayload extends TaskEventPayload {
  date: string;
  due_at: string;
  recipients: string[];
}

/** A folder got or lost members: `folder_id`, `actor_id`, `added`, `removed`. */
export const TASK_FOLDER_SHARED = 'task_folder.shared';

/** A task that notes link back to, in a transaction that changes it. Its row is locked, no counter is. */
export interface LinkedTaskChange {
  ctx: RequestContext;
  taskId: string;
  title: string;
  createdAt: Date;
  noteIds: string[];
  /** Whether the links are to be there from now on, with this title, or not. */
  present: boolean;
  /** Whose counters the rest of the transaction will need: to be locked together with those of the notes. */
  people: string[];
}

/** Notes put their links back to tasks in order: when a task is deleted, restored or renamed. */
export const LINKED_TASKS_CHANGED = new TxHook<LinkedTaskChange[]>('linked tasks changed');
