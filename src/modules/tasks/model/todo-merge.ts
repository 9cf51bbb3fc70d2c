import { isDeepStrictEqual } from 'node:util';
import {
  type Component,
  component,
  escapeText,
  formatComponent,
  ICalendarError,
  parseCalendars,
  propertiesOf,
  type Property,
  property,
  propertyOf,
  textOf,
  vtimezoneText,
  zonesIn,
} from '../../../lib/icalendar/index.js';
import { canonicalZone } from '../../../lib/recurrence/index.js';
import { type ApiError, fieldError } from '../../../platform/http/errors.js';
import { isStorable } from '../../../platform/http/storable-text.js';
import type { StoredReference } from '../tasks.schema.js';
import { clockOf, htmlOf, readTodo } from './todo-reader.js';
import {
  dueOf,
  type KeptTodo,
  OWN_NAMES,
  PARTS,
  reminderOf,
  startOf,
  type TaskResourceRow,
  type TodoClock,
  type TodoValues,
} from './todo-values.js';
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

/**
 * The fields of a request to the API in which two texts of a task differ.
 * @param before as the program read the task
 * @param next as the program wrote it
 */
export function changedInput(
  row: TaskResourceRow,
  before: TodoValues,
  next: TodoValues,
  text: TodoText,
): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  const differs = (name: keyof TodoValues): boolean => !isDeepStrictEqual(before[name], next[name]);
  if (differs('title')) input['title'] = next.title;
  if (differs('description')) input['description'] = descriptionIn(next, text);
  if (differs('status')) input['status'] = next.status;
  if (differs('priority')) input['priority'] = next.priority;
  if (differs('labels')) input['labels'] = next.labels;
  if (differs('date') || differs('dueAt')) Object.assign(input, dueIn(next));
  else if (next.dueAt !== null && next.zone !== null && differs('zone')) input['time_zone'] = next.zone;
  if (differs('rrule') && !row.is_repeated) {
    // A program that does not know the property of completions leaves it out.
    const from = next.from === 'completion' || before.rrule === null ? next.from : before.from;
    input['recurrence'] = next.rrule === null ? null : { rrule: next.rrule, from };
  }
  const keys = ({ reminders }: TodoValues): Set<string> => new Set(reminders.map(reminderKey));
  if (!isDeepStrictEqual(keys(before), keys(next))) input['reminders'] = next.reminders;
  if (differs('url')) input['references'] = withUrl(row.refs, next.url);
  return input;
}

/** The fields of a request that creates the task. */
export function createdInput(folderId: string, values: TodoValues, text: TodoText): Record<string, unknown> {
  const { title, status, priority, labels, rrule, from, reminders, url } = values;
  return {
    folder_id: folderId,
    title,
    description: descriptionIn(values, text),
    status,
    priority,
    labels,
    ...(values.date !== null && dueIn(values)),
    ...(rrule !== null && { recurrence: { rrule, from } }),
    reminders,
    references: withUrl([], url),
  };
}

const descriptionIn = ({ description }: TodoValues, { todo }: TodoText): string | null =>
  description === null ? null : htmlOf((textOf(todo, 'DESCRIPTION') ?? '').trim());

/** A day replaces a moment; a moment decides the day. */
function dueIn({ date, dueAt, zone }: TodoValues): Record<string, unknown> {
  if (dueAt === null) return { date, due_at: null };
  return { due_at: dueAt, ...(zone !== null && { time_zone: zone }) };
}

/** The references with this web address in place of the first one. */
function withUrl(refs: readonly StoredReference[], url: string | null): StoredReference[] {
  const at = refs.findIndex(({ type }) => type === 'url');
  const added: StoredReference[] = url === null ? [] : [{ type: 'url', url }];
  return at < 0 ? [...refs, ...added] : refs.toSpliced(at, 1, ...added);
}

const HEAD = 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Workspace//Tasks//EN\r\nCALSCALE:GREGORIAN\r\n';
const END = 'END:VCALENDAR\r\n';

