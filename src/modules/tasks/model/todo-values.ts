import {
  type CalendarZones,
  type Component,
  component,
  ICalendarError,
  parameterOf,
  parseDuration,
  type Property,
  propertyOf,
  textOf,
  timesOf,
} from '../../../lib/icalendar/index.js';
import { DAY, RecurrenceError, Zone } from '../../../lib/recurrence/index.js';
import type { StoredReminder, Task, TaskPriority, TaskStatus } from '../tasks.schema.js';
import type { SeriesPlace } from './task-recurrence.js';

const CALENDAR_DAY = /^\d{4}-\d\d-\d\d$/;

/** Whether the value is a calendar day `YYYY-MM-DD` from 1900 to 9999. `2026-02-30` is not. */
export function isCalendarDay(value: unknown): value is string {
  if (typeof value !== 'string' || !CALENDAR_DAY.test(value) || value < '1900') return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

/** What a program stored of a task that the task has no field for. */
export interface KeptTodo {
  /** Properties of the VTODO by name. */
  properties: Record<string, Property[]>;
  /** Alarms that are no reminders of the task, or that state more than when. */
  alarms: Component[];
  /** Changed instances of a series, and time zones that are not of the IANA database. */
  others: Component[];
}

/** The VTODO of what a program stored of a task. */
export const storedTodo = ({ properties }: Pick<KeptTodo, 'properties'>): Component =>
  component('VTODO', Object.values(properties).flat());

/** Whether a component is a changed instance of a series. */
export const isInstance = ({ name }: Component): boolean => name === 'VTODO';

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
  /** The rule in canonical form. */
  rrule: string | null;
  from: 'schedule' | 'completion';
  reminders: StoredReminder[];
  /** The first web address among the references. */
  url: string | null;
  /** RFC 3339 in UTC; null: the server decides. */
  createdAt: string | null;
  /** RFC 3339 in UTC. */
  completedAt: string | null;
  /** Of a series whose date is not that of its first instance. */
  place: SeriesPlace | null;
  /** Whether the instances of the series are all closed, each by itself. */
  isOver: boolean;
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

/** Reminders of a task. Of a program, further alarms are kept in the text only. */
export const MAX_REMINDERS = 10;
const MAX_MINUTES = 366 * 24 * 60;
/** Actions that a reminder can replace. */
const SHOWN_ACTIONS: ReadonlySet<string> = new Set(['DISPLAY', 'AUDIO']);

/** How the times of a text are read. */
export interface TodoClock {
  zones: CalendarZones;
  /** The zone of times that name none, and of days: that of the task, or of the program that asks. */
  zone: string;
  /** The zone of the task, which decides on which day a series of days ends whose rule states a time in UTC. */
  taskZone: string;
}

/** A day or a time. `wall` and `instant` are in seconds; the instant of a day is its midnight. */
export interface Moment {
  isDate: boolean;
  /** The text states it in UTC. */
  isUtc: boolean;
  wall: number;
  instant: number;
  /** The zone that the text names, of the IANA database. */
  zone: string | null;
}

/** A property with the first of its values. */
export const firstOf = (property: Property): Property => ({
  ...property,
  value: property.value.split(',', 1)[0] as string,
});

/** The first time of a property. @throws ICalendarError */
export const momentOf = (property: Property, clock: TodoClock): Moment | null =>
  momentsOf(firstOf(property), clock)[0] ?? null;

/** The times of a property; of periods, their starts. @throws ICalendarError */
export function momentsOf(property: Property, { zones, zone }: TodoClock): Moment[] {
  const tzid = parameterOf(property, 'TZID');
  return timesOf(property).map(({ kind, wall }) => {
    if (kind === 'utc') return { isDate: false, isUtc: true, wall, instant: wall, zone: null };
    if (kind === 'date')
      return { isDate: true, isUtc: false, wall, instant: Zone.of(zone).toInstant(wall), zone: null };
    const found = tzid === undefined ? null : zones.resolve(tzid, wall);
    const named = found && (found.kind === 'iana' ? found.name : found.nearest);
    // A series has the clock of this zone: the names of its instances are read on the same one.
    return {
      isDate: false,
      isUtc: false,
      wall,
      instant: Zone.of(named ?? zone).toInstant(wall),
      zone: named,
    };
  });
}

/** Whether an error is about what a program wrote. */
export const isUnreadable = (error: unknown): boolean =>
  error instanceof ICalendarError || error instanceof RecurrenceError;

/** The result of reading a stored property; null for one that cannot be read. */
export function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (isUnreadable(error)) return null;
    throw error;
  }
}

