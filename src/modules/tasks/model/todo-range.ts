import {
  component,
  type Component,
  formatComponent,
  formatTime,
  property,
  type Property,
  propertyOf,
} from '../../../lib/icalendar/index.js';
import { DAY, instancesOf, Zone } from '../../../lib/recurrence/index.js';
import { countFitting } from '../../../platform/bounded-pages/page-bytes.js';
import { InstanceMap, instanceOf, seriesOf, type TodoSeries } from './todo-instances.js';
import type { TodoText } from './todo-merge.js';
import {
  dueOf,
  isInstance,
  isUnreadable,
  type Moment,
  momentOf,
  startOf,
  type TodoClock,
} from './todo-values.js';

/** Instants in seconds; null: unbounded. */
export interface TodoWindow {
  from: number | null;
  to: number | null;
}

interface Bounds {
  from: number;
  to: number;
}

/** Instances that are compared with a window. */
const MAX_COMPARED = 10;
/** Instances of one task that an expansion writes. */
const MAX_EXPANDED = 2_000;

/** An instance of a series. */
interface TodoInstance {
  /** The time that RECURRENCE-ID states. */
  id: Moment;
  start: Moment | null;
  due: Moment | null;
  /** The series, or the changed instance. */
  todo: Component;
}

/** Whether a task is in a window, by the table of RFC 4791, 9.9; of a series, whether one of its instances is. */
export function occursIn(text: TodoText, clock: TodoClock, { from, to }: TodoWindow): boolean {
  const { todo } = text;
  const window = { from: from ?? Number.NEGATIVE_INFINITY, to: to ?? Number.POSITIVE_INFINITY };
  try {
    if (isSeries(text)) return instancesIn(text, clock, window, MAX_COMPARED).length > 0;
    const [start, due] = [startOf(todo, clock), dueOf(todo, clock)];
    return start || due ? isInside({ start, due }, window) : isClosedIn(todo, clock, window);
  } catch (error) {
    // Stored by a program, and not readable: the program decides.
    if (isUnreadable(error)) return true;
    throw error;
  }
}

/**
 * A task with times in UTC; in place of a series, its instances in a window (RFC 4791, 9.6.5), as many as about the bytes of a page have.
 * Null for a text that cannot be read.
 */
export function expandedTodo(text: TodoText, clock: TodoClock, window: Bounds): Component[] | null {
  const { todo } = text;
  try {
    const single = inUtc(todo, { start: startOf(todo, clock), due: dueOf(todo, clock) });
    if (!isSeries(text)) return [single];
    const limit = countFitting(formatComponent(single).length, MAX_EXPANDED);
    const rest = untimed(todo);
    return instancesIn(text, clock, window, limit).map((each) =>
      inUtc(each.todo, each, each.todo === todo ? rest : untimed(each.todo)),
    );
  } catch (error) {
    if (isUnreadable(error)) return null;
    throw error;
  }
}

const isSeries = ({ todo, others }: TodoText): boolean =>
  (propertyOf(todo, 'DTSTART') ?? propertyOf(todo, 'DUE')) !== undefined &&
  (others.some(isInstance) || todo.properties.some(({ name }) => name === 'RRULE' || name === 'RDATE'));

const TIMES: ReadonlySet<string> = new Set([
  'DTSTART',
  'DUE',
  'DURATION',
  'RECURRENCE-ID',
  'RRULE',
  'RDATE',
  'EXDATE',
]);

const untimed = ({ properties }: Component): Property[] => properties.filter(({ name }) => !TIMES.has(name));

function inUtc(
  todo: Component,
  { id, start, due }: { id?: Moment; start: Moment | null; due: Moment | null },
  rest = untimed(todo),
): Component {
  const times = [
    ...(id ? [utcProperty('RECURRENCE-ID', id)] : []),
    ...(start ? [utcProperty('DTSTART', start)] : []),
    ...(due ? [utcProperty('DUE', due)] : []),
  ];
  return component('VTODO', [...rest, ...times], todo.components);
}

