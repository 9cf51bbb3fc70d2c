import { isDeepStrictEqual } from 'node:util';
import {
  type Component,
  component,
  escapeText,
  formatComponent,
  listedTexts,
  longUidOf,
  parameterOf,
  propertiesOf,
  type Property,
  property,
  propertyOf,
  textOf,
  vtimezoneText,
  zonesIn,
} from '../../../lib/icalendar/index.js';
import { canonicalZone } from '../../../lib/recurrence/index.js';
import type { StoredReference } from '../tasks.schema.js';
import { dueWallOf, instantMover, movedAlarm } from './fixed-alarms.js';
import { moveSeries, replace, toTodo } from './moved-series.js';
import type { TaskPatch } from './rules/task-merge.js';
import { clockOf, htmlOf, readTodo } from './todo-reader.js';
import { currentOf, SERIES_NAMES } from './todo-series.js';
import {
  dueOf,
  isDueBefore,
  isInstance,
  type KeptTodo,
  MAX_REMINDERS,
  OWN_NAMES,
  PARTS,
  readable,
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
  others: readonly Component[];
}

export const NOTHING_KEPT: KeptTodo = { properties: {}, alarms: [], others: [] };

/**
 * The text of a task: what a program stored, as far as it still means what the task says, and otherwise the properties of the task.
 */
export function todoOf(row: TaskResourceRow): TodoText {
  return readable(() => textFor(row)) ?? textFor({ ...row, icalendar: null });
}

/** @throws ICalendarError, RecurrenceError: a property that programs stored cannot be read any more */
function textFor(row: TaskResourceRow): TodoText {
  const values = valuesOf(row);
  const { properties: all, ...rest } = row.icalendar ?? NOTHING_KEPT;
  const { UID: stated, ...stored } = all;
  const kept = { properties: stored, ...rest };
  const own = propertiesFor(values);
  const { properties, alarms, others } = hasFields(kept, own)
    ? mergedWith(row, values, kept, own)
    : {
        properties: [...own, ...Object.values(kept.properties).flat()],
        alarms: alarmsFor(row, new Set()),
        others: kept.others,
      };
  const uid = stated ?? [property('UID', escapeText(row.uid ?? row.id))];
  const todo = component(
    'VTODO',
    [
      ...uid,
      property('DTSTAMP', utcTime(row.updated_at)),
      property('LAST-MODIFIED', utcTime(row.updated_at)),
      ...properties,
    ],
    alarms,
  );
  return { todo, others: others.map((other) => (isInstance(other) ? withUid(other, uid) : other)) };
}

/** The properties that state fields of a task. */
const FIELD_NAMES: ReadonlySet<string> = new Set(PARTS.flatMap(({ names }) => names));

/** Whether a program stored something that the task states too, so that both have to be compared. @param own properties of the task */
const hasFields = ({ properties, alarms, others }: KeptTodo, own: readonly Property[]): boolean =>
  alarms.length > 0 ||
  Object.keys(properties).some((name) => FIELD_NAMES.has(name)) ||
  own.some(({ name }) => name in properties) ||
  others.some(isInstance);

/** What a program stored, where it means what the task says, and the properties of the task. */
function mergedWith(
  row: TaskResourceRow,
  values: TodoValues,
  kept: KeptTodo,
  stated: readonly Property[],
): { properties: Property[]; alarms: Component[]; others: readonly Component[] } {
  const own = Map.groupBy(stated, ({ name }) => name);
  const stored = new Map(Object.entries(kept.properties));
  const merged = new Map([...own, ...stored]);
  // One of both (RFC 5545, 3.6.2).
  merged.delete(stored.has('DURATION') && !stored.has('DUE') ? 'DUE' : 'DURATION');
  // The start of the task would be that of another instance than a stored due date.
  if (stored.has('DUE') && !stored.has('DTSTART')) merged.delete('DTSTART');
  const clock = clockOf(kept.others, row.time_zone);
  let { others }: { others: readonly Component[] } = kept;
  const readMerged = () => readable(() => shownValues(row, { todo: toTodo(merged), others }, clock));
  // Nothing stored would tell that the task has moved away from its instance.
  const hasLeft = !stored.has('DUE') && !stored.has('DURATION') && isOffSchedule(row);
  if (hasLeft && values.rrule !== null) others = moveSeries({ merged, own, others }, row, clock);
  let read = readMerged();
  const isReopened = read?.isOver === true && !isSame('status', read, values);
  const isSeries = read !== null && isSame('rrule', read, values) && !isReopened && !row.is_repeated;
  if (!isSeries) {
    for (const name of [...SERIES_NAMES, 'X-WORKSPACE-REPEAT-FROM']) replace(merged, name, own.get(name));
    others = others.filter((other) => !isInstance(other));
    read = readMerged();
  }
  for (const part of PARTS) {
    if (read && part.values.every((name) => isSame(name, read, values))) continue;
    if (part.names.includes('DUE') && values.rrule !== null)
      others = moveSeries({ merged, own, others }, row, clock);
    else
      for (const name of part.names)
        if (name !== 'DTSTART' || !keepsStart(stored, own)) replace(merged, name, own.get(name));
  }
  if (read?.isOver) for (const name of OF_MASTER) if (!stored.has(name)) merged.delete(name);
  dropContradictions(merged, values, clock);
  startRule(merged);
  const todo = toTodo(merged);
  const current = row.recurrence === null ? todo : currentOf(todo, others, clock).todo;
  return {
    properties: [...todo.properties],
    alarms: alarmsOf(kept.alarms, todo, current, row, clock),
    others,
  };
}

