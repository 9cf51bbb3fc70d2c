import { isDeepStrictEqual } from 'node:util';
import {
  component,
  type Component,
  escapeText,
  ICalendarError,
  type Property,
  property,
  propertiesOf,
  propertyOf,
} from '../../../lib/icalendar/index.js';
import { canonicalZone } from '../../../lib/recurrence/index.js';
import { clockOf, readTodo } from './todo-reader.js';
import { dueOf, reminderOf, startOf, type TodoClock } from './todo-times.js';
import { type KeptTodo, OWN_NAMES, PARTS, type TaskResourceRow, type TodoValues } from './todo-values.js';
import { alarmFor, isSameLevel, propertiesFor, reminderKey, utcTime, valuesOf } from './todo-writer.js';

/** A VTODO with the other components of its text. */
export interface TodoText {
  todo: Component;
  others: Component[];
}

export const NOTHING_KEPT: KeptTodo = { properties: {}, alarms: [], others: [] };

/**
 * The text of a task: what a program stored, as far as it still means what the task says, and otherwise the properties of the task.
 */
export function todoOf(row: TaskResourceRow): TodoText {
  const kept = row.icalendar ?? NOTHING_KEPT;
  const values = valuesOf(row);
  const own = Map.groupBy(propertiesFor(values), ({ name }) => name);
  const stored = new Map(Object.entries(kept.properties));
  const merged = new Map([...own, ...stored]);
  // One of both (RFC 5545, 3.6.2).
  merged.delete(stored.has('DURATION') && !stored.has('DUE') ? 'DUE' : 'DURATION');
  const clock = clockOf(kept.others, row.time_zone);
  const hasInstances = kept.others.some(({ name }) => name === 'VTODO');
  const read = readOrNull(component('VTODO', [...merged.values()].flat()), clock, hasInstances);
  for (const part of PARTS) {
    if (read && part.values.every((name) => isSame(name, read, values))) continue;
    for (const name of part.names) replace(merged, name, own.get(name));
  }
  const isRuleKept = read !== null && isSame('rrule', read, values);
  dropContradictions(merged, values, clock);
  startRule(merged);
  const todo = component('VTODO', [
    property('UID', escapeText(row.uid ?? row.id)),
    property('DTSTAMP', utcTime(row.updated_at)),
    property('LAST-MODIFIED', utcTime(row.updated_at)),
    ...[...merged.values()].flat(),
  ]);
  todo.components = alarmsOf(kept.alarms, todo, row, clock);
  const isSeriesKept = isRuleKept && (merged.has('RRULE') || !stored.has('RRULE'));
  const others = kept.others.filter(({ name }) => name !== 'VTODO' || isSeriesKept);
  return { todo, others };
}

/** Null for stored properties that cannot be read any more. */
function readOrNull(todo: Component, clock: TodoClock, hasInstances: boolean): TodoValues | null {
  try {
    return readTodo(todo, clock, hasInstances);
  } catch (error) {
    if (error instanceof ICalendarError) return null;
    throw error;
  }
}

function isSame(name: keyof TodoValues, read: TodoValues, values: TodoValues): boolean {
  if (name === 'dueAt' && read.dueAt !== null && values.dueAt !== null)
    return Date.parse(read.dueAt) === Math.floor(Date.parse(values.dueAt) / 1000) * 1000;
  if (name === 'priority') return isSameLevel(read.priority, values.priority);
  return isDeepStrictEqual(read[name], values[name]);
}

function replace(merged: Map<string, Property[]>, name: string, own: Property[] | undefined): void {
  if (own) merged.set(name, own);
  else merged.delete(name);
}

/** Removes stored properties that the task has overtaken. */
function dropContradictions(merged: Map<string, Property[]>, values: TodoValues, clock: TodoClock): void {
  const percent = merged.get('PERCENT-COMPLETE')?.[0]?.value.trim();
  if (percent !== undefined && (percent === '100') !== (values.status === 'done'))
    merged.delete('PERCENT-COMPLETE');
  if (values.status !== 'done') merged.delete('COMPLETED');
  const todo = component('VTODO', [...merged.values()].flat());
  const [start, due] = [startOf(todo, clock), dueOf(todo, clock)];
  if (start && due && start.instant > due.instant) merged.delete('DTSTART');
}

/** A rule needs a start (RFC 5545, 3.8.5.3), also one that only programs follow. It ends with the date of the task. */
function startRule(merged: Map<string, Property[]>): void {
  if (merged.has('DTSTART')) return;
  const due = merged.get('DUE');
  if (!due) for (const name of RULES) merged.delete(name);
  else if (RULES.some((name) => merged.has(name))) merged.set('DTSTART', due.map(asStart));
}

const RULES = ['RRULE', 'RDATE', 'EXDATE'];

const asStart = (due: Property): Property => ({ ...due, name: 'DTSTART' });

/** Stored alarms that are no reminders or mean one of the task, and alarms for its other reminders. */
function alarmsOf(
  stored: readonly Component[],
  todo: Component,
  { reminders }: TaskResourceRow,
  clock: TodoClock,
): Component[] {
  const wanted = new Map(reminders.map((reminder) => [reminderKey(reminder), reminder]));
  const covered = new Set<string>();
  const shown = stored.filter((alarm) => {
    const reminder = alarm.name === 'VALARM' ? reminderOf(alarm, todo, clock) : null;
    if (!reminder) return true;
    const key = reminderKey(reminder);
    if (wanted.has(key)) covered.add(key);
    return wanted.has(key);
  });
  const rest = [...wanted].filter(([key]) => !covered.has(key)).map(([, reminder]) => alarmFor(reminder));
  return [...shown, ...rest];
}

/**
 * What the task has no field for in the text of a program.
 * @param values as `readTodo` read them
 * @param task the values before the write: when it was created and completed, which the server states, its time zone and its priority
 */
export function keptOf(
  { todo, others }: TodoText,
  values: TodoValues,
  task: Pick<TodoValues, 'createdAt' | 'completedAt' | 'zone' | 'priority'>,
): KeptTodo {
  const own = propertiesFor({
    ...values,
    createdAt: task.createdAt,
    completedAt: task.completedAt,
    zone: values.zone ?? task.zone,
    priority: isSameLevel(values.priority, task.priority) ? task.priority : values.priority,
  });
  const properties: Record<string, Property[]> = {};
  for (const [name, given] of Map.groupBy(todo.properties, (each) => each.name)) {
    if (OWN_NAMES.has(name)) continue;
    const stated = own.filter((each) => each.name === name);
    if (!isDeepStrictEqual(given, stated)) properties[name] = given;
  }
  // A start belongs to its due date: without it, nothing would tell that the task has moved.
  if (properties['DTSTART'])
    for (const name of ['DUE', 'DURATION']) {
      const given = propertiesOf(todo, name);
      if (given.length > 0) properties[name] = given;
    }
  const usual = values.reminders.map((reminder) => alarmFor(reminder));
  const alarms = todo.components.filter((alarm) => !usual.some((each) => isDeepStrictEqual(each, alarm)));
  return { properties, alarms, others: others.filter(isKept) };
}

/** Zones of the IANA database are written anew. */
function isKept(other: Component): boolean {
  if (other.name !== 'VTIMEZONE') return true;
  return canonicalZone(propertyOf(other, 'TZID')?.value.trim() ?? '') === null;
}
