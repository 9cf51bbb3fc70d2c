import type { RequestContext } from '../../platform/context/request-context.js';
import { TxHook } from '../../platform/events/tx-hooks.js';

/**
 * The events of tasks, appended to the outbox in the transaction of their cause. Each payload contains the task, its
 * revision and the user who caused it (`actor_id`; null for periodic jobs). Handlers read further fields themselves: when
 * they run, the task may be deleted.
 */
export const TaskEvents = {
  /** `repeats`: the completed task this one is the next occurrence of. */
  created: 'task.created',
  /**
   * `changed`: names of fields. The event also follows every comment, subtask and attachment, with the name of that list, and a transfer
   * with `creator`, or with `folder_owner` for the tasks of others in a transferred folder.
   */
  updated: 'task.updated',
  /** `added`, `removed`: ids of users. */
  assigned: 'task.assigned',
  /** `next_task_id`: the next occurrence, or null. Comes with `task.updated`. */
  completed: 'task.completed',
  /** `comment_id`, `recipients`: the creator, the assignees and earlier commenters who still see the task, without the author. */
  commented: 'task.commented',
  /** `remind_at`, `recipients`: the assignees, or the creator without assignees. */
  reminder: 'task.reminder',
  /** `due_at`: the moment, or the start of the due day; `date`, `recipients`. */
  due: 'task.due',
  /** At the end of the due day of an open task: `date`, `recipients`. */
  overdue: 'task.overdue',
  /** Moved to the trash, or purged without it, as `task.purged` says too: the next occurrence of a task that is open again. */
  deleted: 'task.deleted',
  restored: 'task.restored',
  purged: 'task.purged',
} as const;

/** The members of a folder changed: `folder_id`, `actor_id`, `added`, `removed`. */
export const TASK_FOLDER_SHARED = 'task_folder.shared';

/** A change of the links between one task and some notes. The row of the task is locked; no counter is. */
export interface LinkedTaskChange {
  ctx: RequestContext;
  taskId: string;
  title: string;
  createdAt: Date;
  noteIds: string[];
  /** Whether these notes link to the task from now on. */
  present: boolean;
  /** Users whose counters the rest of the transaction needs: locked together with those of the notes. */
  users: string[];
}

/** Notes update their links: when a task is created, deleted, restored or renamed, or when its references change. */
export const LINKED_TASKS_CHANGED = new TxHook<LinkedTaskChange[]>('linked tasks changed');