/**
 * Whether the start that a program stored stays with another due date. The start of a series is that of its first instance, and both are
 * days or both times (RFC 5545, 3.8.2.3).
 */
function keepsStart(
  stored: ReadonlyMap<string, readonly Property[]>,
  own: ReadonlyMap<string, readonly Property[]>,
): boolean {
  const [start, due] = [stored.get('DTSTART')?.[0], own.get('DUE')?.[0]];
  if (!start || stored.has('RRULE')) return false;
  const isDay = (given: Property): boolean => parameterOf(given, 'VALUE')?.toUpperCase() === 'DATE';
  return !due || isDay(due) === isDay(start);
}

/** Whether a task has another date than its instance of the series. */
const isOffSchedule = ({ date, recurrence }: TaskResourceRow): boolean =>
  recurrence?.scheduled !== undefined && recurrence.scheduled !== date;

/** Properties that a series has only where a program stored them: its end is that of its instances. */
const OF_MASTER = ['STATUS', 'COMPLETED'];

/** The instances of a series have its UID, also those of the next task of a series. */
const withUid = ({ name, properties, components }: Component, uid: readonly Property[]): Component =>
  component(
    name,
    properties.map((given) => uid.find((each) => each.name === given.name) ?? given),
    components,
  );

/**
 * The values of a task as programs read them. A series whose dates were stored before tasks had them, and one that a task cannot have, is
 * a single task.
 */
export function shownValues(row: TaskResourceRow, { todo, others }: TodoText, clock: TodoClock): TodoValues {
  const isSeries =
    row.recurrence !== null ||
    (!others.some(isInstance) && !['EXDATE', 'RDATE'].some((name) => propertyOf(todo, name)));
  if (isSeries) return readTodo(todo, others, clock);
  const properties = todo.properties.filter(({ name }) => !SERIES_NAMES.includes(name));
  return readTodo(component(todo.name, properties, todo.components), [], clock);
}

function isSame(name: keyof TodoValues, read: TodoValues, values: TodoValues): boolean {
  if (name === 'dueAt' && read.dueAt !== null && values.dueAt !== null)
    return Date.parse(read.dueAt) === Math.floor(Date.parse(values.dueAt) / 1000) * 1000;
  if (name === 'priority') return isSameLevel(read.priority, values.priority);
  return isDeepStrictEqual(read[name], values[name]);
}

/** Removes stored properties that the task has overtaken. */
function dropContradictions(merged: Map<string, Property[]>, values: TodoValues, clock: TodoClock): void {
  const percent = merged.get('PERCENT-COMPLETE')?.[0]?.value.trim();
  if (percent !== undefined && (percent === '100') !== (values.status === 'done'))
    merged.delete('PERCENT-COMPLETE');
  if (values.status !== 'done') merged.delete('COMPLETED');
  const todo = toTodo(merged);
  const [start, due] = [startOf, dueOf].map((read) => readable(() => read(todo, clock)));
  if (!start || (due && isDueBefore(due, start))) merged.delete('DTSTART');
}

