import { generateKeyBetween } from 'fractional-indexing';
import { v7 as uuidv7 } from 'uuid';
import type { Task, TaskRole } from '../../tasks.schema.js';
import type { KeptTodo } from '../todo-values.js';

/** Whether a role in a task folder, or in a task, is one that writes. @param role null without access */
export const mayWrite = (role: TaskRole | null): boolean => role !== null && role !== 'viewer';

/** A time as PostgreSQL reads it. The end of 9999-12-31 is in the year 10000, which ISO 8601 writes with a sign. */
export const timestampText = (time: Date | null): string | null =>
  time && time.toISOString().replace(/^\+0/, '');

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

/** An event of a task; the payload has these members after those of all events. */
export interface TaskEvent {
  type: string;
  data: Record<string, unknown>;
}

/** Events of a task as the outbox stores them. @param actorId null: a periodic job */
export const listEvents = (
  { id: task_id, revision }: Pick<TaskRow, 'id' | 'revision'>,
  actor_id: string | null,
  events: readonly TaskEvent[],
) =>
  events.map(({ type, data }) => ({ id: uuidv7(), type, payload: { task_id, revision, actor_id, ...data } }));

/** A task as it is after a write, with its entry of the history and its events. */
export interface TaskChange {
  task: TaskRow;
  activity: { type: string; data: Record<string, unknown> };
  events: TaskEvent[];
  /** Notes whose links change; null for none. */
  links: { present: string[]; removed: string[] } | null;
  /** The next occurrence, which is stored before the task. */
  next: TaskChange | null;
  /** The next occurrence of a task that is no longer done, which is purged. */
  withdrawn?: TaskRow;
  /** The write may end the access of the caller, who still receives its result. */
  isLastView: boolean;
}

/** Keys for the end of a list in manual order, in the form of the library `fractional-indexing`. */

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = DIGITS.length;
/** Digits of the time in milliseconds. */
const TIME_DIGITS = 8;
/** Digits with which the fraction counts behind the largest whole number. */
const COUNT_DIGITS = 8;
/** The largest whole number of a key. */
const LARGEST_NUMBER = 'z'.repeat(27);

/**
 * A key for the end of a list: the time in base 62, so that tasks added at the same moment do not wait for one another; two random
 * digits keep them apart. `h` announces eight digits before the fraction.
 * @param last the last key of the list. When it is in the future (a task was moved behind it, or the clock went back), the new key
 *   still follows it
 * @param random from 0 to 1, as of `Math.random`
 */
export function positionAfter(last: string | null, now: Date, random: () => number = Math.random): string {
  let time = now.getTime();
  let digits = '';
  for (let n = 0; n < TIME_DIGITS; n += 1) {
    digits = digitOf(time % BASE) + digits;
    time = Math.floor(time / BASE);
  }
  // The last digit of a fraction is not `0`.
  const key = `h${digits}${digitOf(Math.floor(random() * BASE))}${digitOf(1 + Math.floor(random() * (BASE - 1)))}`;
  return last !== null && last >= key ? positionBeyond(last) : key;
}

/**
 * A key after another one: the next whole number. After the largest one, the fraction counts in eight digits behind its leading `z`; the
 * library would lengthen it every few tasks.
 * @param last a key of the library from `a0` on
 */
export function positionBeyond(last: string): string {
  if (!last.startsWith(LARGEST_NUMBER)) return generateKeyBetween(last, null);
  const fraction = last.slice(LARGEST_NUMBER.length);
  const rest = fraction.replace(/^z+/, '');
  const count = rest.slice(0, COUNT_DIGITS).padEnd(COUNT_DIGITS, '0');
  // The library counts numbers of eight digits behind an `h`. The last digit of a fraction is not `0`.
  const next = generateKeyBetween(`h${count}`, null).slice(1).replace(/0$/, '1');
  return LARGEST_NUMBER + 'z'.repeat(fraction.length - rest.length) + next;
}

const digitOf = (value: number): string => DIGITS.charAt(value);
