import type { Component, Property } from '../../../lib/icalendar/index.js';
import type { StoredReminder, TaskPriority, TaskStatus, Task } from '../task.entity.js';

/** What a program stored of a task that the task has no field for. */
export interface KeptTodo {
  /** Properties of the VTODO by name. */
  properties: Record<string, Property[]>;
  /** Alarms that are no reminders of the task, or that state more than when. */
  alarms: Component[];
  /** Changed instances of a series, and time zones that are not of the IANA database. */
  others: Component[];
}

/** A task with the columns that its text depends on. */
export interface TaskResourceRow extends Pick<
  Task,
  | 'id'
  | 'revision'
  | 'uid'
  | 'title'
  | 'description'
  | 'status'
  | 'priority'
  | 'labels'
  | 'date'
  | 'time_zone'
  | 'recurrence'
  | 'reminders'
  | 'refs'
> {
  icalendar: KeptTodo | null;
  due_at: string | null;
  /** The next occurrence is a task of its own. */
  is_repeated: boolean;
  completed_at: string | null;
  created_at: string;
  updated_at: string;
}

/** The fields of a task that a VTODO expresses. */
export interface TodoValues {
  title: string;
  /** Plain text, as `plainText` of the HTML returns it; null without one. */
  description: string | null;
  status: TaskStatus;
  priority: TaskPriority;
  labels: string[];
  date: string | null;
  /** RFC 3339 in UTC; null for a day. */
  dueAt: string | null;
  /** The zone of `dueAt`; null: the text names none. */
  zone: string | null;
  /** In canonical form. */
  rrule: string | null;
  from: 'schedule' | 'completion';
  reminders: StoredReminder[];
  /** The first web address among the references. */
  url: string | null;
  /** RFC 3339 in UTC; null: the server decides. */
  createdAt: string | null;
  /** RFC 3339 in UTC. */
  completedAt: string | null;
}

/** Parts of the values, and the properties that express them. */
export const PARTS: readonly { values: readonly (keyof TodoValues)[]; names: readonly string[] }[] = [
  { values: ['title'], names: ['SUMMARY'] },
  { values: ['description'], names: ['DESCRIPTION'] },
  { values: ['status'], names: ['STATUS', 'COMPLETED', 'PERCENT-COMPLETE'] },
  { values: ['priority'], names: ['PRIORITY'] },
  { values: ['labels'], names: ['CATEGORIES'] },
  { values: ['date', 'dueAt'], names: ['DUE', 'DURATION', 'DTSTART'] },
  { values: ['rrule'], names: ['RRULE', 'RDATE', 'EXDATE', 'X-WORKSPACE-REPEAT-FROM'] },
  { values: ['url'], names: ['URL'] },
];

/** Properties that the server writes, whatever a program states. */
export const OWN_NAMES: ReadonlySet<string> = new Set(['UID', 'DTSTAMP', 'LAST-MODIFIED']);