/** A rule needs a start (RFC 5545, 3.8.5.3), also one that only programs follow. It ends with the date of the task. */
function startRule(merged: Map<string, Property[]>): void {
  if (merged.has('DTSTART')) return;
  const due = merged.get('DUE');
  if (!due) for (const name of SERIES_NAMES) merged.delete(name);
  else if (SERIES_NAMES.some((name) => merged.has(name))) merged.set('DTSTART', due.map(asStart));
}

const asStart = (due: Property): Property => ({ ...due, name: 'DTSTART' });

/**
 * Stored alarms that are no reminders or mean one of the task, and alarms for its other reminders.
 * @param current the series at the times of the task, which its fixed reminders have; the text has those of its first instance
 */
function alarmsOf(
  stored: readonly Component[],
  todo: Component,
  current: Component,
  row: TaskResourceRow,
  clock: TodoClock,
): Component[] {
  const [first, due] = [dueWallOf(todo, clock), dueWallOf(current, clock)];
  const move = instantMover(first, due, clock.zone);
  const moveBack = instantMover(due, first, clock.zone);
  const wanted = new Set(row.reminders.map(reminderKey));
  const covered = new Set<string>();
  const shown: Component[] = [];
  /** A task that has all the reminders it can have has no field for these. */
  const further: Component[] = [];
  for (const alarm of stored) {
    const moved = alarm.name === 'VALARM' ? movedAlarm(alarm, move, clock) : null;
    const reminder = moved && reminderOf(moved, current, clock);
    const key = reminder && reminderKey(reminder);
    if (key === null || wanted.has(key)) shown.push(alarm);
    else if (row.reminders.length >= MAX_REMINDERS) further.push(alarm);
    if (key !== null) covered.add(key);
  }
  const own = alarmsFor(row, covered).map((alarm) => movedAlarm(alarm, moveBack, clock));
  return [...shown, ...own, ...further];
}

/** An alarm for each reminder that has none. */
function alarmsFor({ reminders }: TaskResourceRow, covered: ReadonlySet<string>): Component[] {
  const byKey = new Map(reminders.map((reminder) => [reminderKey(reminder), reminder]));
  return [...byKey].filter(([key]) => !covered.has(key)).map(([, reminder]) => alarmFor(reminder));
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
    // A task has one of both (RFC 5545, 3.6.2), and DUE is read.
    const isOwn = OWN_NAMES.has(name) && !(name === 'UID' && longUidOf(todo));
    if (isOwn || (name === 'DURATION' && propertyOf(todo, 'DUE'))) continue;
    const stated = own.filter((each) => each.name === name);
    if (!isDeepStrictEqual(given, stated))
      properties[name] = DATES.has(name) ? given.map(withoutCopies) : given;
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

/** Lists of any length, which reads and changes of a series go through. */
const DATES: ReadonlySet<string> = new Set(['EXDATE', 'RDATE']);

const withoutCopies = (given: Property): Property => ({ ...given, value: listedTexts(given).join(',') });

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
  // A new hour would move the end of a rule that the request does not state.
  const isStated = differs('dueAt') && next.rrule?.includes('UNTIL=') === true;
  if ((differs('rrule') || isStated) && !row.is_repeated) {
    input['recurrence'] = next.rrule === null ? null : { rrule: next.rrule, from: fromIn(before, next) };
  }
  const keys = ({ reminders }: TodoValues): Set<string> => new Set(reminders.map(reminderKey));
  if (!isDeepStrictEqual(keys(before), keys(next))) input['reminders'] = next.reminders;
  if (differs('url')) input['references'] = withUrl(row.refs, next.url);
  return input;
}

/** A program that does not know the property of completions leaves it out. */
const fromIn = (before: TodoValues, next: TodoValues): TodoValues['from'] =>
  next.from === 'completion' || before.rrule === null ? next.from : before.from;

/** The recurrence of a task whose place in its series a program has changed, such as by completing an instance; otherwise undefined. */
export function placedRecurrence(
  row: Pick<TaskResourceRow, 'is_repeated'>,
  before: TodoValues,
  next: TodoValues,
): NonNullable<TaskPatch['recurrence']> | undefined {
  const { rrule, place } = next;
  if (rrule === null || place === null || row.is_repeated) return undefined;
  if (rrule === before.rrule && isDeepStrictEqual(place, before.place)) return undefined;
  return { rrule, from: fromIn(before, next), ...place };
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
    for (const name of used) text += vtimezoneText(name, year);
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
