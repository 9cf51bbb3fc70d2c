import { isDeepStrictEqual } from 'node:util';
import { HTML_DESCRIPTIONS } from '../../../../lib/icalendar/index.js';
import {
  DAY,
  formatWallTime,
  namesDays,
  parseRule,
  parseWallTime,
  readableZone,
} from '../../../../lib/recurrence/index.js';
import {
  PRIORITIES,
  STATUSES,
  type StoredRecurrence,
  type StoredReference,
  type StoredReminder,
} from '../../tasks.schema.js';
import type { SeriesPlace } from '../task-recurrence.js';
import { seriesClock } from '../todo-instances.js';
import { clockOf } from '../todo-reader.js';
import { type HourChange, keptByDay, keptAtHour, SERIES_NAMES, withEndAfter } from '../todo-series.js';
import { isInstance, type KeptTodo, storedTodo } from '../todo-values.js';
import { DONE, type TaskRow } from './task-row.js';
import { boundWall, dayOfWall, instantIn, midnightOf, wallIn } from './task-times.js';

/** The fields that a request writes, checked; missing fields stay. */
export interface TaskPatch {
  title?: string;
  description?: string | null;
  /** Index in `STATUSES`. */
  status?: number;
  /** A task that is done is open again. */
  reopen?: true;
  /** When a program completed the task; missing: now. */
  completed_at?: Date;
  /** Index in `PRIORITIES`. */
  priority?: number;
  group?: string | null;
  labels?: string[];
  assignee_ids?: string[];
  date?: string | null;
  due_at?: Date | null;
  time_zone?: string;
  /** With `start` and `scheduled`, the place of the task in a series that started before. */
  recurrence?: (Pick<StoredRecurrence, 'rrule' | 'from'> & Partial<SeriesPlace>) | null;
  reminders?: StoredReminder[];
  refs?: StoredReference[];
  /** The notes among the references that the caller may edit. */
  linkable_notes?: string[];
  folder_id?: string | null;
  position?: string;
  /** The task moves to the end of the manual order. */
  last?: true;
  uid?: string;
  icalendar?: KeptTodo | null;
}

/** The earliest time that a task states. */
export const MIN_DUE = new Date('1900-01-01T00:00:00Z');
const MAX_DUE = new Date('9999-12-31T23:59:59.999Z');

/** Applies a patch without its folder. Notes among the references link back when they did before or when the caller may edit them. */
export function mergeTask(task: TaskRow, patch: TaskPatch): TaskRow {
  const merged: TaskRow = {
    ...task,
    ...mergeTimes(task, patch),
    title: patch.title ?? task.title,
    description: patch.description === undefined ? task.description : patch.description,
    status: patch.reopen && task.status === DONE ? 0 : (patch.status ?? task.status),
    priority: patch.priority ?? task.priority,
    group_name: patch.group === undefined ? task.group_name : patch.group,
    labels: patch.labels ?? task.labels,
    assignee_ids: patch.assignee_ids ?? task.assignee_ids,
    reminders: patch.reminders ?? task.reminders,
    uid: patch.uid ?? task.uid,
    icalendar: patch.icalendar === undefined ? task.icalendar : asStored(patch.icalendar),
    position: patch.position ?? task.position,
  };
  if (patch.refs) {
    const linkable = new Set([...task.linked_notes, ...(patch.linkable_notes ?? [])]);
    merged.refs = patch.refs;
    merged.linked_notes = patch.refs.flatMap(({ type, id }) =>
      type === 'note' && id !== undefined && linkable.has(id) ? [id] : [],
    );
  }
  return merged;
}

/** JSON as it is read again. */
const asStored = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** A new moment (`due_at`) decides the date; a new date alone keeps the hour. */
function mergeTimes(
  task: TaskRow,
  patch: TaskPatch,
): Pick<TaskRow, 'date' | 'due_at' | 'time_zone' | 'recurrence'> {
  const time_zone = patch.time_zone ?? task.time_zone;
  let { date, due_at } = task;
  // A client that sends the whole task back with a new date also sends the old due_at, which must not undo the new date.
  const isSentBack =
    patch.date !== undefined &&
    patch.date !== date &&
    due_at !== null &&
    patch.due_at?.getTime() === due_at.getTime();
  const due = isSentBack ? undefined : patch.due_at;
  if (patch.date !== undefined) {
    date = patch.date;
    due_at =
      date === null || due_at === null
        ? null
        : instantIn(time_zone, midnightOf(date) + hourOf(time_zone, due_at));
  }
  if (due !== undefined) due_at = due;
  // An hour that is sent back is not a new one of the series: this occurrence may have its own.
  const isTimed = due !== undefined && due?.getTime() !== task.due_at?.getTime();
  if (due_at !== null && (isTimed || time_zone !== task.time_zone || patch.date !== undefined)) {
    // Another time zone must not move either of them out of the years that clients can send.
    due_at = due_at < MIN_DUE ? MIN_DUE : due_at > MAX_DUE ? MAX_DUE : due_at;
    date = dayOfWall(wallIn(time_zone, due_at));
  }
  const recurrence = mergeRecurrence(task, { date, due_at, time_zone }, patch, isTimed);
  return { date, due_at, time_zone, recurrence };
}

