import { plainText } from '../../../lib/html/index.js';
import {
  component,
  type Component,
  escapeText,
  formatDuration,
  formatTime,
  property,
  type Property,
} from '../../../lib/icalendar/index.js';
import { DAY, parseWallTime, Zone } from '../../../lib/recurrence/index.js';
import {
  PRIORITIES,
  STATUSES,
  type StoredReminder,
  type TaskPriority,
  type TaskStatus,
} from '../tasks.schema.js';
import { boundWall } from './rules/task-times.js';
import { remainingRule } from './task-recurrence.js';
import type { TaskResourceRow, TodoValues } from './todo-values.js';

/** Numbers of RFC 5545, 3.8.1.9; missing: no PRIORITY. */
const NUMBERS: Readonly<Partial<Record<TaskPriority, string>>> = {
  critical: '1',
  urgent: '2',
  high: '3',
  medium: '5',
  low: '9',
};

/** Whether programs, which have three levels and none, show two priorities as the same one. */
export const isSameLevel = (one: TaskPriority, other: TaskPriority): boolean =>
  levelOf(one) === levelOf(other);

function levelOf(priority: TaskPriority): TaskPriority {
  if (priority === 'critical' || priority === 'urgent') return 'high';
  return priority === 'none' ? 'normal' : priority;
}

const STATUS_TEXTS: Readonly<Record<TaskStatus, string>> = {
  open: 'NEEDS-ACTION',
  in_progress: 'IN-PROCESS',
  done: 'COMPLETED',
  cancelled: 'CANCELLED',
};

/** The values of a task. A completed task whose next occurrence exists does not repeat: programs would show its instances twice. */
export function valuesOf(row: TaskResourceRow): TodoValues {
  const rule = row.is_repeated ? null : row.recurrence;
  return {
    title: row.title,
    description: row.description === null ? null : plainText(row.description) || null,
    status: STATUSES[row.status] as TaskStatus,
    priority: PRIORITIES[row.priority] as TaskPriority,
    labels: row.labels,
    date: row.date,
    dueAt: row.due_at,
    zone: row.time_zone,
    rrule: rule && remainingRule({ ...rule, timeZone: row.time_zone, isTimed: row.due_at !== null }),
    from: rule?.from ?? 'schedule',
    reminders: row.reminders,
    url: row.refs.find(({ type }) => type === 'url')?.url ?? null,
    createdAt: row.created_at,
    completedAt: row.completed_at,
    place: null,
    isOver: false,
  };
}

/** Seconds of RFC 3339 text, without the fraction. */
const secondsOf = (text: string): number => Math.floor(Date.parse(text) / 1000);

export const utcTime = (text: string): string => formatTime({ kind: 'utc', wall: secondsOf(text) });

/** The properties that state these values. */
export function propertiesFor(values: TodoValues): Property[] {
  const { title, description, status, priority, labels, rrule, url, createdAt, completedAt } = values;
  const number = NUMBERS[priority];
  const due = timeProperty('DUE', values);
  return [
    ...(createdAt === null ? [] : [property('CREATED', utcTime(createdAt))]),
    property('SUMMARY', escapeText(title)),
    ...(description === null ? [] : [property('DESCRIPTION', escapeText(description))]),
    property('STATUS', STATUS_TEXTS[status]),
    ...(status === 'done' && completedAt !== null ? [property('COMPLETED', utcTime(completedAt))] : []),
    ...(number === undefined ? [] : [property('PRIORITY', number)]),
    ...(labels.length === 0 ? [] : [property('CATEGORIES', labels.map(escapeText).join(','))]),
    ...due,
    // A rule needs a start (RFC 5545, 3.8.5.3).
    ...(rrule === null ? [] : [...timeProperty('DTSTART', values), property('RRULE', rrule)]),
    ...(rrule !== null && values.from === 'completion'
      ? [property('X-WORKSPACE-REPEAT-FROM', 'COMPLETION')]
      : []),
    ...(url === null ? [] : [property('URL', url)]),
  ];
}

/** DUE or DTSTART; empty without a date. */
export function timeProperty(
  name: string,
  { date, dueAt, zone }: Pick<TodoValues, 'date' | 'dueAt' | 'zone'>,
): Property[] {
  if (dueAt === null) {
    const wall = date === null ? null : parseWallTime(date);
    if (wall === null) return [];
    return [
      property(name, formatTime({ kind: 'date', wall: Math.floor(wall / DAY) * DAY }), { VALUE: 'DATE' }),
    ];
  }
  const instant = secondsOf(dueAt);
  if (zone === null || zone === 'UTC') return [property(name, formatTime({ kind: 'utc', wall: instant }))];
  const wall = boundWall(Zone.of(zone).toWall(instant));
  return [property(name, formatTime({ kind: 'local', wall }), { TZID: zone })];
}

/** The alarm of a reminder. Relative ones refer to DUE. */
export function alarmFor(reminder: StoredReminder): Component {
  const trigger =
    'at' in reminder
      ? property('TRIGGER', utcTime(reminder.at), { VALUE: 'DATE-TIME' })
      : property('TRIGGER', relative(reminder.minutes_before), { RELATED: 'END' });
  return component('VALARM', [property('ACTION', 'DISPLAY'), property('DESCRIPTION', 'Reminder'), trigger]);
}

const relative = (minutes: number): string => formatDuration({ days: 0, seconds: -minutes * 60 });

/** What two reminders have in common when they are the same: seconds of the moment, or minutes. */
export const reminderKey = (reminder: StoredReminder): string =>
  'at' in reminder ? `at ${secondsOf(reminder.at)}` : `before ${reminder.minutes_before}`;