/** The wall time that decides the day of a task: a time in UTC is one of the zone of the task. */
export const wallOf = ({ isDate, wall, instant, zone }: Moment, clock: TodoClock): number =>
  isDate || zone !== null ? wall : Zone.of(clock.zone).toWall(instant);

/** DTSTART. @throws ICalendarError */
export function startOf(todo: Component, clock: TodoClock): Moment | null {
  const start = propertyOf(todo, 'DTSTART');
  return start ? momentOf(start, clock) : null;
}

/** DUE, or the end of DTSTART and DURATION (RFC 5545, 3.6.2). @throws ICalendarError */
export function dueOf(todo: Component, clock: TodoClock): Moment | null {
  const due = propertyOf(todo, 'DUE');
  if (due) return momentOf(due, clock);
  const start = startOf(todo, clock);
  const length = propertyOf(todo, 'DURATION');
  if (!start || !length) return null;
  const { days, seconds } = parseDuration(length.value);
  const wall = start.wall + days * DAY + (start.isDate ? Math.floor(seconds / DAY) * DAY : 0);
  if (start.isDate) return { ...start, wall, instant: Zone.of(clock.zone).toInstant(wall) };
  // Days are nominal, seconds exact.
  const shifted = start.isUtc ? wall : Zone.of(start.zone ?? clock.zone).toInstant(wall);
  return { ...start, wall: wall + seconds, instant: shifted + seconds };
}

/** Whether a task is due before its start, as a task must not be (RFC 5545, 3.8.2.3). A day lasts until its end. */
export const isDueBefore = (due: Moment, start: Moment): boolean =>
  due.isDate && !start.isDate ? due.instant + DAY <= start.instant : due.instant < start.instant;

/**
 * The reminder that an alarm means; null for an alarm of another kind. Without DTSTART, a trigger is relative to DUE: programs write it
 * so for tasks that have no start.
 * @throws ICalendarError
 */
export function reminderOf(alarm: Component, todo: Component, clock: TodoClock): StoredReminder | null {
  const trigger = propertyOf(alarm, 'TRIGGER');
  if (!trigger || !SHOWN_ACTIONS.has((textOf(alarm, 'ACTION') ?? 'DISPLAY').toUpperCase())) return null;
  if (/^\s*\d{8}T/i.test(trigger.value)) {
    const at = momentOf(trigger, clock);
    return at && { at: instantText(at.instant) };
  }
  if (!/^\s*[+-]?P/i.test(trigger.value)) return null;
  const { days, seconds } = parseDuration(trigger.value, 'TRIGGER');
  const before = -(days * DAY + seconds) || 0;
  const start = startOf(todo, clock);
  const isEnd = parameterOf(trigger, 'RELATED')?.toUpperCase() === 'END';
  if (!isEnd && start && start.instant !== dueOf(todo, clock)?.instant)
    return { at: instantText(start.instant - before) };
  if (before < 0 || before % 60 !== 0 || before / 60 > MAX_MINUTES) return null;
  return { minutes_before: before / 60 };
}

/** RFC 3339 in UTC, with milliseconds. @param instant seconds */
export const instantText = (instant: number): string => new Date(instant * 1000).toISOString();