/** Seconds since midnight. */
function hourOf(zone: string, at: Date): number {
  return timeOfDay(wallIn(zone, at));
}

const timeOfDay = (wall: number): number => wall - Math.floor(wall / DAY) * DAY;

/**
 * A rule starts at the day and hour of the task when the rule was set. A new hour becomes the hour of the series; a new day moves this
 * occurrence only, whose day by the rule stays in `scheduled`. A rule that the request does not state has the same occurrences at that hour.
 * @param isTimed the request changes the moment
 */
function mergeRecurrence(
  task: SeriesTimes,
  { date, due_at, time_zone }: Pick<TaskRow, 'date' | 'due_at' | 'time_zone'>,
  patch: TaskPatch,
  isTimed: boolean,
): StoredRecurrence | null {
  const old = task.recurrence;
  const wanted = patch.recurrence === undefined ? old : patch.recurrence;
  if (wanted === null) return null;
  const { rrule, from, start, scheduled, hour: own } = wanted;
  if (patch.recurrence && start !== undefined && scheduled !== undefined)
    return { rrule, from, start, scheduled, ...(own !== undefined && { hour: own }) };
  const hour = due_at === null ? '' : formatWallTime(Math.floor(wallIn(time_zone, due_at))).slice(10);
  if (old === null || old.rrule !== rrule || old.from !== from) {
    // The rules of tasks reject a series without a date.
    const day = date ?? '';
    return { rrule, from, start: day + hour, scheduled: day };
  }
  const inZone = onClockOf(time_zone, old, task);
  // The hour of this occurrence is that of the series from now on.
  const { hour: _own, ...rest } = inZone;
  const moved = isTimed ? { ...rest, start: inZone.start.slice(0, 10) + hour } : inZone;
  const change = patch.recurrence ? null : hourChange(task, { recurrence: moved, time_zone });
  return change ? { ...moved, rrule: withEndAfter(rrule, change) } : moved;
}

/**
 * A series on the clock of another time zone: this occurrence is at the same moment, and the others are as far from it as they were. If the
 * rule names its days, they stay: the others are at the new hour on them, though the moment of this one may be on the day beside its own.
 */
function onClockOf(
  zone: string,
  series: StoredRecurrence,
  { due_at, time_zone }: SeriesTimes,
): StoredRecurrence {
  if (due_at === null || zone === time_zone || !series.start.includes('T')) return series;
  const old = wallIn(time_zone, due_at);
  const by = Math.round(wallIn(zone, due_at) - old);
  const isKept = namesDays(parseRule(series.rrule));
  const moved = (text: string): string => {
    const next = formatWallTime(boundWall((parseWallTime(text) ?? 0) + by));
    return isKept ? text.slice(0, 10) + next.slice(10) : next;
  };
  const { hour, ...rest } = series;
  const start = moved(series.start);
  // Without a day by the rule, it is that of the moment.
  const scheduled = series.scheduled ?? (isKept ? dayOfWall(old) : undefined);
  if (scheduled === undefined) return { ...rest, start };
  const own = moved(scheduled + (hour ?? series.start.slice(10)));
  return { ...rest, start, scheduled: own.slice(0, 10), ...(hour !== undefined && { hour: own.slice(10) }) };
}

/** The changes of an update for the history: old and new value of short fields, true for the others. */
export type TaskChanges = Record<string, true | { from: unknown; to: unknown }>;

/** The fields whose values the history states. */
const STATED: [string, (task: TaskRow) => unknown][] = [
  ['title', ({ title }) => title],
  ['status', ({ status }) => STATUSES[status]],
  ['priority', ({ priority }) => PRIORITIES[priority]],
  ['group', ({ group_name }) => group_name],
  ['date', ({ date }) => date],
  ['due_at', ({ due_at }) => due_at && due_at.toISOString()],
  ['time_zone', ({ time_zone }) => time_zone],
  ['assignees', ({ assignee_ids }) => assignee_ids],
];