/** A task as a whole VCALENDAR. @param withZones false: without VTIMEZONEs of the IANA database (RFC 7809) */
export function textOfTodo({ todo, others }: TodoText, withZones: boolean): string {
  const stored = others.filter(({ name }) => name === 'VTIMEZONE');
  const instances = others.filter(({ name }) => name !== 'VTIMEZONE');
  const used = zonesIn([todo, ...instances]);
  let text = HEAD;
  for (const zone of stored) {
    const name = propertyOf(zone, 'TZID')?.value.trim() ?? '';
    if (used.delete(name)) text += formatComponent(zone);
  }
  if (withZones) {
    const year = yearOf(todo);
    for (const name of used) if (canonicalZone(name) !== null) text += vtimezoneText(name, year);
  }
  for (const each of [todo, ...instances]) text += formatComponent(each);
  return text + END;
}

/** Tasks whose times name no zones as a whole VCALENDAR, in pieces. */
export function* piecesOfTodos(todos: readonly Component[]): Generator<string> {
  yield HEAD;
  for (const each of todos) yield formatComponent(each);
  yield END;
}

/** The year of the first time of a task. */
function yearOf(todo: Component): number {
  const { value = '' } = propertyOf(todo, 'DTSTART') ?? propertyOf(todo, 'DUE') ?? {};
  return Number(/^\d{4}/.exec(value)?.[0] ?? new Date().getUTCFullYear());
}

/** Codes in `details` of an error about a text that is valid iCalendar, but not one task (RFC 4791, 4.1). */
export const TODO_PROBLEMS = {
  notOneTask: 'not_one_task',
  severalKinds: 'several_kinds',
  unsupportedComponent: 'unsupported_component',
  method: 'method',
} as const;

/** Characters of a UID: it is part of an index. */
const MAX_UID = 500;

/** The only task of a text, with the changed instances of its series. */
export interface SingleTodo extends TodoText {
  uid: string;
}

/** @throws ApiError 422 with a code of `TODO_PROBLEMS` or of the library */
export function singleTodo(text: Uint8Array): SingleTodo {
  const { notOneTask, severalKinds, unsupportedComponent, method } = TODO_PROBLEMS;
  const calendars = checkedTodo(() => parseCalendars(text));
  const [calendar] = calendars;
  if (!calendar || calendars.length > 1)
    throw fieldError('', notOneTask, 'The text must have exactly one VCALENDAR.');
  if (!isStorableIn(calendar)) throw fieldError('', 'invalid_value', 'The text must not contain U+0000.');
  if (propertyOf(calendar, 'METHOD')) throw fieldError('', method, 'The text must not have a METHOD.');
  const items = calendar.components.filter(({ name }) => name !== 'VTIMEZONE');
  const kinds = new Set(items.map(({ name }) => name));
  if (kinds.size > 1)
    throw fieldError('', severalKinds, 'The text must not have components of several kinds.');
  if (kinds.size === 1 && !kinds.has('VTODO'))
    throw fieldError('', unsupportedComponent, 'A list of tasks contains tasks only.');
  const [todo, ...more] = items.filter((each) => !propertyOf(each, 'RECURRENCE-ID'));
  const uid = todo && uidOf(todo);
  if (!todo || !uid || more.length > 0 || items.some((each) => uidOf(each) !== uid))
    throw fieldError(
      '',
      notOneTask,
      `The text must have exactly one task, with a UID of at most ${MAX_UID} characters.`,
    );
  return { uid, todo, others: calendar.components.filter((each) => each !== todo) };
}

/** Encoded values are checked too. */
const isStorableIn = ({ properties, components }: Component): boolean =>
  properties.every(
    ({ value, parameters }) =>
      isStorable(value) && parameters.every(({ values }) => values.every((each) => isStorable(each))),
  ) && components.every(isStorableIn);

function uidOf(todo: Component): string | null {
  const uid = textOf(todo, 'UID')?.trim() ?? '';
  return uid !== '' && uid.length <= MAX_UID ? uid : null;
}

/** @throws ApiError 422 for a task that is due before its start (RFC 5545, 3.8.2.3) */
export function assertOrder(todo: Component, clock: TodoClock): void {
  const [start, due] = [startOf(todo, clock), dueOf(todo, clock)];
  if (start && due && due.instant < start.instant)
    throw fieldError('', 'invalid_value', 'DUE must not be before DTSTART.');
}

/** @throws ApiError 422 for errors of the library */
export function checkedTodo<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof ICalendarError ? asApiError(error) : error;
  }
}

const asApiError = ({ code, message }: ICalendarError): ApiError => fieldError('', code, message);
