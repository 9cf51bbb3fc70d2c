import { DAY, formatDay, parseWallTime, readableZone, Zone } from '../../../../lib/recurrence/index.js';
import type { StoredReminder } from '../../tasks.schema.js';
import { DONE, type TaskRow } from './task-row.js';

/** The moments at which events of a task are due, by the time zones of Node (adr/0065). */

/** The columns that the moments of a task depend on. */
export type TimedTask = Pick<
  TaskRow,
  'status' | 'date' | 'due_at' | 'time_zone' | 'reminders' | 'deleted_at'
>;

/** The columns that state the moments of a task. */
export type Moments = Pick<TaskRow, 'overdue_at' | 'next_due_at' | 'due_stage' | 'next_reminder_at'>;

/** What the time of a due moment does to a task: its event, and the next moment. */
export interface DueEvent {
  type: 'task.due' | 'task.overdue';
  data: { date: string | null; due_at?: string };
  next: Pick<TaskRow, 'next_due_at' | 'due_stage'>;
}

const MINUTE_MS = 60_000;

const zoneOf = (name: string): Zone => Zone.of(readableZone(name));

/** The instant of a wall time. @param wall seconds, with a fraction where the time has milliseconds */
export const instantIn = (zone: string, wall: number): Date =>
  new Date(Math.round(zoneOf(zone).toInstant(wall) * 1000));

const FIRST_WALL = midnightOf('1900-01-01');
const LAST_WALL = midnightOf('9999-12-31') + DAY - 1;

/** A wall time in the years that clients can send: in another time zone, the first and the last moments are not in them. */
export const boundWall = (wall: number): number => Math.min(Math.max(wall, FIRST_WALL), LAST_WALL);

/** The wall time of an instant, in seconds. */
export const wallIn = (zone: string, at: Date): number => boundWall(zoneOf(zone).toWall(at.getTime() / 1000));

/** The day of a wall time. */
export const dayOfWall = (wall: number): string => formatDay(Math.floor(wall / DAY));

/** Midnight of a day, as a wall time in seconds. */
export function midnightOf(date: string): number {
  const wall = parseWallTime(date);
  if (wall === null) throw new RangeError(`Not a day: ${date}`);
  return wall;
}

/** The start of the due day, or that of a later day. */
const startOfDay = ({ date, time_zone: zone }: TimedTask, later = 0): Date | null =>
  date === null ? null : instantIn(zone, midnightOf(date) + later * DAY);

const dueOf = (task: TimedTask): Date | null => task.due_at ?? startOfDay(task);

/** The first reminder after a moment. Reminders relative to a due date do not exist without one. */
export function nextReminder(task: TimedTask, after: Date): Date | null {
  const due = task.reminders.length === 0 ? null : dueOf(task);
  const times = task.reminders
    .flatMap((reminder) => timeOf(reminder, due) ?? [])
    .filter((time) => time > after.getTime());
  return times.length === 0 ? null : new Date(Math.min(...times));
}

function timeOf(reminder: StoredReminder, due: Date | null): number | null {
  if ('at' in reminder) return new Date(reminder.at).getTime();
  return due && due.getTime() - reminder.minutes_before * MINUTE_MS;
}

/** The moments of the next events: none when the task is closed or in the trash. */
export function momentsOf(task: TimedTask, now: Date): Moments {
  const overdue_at = task.due_at ?? startOfDay(task, 1);
  if (task.status >= DONE || task.deleted_at !== null)
    return { overdue_at, next_due_at: null, due_stage: 0, next_reminder_at: null };
  const next_reminder_at = nextReminder(task, now);
  const due = dueOf(task);
  if (due && due > now) return { overdue_at, next_due_at: due, due_stage: 1, next_reminder_at };
  const passed = startOfDay(task, 1);
  if (passed && passed > now) return { overdue_at, next_due_at: passed, due_stage: 2, next_reminder_at };
  return { overdue_at, next_due_at: null, due_stage: 0, next_reminder_at };
}

/**
 * The moments of a task by rules of time zones that have changed. A reminder that is due stays due, and a due date that has passed by
 * the new rules is reported as any other.
 * @returns null when they are the same
 */
export function followedMoments(task: TimedTask & Moments, now: Date): Moments | null {
  const followed = momentsOf(task, now);
  if (task.next_reminder_at && task.next_reminder_at <= now)
    followed.next_reminder_at = task.next_reminder_at;
  if (task.due_stage === 1 && followed.due_stage !== 1) {
    followed.due_stage = 1;
    followed.next_due_at = dueOf(task);
  }
  const names = ['overdue_at', 'next_due_at', 'due_stage', 'next_reminder_at'] as const;
  return names.some((name) => followed[name]?.valueOf() !== task[name]?.valueOf()) ? followed : null;
}

/** The event of a due date, or of one that has passed. */
export function passDue(task: TimedTask & Moments): DueEvent {
  const { date, next_due_at: at } = task;
  if (task.due_stage !== 1)
    return { type: 'task.overdue', data: { date }, next: { next_due_at: null, due_stage: 0 } };
  return {
    type: 'task.due',
    data: { date, due_at: at?.toISOString() },
    next: { next_due_at: startOfDay(task, 1), due_stage: 2 },
  };
}

/** The users whom an event of the clock concerns. */
export const recipientsOf = ({ assignee_ids, creator_id }: Pick<TaskRow, 'assignee_ids' | 'creator_id'>) =>
  assignee_ids.length === 0 ? [creator_id] : assignee_ids;
