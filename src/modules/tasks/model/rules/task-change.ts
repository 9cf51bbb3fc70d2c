import type { TaskRow } from './task-row.js';

/** An event of a task; the payload has these members after those of all events. */
export interface TaskEvent {
  type: string;
  data: Record<string, unknown>;
}

/** A task as it is after a write, with its entry of the history and its events. */
export interface TaskChange {
  task: TaskRow;
  activity: { type: string; data: Record<string, unknown> };
  events: TaskEvent[];
  /** Notes whose links change; null for none. */
  links: { present: string[]; removed: string[] } | null;
  /** The next occurrence, which is stored before the task. */
  next: TaskChange | null;
  /** The next occurrence of a task that is no longer done, which goes to the trash. */
  withdrawn?: TaskRow;
  /** The write may end the access of the caller, who still receives its result. */
  isLastView: boolean;
}