/** The fields that the history only names, with their columns. */
const NAMED: [string, (keyof TaskRow)[]][] = [
  ['description', ['description']],
  ['labels', ['labels']],
  ['folder_id', ['folder_id']],
  ['reminders', ['reminders']],
  ['recurrence', ['recurrence']],
  ['references', ['refs', 'linked_notes']],
  ['icalendar', ['icalendar']],
  ['position', ['position']],
];

/** @returns no entries for a task that does not change */
export function changesOf(old: TaskRow, task: TaskRow): TaskChanges {
  const changes: TaskChanges = {};
  for (const [field, valueOf] of STATED) {
    const [from, to] = [valueOf(old), valueOf(task)];
    if (!isDeepStrictEqual(from, to)) changes[field] = { from, to };
  }
  for (const [field, columns] of NAMED)
    if (columns.some((column) => !isDeepStrictEqual(old[column], task[column]))) changes[field] = true;
  return changes;
}

/** How a change moves the time of day of a series; null where it stays, or one of both consists of days. */
function hourChange(
  old: Pick<TaskRow, 'recurrence' | 'time_zone'>,
  task: Pick<TaskRow, 'recurrence' | 'time_zone'>,
): HourChange | null {
  const [before = '', after = ''] = [old.recurrence?.start, task.recurrence?.start];
  const [from, to] = [parseWallTime(before), parseWallTime(after)];
  if (from === null || to === null || !before.includes('T') || !after.includes('T')) return null;
  const isSameZone = task.time_zone === old.time_zone;
  // In another zone, a series whose rule names no days may be on other ones.
  const days = isSameZone ? 0 : Math.floor(to / DAY) - Math.floor(from / DAY);
  const wall = timeOfDay(to) - timeOfDay(from) + days * DAY;
  if (isSameZone && wall === 0) return null;
  const exact = instantIn(task.time_zone, from + wall).getTime() - instantIn(old.time_zone, from).getTime();
  const [zone, next] = [readableZone(old.time_zone), readableZone(task.time_zone)];
  return { from: zone, to: next, wall, days, exact: exact / 1000 };
}

type SeriesTimes = Pick<TaskRow, 'recurrence' | 'time_zone' | 'due_at'>;

/**
 * Returns the stored iCalendar properties without those that the change makes obsolete: the former texts, the time of the former
 * completion, and the dates of the former rule. The dates of a series whose hour changes are at the new one, and those of a series that
 * becomes one of days, or no longer is one, are days.
 */
export function stillKept(task: TaskRow, changes: TaskChanges, old: SeriesTimes): KeptTodo | null {
  const { icalendar, status, recurrence } = task;
  const before = old.recurrence;
  const change = hourChange(old, task);
  const isSameRule = recurrence?.rrule === before?.rrule;
  const isRule = isSameRule || (before && change && recurrence?.rrule === withEndAfter(before.rrule, change));
  const isSameSeries = isRule && recurrence?.from === before?.from;
  const kept = withoutProperties(icalendar, [
    ...('title' in changes ? ['SUMMARY'] : []),
    ...('description' in changes ? ['DESCRIPTION', ...HTML_DESCRIPTIONS] : []),
    ...(status === DONE ? [] : ['COMPLETED']),
    ...(isSameSeries ? [] : SERIES_NAMES),
    // The end of the rule has moved.
    ...(isSameRule ? [] : ['RRULE']),
  ]);
  if (kept === null) return null;
  if (!isSameSeries) return { ...kept, others: kept.others.filter((other) => !isInstance(other)) };
  const isOther = before?.start.includes('T') !== recurrence?.start.includes('T');
  if (!change && !isOther) return kept;
  const { clock, length } = seriesClock(old, storedTodo(kept), clockOf(kept.others, old.time_zone));
  return change ? keptAtHour(kept, change, clock) : keptByDay(kept, clock, length);
}

/** What programs stored without these properties. */
export function withoutProperties(kept: KeptTodo | null, names: readonly string[]): KeptTodo | null {
  if (kept === null) return null;
  const properties = Object.entries(kept.properties).filter(([name]) => !names.includes(name));
  return { ...kept, properties: Object.fromEntries(properties) };
}