const utcProperty = (name: string, { isDate, wall, instant }: Moment): Property =>
  isDate
    ? property(name, formatTime({ kind: 'date', wall }), { VALUE: 'DATE' })
    : property(name, formatTime({ kind: 'utc', wall: instant }));

function isInside(times: { start: Moment | null; due: Moment | null }, { from, to }: Bounds): boolean {
  const [start, due] = [times.start?.instant ?? null, times.due?.instant ?? null];
  if (start !== null && due !== null) return (from < due || from <= start) && (to > start || to >= due);
  if (start !== null) return from <= start && to > start;
  return due === null || (from < due && to >= due);
}

/** A task without dates: by when it was created and completed. */
function isClosedIn(todo: Component, clock: TodoClock, { from, to }: Bounds): boolean {
  const instant = (name: string): number | null => {
    const found = propertyOf(todo, name);
    return found ? (momentOf(found, clock)?.instant ?? null) : null;
  };
  const [created, completed] = [instant('CREATED'), instant('COMPLETED')];
  if (created !== null && completed !== null)
    return (from <= created || from <= completed) && (to >= created || to >= completed);
  if (completed !== null) return from <= completed && to >= completed;
  return created === null || to > created;
}

/**
 * The instances of a series in a window, in order.
 * @param limit of instances that the rules and dates of the series state
 * @throws ICalendarError; RecurrenceError
 */
function instancesIn(text: TodoText, clock: TodoClock, window: Bounds, limit: number): TodoInstance[] {
  const series = seriesOf(text.todo, text.others, clock);
  if (!series) return [];
  const changed = text.others.flatMap((each) => changedInstance(each, clock, series));
  return [...unchangedInstances(text.todo, series, clock, window, limit), ...changed]
    .filter(({ id, start, due }) => isInside(start || due ? { start, due } : { start: id, due }, window))
    .toSorted((one, other) => instantOf(one) - instantOf(other));
}

const instantOf = ({ id, start, due }: TodoInstance): number => (start ?? due ?? id).instant;

/** @returns nothing for an instance that is excluded */
function changedInstance(
  todo: Component,
  clock: TodoClock,
  { dates, ...series }: TodoSeries,
): TodoInstance[] {
  const id = instanceOf(todo, clock);
  return id && !dates.excluded.has(id, series.clock)
    ? [{ id, start: startOf(todo, clock), due: dueOf(todo, clock), todo }]
    : [];
}

function unchangedInstances(
  todo: Component,
  { first: anchor, byRules, dates }: TodoSeries,
  clock: TodoClock,
  { from, to }: Bounds,
  limit: number,
): TodoInstance[] {
  const { excluded, closed, open, added } = dates;
  const [start, due] = [startOf(todo, clock), dueOf(todo, clock)];
  // A clock change makes a span of days an hour longer or shorter.
  const length = (due?.instant ?? anchor.instant) - anchor.instant + (anchor.isDate ? DAY : 0);
  const zone = Zone.of(byRules.zone ?? clock.zone);
  const first = added.reduce((least, wall) => Math.min(least, zone.toInstant(wall)), anchor.instant);
  const span = {
    from: Math.max(from - length, first),
    to: to === Number.POSITIVE_INFINITY ? to : to + 1,
    limit,
    readerZone: clock.zone,
  };
  const unchanged = { ...byRules, added, excluded: InstanceMap.union(excluded, closed, open) };
  return instancesOf(unchanged, span).map((each) => {
    const by = { wall: each.key - byRules.start, instant: each.start - anchor.instant };
    const moved = (moment: Moment): Moment => shifted(moment, by, clock);
    return { id: moved(anchor), start: start && moved(start), due: due && moved(due), todo };
  });
}

/** Days are nominal, the length of an instance with times is exact (RFC 5545, 3.8.5.3). @param by in seconds */
function shifted(moment: Moment, by: { wall: number; instant: number }, { zone }: TodoClock): Moment {
  const wall = moment.wall + by.wall;
  const instant = moment.isDate ? Zone.of(zone).toInstant(wall) : moment.instant + by.instant;
  return { ...moment, wall, instant };
}
