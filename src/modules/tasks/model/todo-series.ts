import {
  type Component,
  component,
  formatTime,
  propertiesOf,
  type Property,
  propertyOf,
  textOf,
  timesOf,
} from '../../../lib/icalendar/index.js';
import {
  DAY,
  formatDay,
  formatWallTime,
  type Instance,
  lastInstance,
  nextInstance,
  parseRule,
  type Rule,
  type Series,
  Zone,
} from '../../../lib/recurrence/index.js';
import { addedWithin, canonicalRule, placeIn, type SeriesPlace, withLocalEnd } from './task-recurrence.js';
import { dueOf, type Moment, momentsOf, readable, startOf, type TodoClock, wallOf } from './todo-values.js';

/** Properties that state which instances a series has. */
export const SERIES_NAMES = ['RRULE', 'RDATE', 'EXDATE'];

/** The dates in which a series differs from its rule. Days are those on which instances start, counted from 1970-01-01. */
export interface SeriesExceptions {
  /** EXDATE. */
  excluded: number[];
  /** Completed and cancelled instances; true: completed. */
  closed: Map<number, boolean>;
  /** Open changed instances. */
  open: Map<number, Component>;
  /** RDATE, as wall times. */
  added: number[];
}

/** A task as it is on the day of its first open instance. */
export interface CurrentTodo {
  /** The VTODO with the times of this instance. */
  todo: Component;
  /** The rule from this instance on, in canonical form; null for a task that does not repeat. */
  rrule: string | null;
  place: SeriesPlace | null;
  /** How the series ended, where all instances are closed. */
  end: 'done' | 'cancelled' | null;
}

/** @param zone of the series; null: its instances are days */
export function exceptionsOf(
  todo: Component,
  others: readonly Component[],
  clock: TodoClock,
  zone: string | null,
): SeriesExceptions {
  const excluded = timesIn(todo, 'EXDATE', clock).map((moment) => dayIn(moment, zone));
  const added = timesIn(todo, 'RDATE', clock).map((moment) => wallIn(moment, zone));
  const closed = new Map<number, boolean>();
  const open = new Map<number, Component>();
  for (const other of others) {
    const [moment] = other.name === 'VTODO' ? timesIn(other, 'RECURRENCE-ID', clock) : [];
    if (!moment) continue;
    const status = (textOf(other, 'STATUS') ?? '').trim().toUpperCase();
    const isDone = status === 'COMPLETED' || (status === '' && propertyOf(other, 'COMPLETED') !== undefined);
    if (isDone || status === 'CANCELLED') closed.set(dayIn(moment, zone), isDone);
    else open.set(dayIn(moment, zone), other);
  }
  return { excluded, closed, open, added };
}

/** The times of all properties of a name. */
const timesIn = (todo: Component, name: string, clock: TodoClock): Moment[] =>
  propertiesOf(todo, name).flatMap((given) => readableMoments(given, clock));

/** Empty for a property that cannot be read: it concerns no instance. */
const readableMoments = (given: Property, clock: TodoClock): Moment[] =>
  readable(() => momentsOf(given, clock)) ?? [];

/** Programs write dates of a series of times too, and times of a series of days. */
const wallIn = ({ isDate, wall, instant }: Moment, zone: string | null): number =>
  isDate || zone === null ? Math.floor(wall / DAY) * DAY : Zone.of(zone).toWall(instant);

const dayIn = (moment: Moment, zone: string | null): number => Math.floor(wallIn(moment, zone) / DAY);

/** Seconds on the wall clock from the start to the due time; 0 without a start. @throws ICalendarError */
export function lengthOf(todo: Component, clock: TodoClock, zone: string | null): number {
  const [start, due] = [startOf(todo, clock), dueOf(todo, clock)];
  return start && due && start.isDate === due.isDate ? wallIn(due, zone) - wallIn(start, zone) : 0;
}

/** The first open instance of a task: excluded, completed and cancelled ones are passed over. @throws ICalendarError */
export function currentOf(todo: Component, others: readonly Component[], clock: TodoClock): CurrentTodo {
  const due = dueOf(todo, clock);
  const rrule = due && ruleOf(todo);
  const single: CurrentTodo = { todo, rrule, place: null, end: null };
  if (!due || rrule === null) return single;
  if (statedDates(todo, others) > MAX_DATES) return { ...single, rrule: null };
  const first = startOf(todo, clock) ?? due;
  const zone = zoneOf(first, clock);
  const dates = exceptionsOf(todo, others, clock, zone);
  const rule = withLocalEnd(parseRule(rrule), zone !== null, Zone.of(clock.zone));
  const byRule: Series = { start: wallIn(first, zone), zone, isDate: zone === null, rules: [rule] };
  const added = addedWithin(byRule, dates.added);
  const days = [...dates.excluded, ...dates.closed.keys()];
  const before = Math.min(byRule.start, ...added) - 2 * DAY;
  const open = nextInstance({ ...byRule, added, excluded: { days } }, before);
  const found = open ?? lastClosed({ ...byRule, added, excluded: { days: dates.excluded } }, dates);
  if (!found) return single;
  const instant = zone === null ? byRule.start : first.instant;
  const at = ({ key, start }: Instance): Component => shiftedTodo(todo, key - byRule.start, start - instant);
  const nominal = at(found);
  const override = dates.open.get(Math.floor(found.key / DAY));
  const moved = override && movedTo(nominal, override);
  const isFirst = found.key === byRule.start && !moved;
  const anchor = nextInstance(byRule, found.start - 1) ?? found;
  return {
    todo: moved ?? nominal,
    rrule: remaining(rrule, rule, byRule, anchor),
    place: isFirst
      ? null
      : { start: dueText(at(anchor), clock), scheduled: dueText(nominal, clock).slice(0, 10) },
    end: open ? null : [...dates.closed.values()].includes(true) ? 'done' : 'cancelled',
  };
}

/** A series with more dates of its own, and instances of its own, than this is a single task: reading them takes too long. */
const MAX_DATES = 2_000;

function statedDates(todo: Component, others: readonly Component[]): number {
  const dates = ['EXDATE', 'RDATE'].flatMap((name) => propertiesOf(todo, name));
  return dates.reduce((sum, { value }) => sum + value.split(',').length, others.length);
}

/** Null also for a task with several rules. */
function ruleOf(todo: Component): string | null {
  const [rule, ...more] = propertiesOf(todo, 'RRULE');
  return rule && more.length === 0 ? canonicalRule(rule.value) : null;
}

/** The zone of a series; null for one of days. A time in UTC has no other zone. */
function zoneOf({ isDate, zone, wall, instant }: Moment, clock: TodoClock): string | null {
  if (isDate) return null;
  return zone ?? (wall === instant ? 'UTC' : clock.zone);
}

/** The last instance of a series whose instances are all closed. */
function lastClosed(series: Series, { closed }: SeriesExceptions): Instance | null {
  const last = closed.size === 0 ? null : lastInstance(series);
  return last === 'endless' ? null : last;
}

/** The rule with the number of instances from one of them on. */
function remaining(rrule: string, rule: Rule, byRule: Series, from: Instance): string {
  if (rule.count === null) return rrule;
  const number = placeIn(byRule, from.start, rule.count);
  return rrule.replace(/COUNT=\d+/, `COUNT=${Math.max(1, rule.count - number + 1)}`);
}

/** The due date as a task stores the start of its series. */
function dueText(todo: Component, clock: TodoClock): string {
  const due = dueOf(todo, clock);
  if (!due) return '';
  return due.isDate ? formatDay(Math.floor(due.wall / DAY)) : formatWallTime(wallOf(due, clock));
}

const TIMES: ReadonlySet<string> = new Set(['DTSTART', 'DUE']);

/** A VTODO at another time. @param wall seconds by which local times and days move @param exact those by which times in UTC move */
export function shiftedTodo(
  { name, properties, components }: Component,
  wall: number,
  exact: number,
): Component {
  const shifted = properties.map((given) =>
    TIMES.has(given.name) ? shiftedTime(given, wall, exact) : given,
  );
  return component(name, shifted, components);
}

function shiftedTime(given: Property, wall: number, exact: number): Property {
  const [time] = timesOf(given);
  if (!time) return given;
  return { ...given, value: formatTime({ ...time, wall: time.wall + (time.kind === 'utc' ? exact : wall) }) };
}

const LENGTHS: ReadonlySet<string> = new Set([...TIMES, 'DURATION']);

/** An instance at the times of its override; null for an override without a due date. */
function movedTo({ name, properties, components }: Component, override: Component): Component | null {
  const times = override.properties.filter((given) => LENGTHS.has(given.name));
  if (!times.some((given) => given.name !== 'DTSTART')) return null;
  return component(name, [...properties.filter((given) => !LENGTHS.has(given.name)), ...times], components);
}

/** EXDATE or RDATE without the dates before a day; null where none is left. @param day from 1970-01-01, in this zone */
export function datesFrom(
  given: Property,
  day: number,
  clock: TodoClock,
  zone: string | null,
): Property | null {
  const moments = readableMoments(given, clock);
  const left = given.value.split(',').filter((_, n) => {
    const moment = moments[n];
    return moment !== undefined && dayIn(moment, zone) >= day;
  });
  return left.length === 0 ? null : { ...given, value: left.join(',') };
}

/** Whether a component is an override of an instance before a day. */
export function isPassed(other: Component, day: number, clock: TodoClock, zone: string | null): boolean {
  const [moment] = other.name === 'VTODO' ? timesIn(other, 'RECURRENCE-ID', clock) : [];
  return moment !== undefined && dayIn(moment, zone) < day;
}
