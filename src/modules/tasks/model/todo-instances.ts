import {
  type Component,
  ICalendarError,
  listedTexts,
  propertiesOf,
  type Property,
  propertyOf,
  singlesOf,
  textOf,
} from '../../../lib/icalendar/index.js';
import {
  DAY,
  type Instance,
  parseRule,
  parseWallTime,
  type Series,
  Zone,
} from '../../../lib/recurrence/index.js';
import { canonicalRule, withLocalEnd } from './task-recurrence.js';
import {
  dueOf,
  isInstance,
  type Moment,
  momentsOf,
  readable,
  startOf,
  type TodoClock,
  wallOf,
} from './todo-values.js';

/**
 * The functions of this file are the only ones that read the series of a VTODO (RFC 5545, 3.8.5): `seriesOf` as programs read it, for
 * their queries and for the date of the task, and `seriesClock` as the task has it, for the next date and after a change. Both differ for a
 * series in UTC, whose instances the task has at their local hour. Programs write days for instances that have a time, and times for
 * instances that are days. Properties that cannot be read concern no instance.
 */

/** Rules that are read, as of an event. */
const MAX_RULES = 4;
/** EXDATEs, RDATEs and changed instances together: reading more of them takes too long. */
const MAX_DATES = 2_000;

/** The clock of a series. */
export interface SeriesClock extends TodoClock {
  /** The zone of its instances; null: they are days. */
  series: string | null;
  /** Seconds from the midnight of a day that names or adds an instance to its start. A day of a series in UTC is one of UTC. */
  hour: number;
  /**
   * Of a series that a program stored in UTC, while the task keeps its local hour: seconds by which the local time of its start is ahead of
   * UTC. A time in UTC names the instance that is as far from the start on both clocks. `seriesClock` sets it; null for another
   * series, and in `seriesOf`.
   */
  ahead: number | null;
}

export interface TodoSeries {
  /** DTSTART, or the due time without one. */
  first: Moment;
  clock: SeriesClock;
  /** By the rules alone. */
  byRules: Series;
  dates: SeriesDates;
}

/** The dates in which a series differs from its rules. */
export interface SeriesDates {
  /** EXDATE. */
  excluded: InstanceMap<true>;
  /** Completed and cancelled instances; true: completed. */
  closed: InstanceMap<boolean>;
  /** Open changed instances. */
  open: InstanceMap<Component>;
  /** RDATE, as wall times at which instances start. */
  added: number[];
}

/** Values of instances, by the time of an instance or by a day, which names every instance of the day. */
export class InstanceMap<Value> {
  private readonly byInstant = new Map<number, Value>();
  private readonly byDay = new Map<number, Value>();

  set(moment: Moment, clock: SeriesClock, value: Value): void {
    const wall = wallIn(moment, clock);
    if (namesDay(moment, clock)) return void this.byDay.set(Math.floor(wall / DAY), value);
    if (isOnStart(moment, clock)) this.byInstant.set(Zone.of(clock.series ?? 'UTC').toInstant(wall), value);
    // An added instance is at its moment.
    this.byInstant.set(moment.instant, value);
  }

  get({ key, start }: Instance): Value | undefined {
    return this.byInstant.get(start) ?? this.byDay.get(Math.floor(key / DAY));
  }

  /** Whether it has a value of an instance. */
  has(moment: Moment, clock: SeriesClock): boolean {
    const key = wallIn(moment, clock);
    const start = moment.isDate ? Zone.of(clock.series ?? 'UTC').toInstant(key) : moment.instant;
    return this.get({ key, start }) !== undefined;
  }

  get values(): Value[] {
    return [...this.byInstant.values(), ...this.byDay.values()];
  }

  /** The instances of these maps, as a series leaves them out. */
  static union(...maps: readonly InstanceMap<unknown>[]): NonNullable<Series['excluded']> {
    return {
      instants: maps.flatMap(({ byInstant }) => [...byInstant.keys()]),
      days: maps.flatMap(({ byDay }) => [...byDay.keys()]),
    };
  }
}

/** Whether a time names each instance of its day. */
export const namesDay = ({ isDate }: Moment, { series }: SeriesClock): boolean => isDate || series === null;

const isOnStart = ({ isUtc }: Moment, { ahead }: SeriesClock): boolean => isUtc && ahead !== null;

/** A time on the clock of a series; of a series of days, midnight. */
export function wallIn(moment: Moment, clock: SeriesClock): number {
  if (isOnStart(moment, clock)) return moment.instant + (clock.ahead ?? 0);
  if (clock.series === null) return Math.floor(wallOf(moment, clock) / DAY) * DAY;
  return moment.isDate ? moment.wall + clock.hour : Zone.of(clock.series).toWall(moment.instant);
}

/**
 * The clock of the series of a task, which keeps its local hour, and seconds on it from the start of an instance to its due time.
 * @param todo the times of the series as a program stored them
 */
export function seriesClock(
  { due_at, time_zone, recurrence }: SeriesTask,
  todo: Component,
  clock: TodoClock,
): { clock: SeriesClock; length: number } {
  const series = due_at === null ? null : time_zone;
  const plain = { ...clock, series, hour: 0, ahead: null };
  const length = readable(() => lengthOf(todo, plain)) ?? 0;
  const start = (parseWallTime(recurrence?.start ?? '') ?? 0) - length;
  const first = readable(() => startOf(todo, clock) ?? dueOf(todo, clock));
  const ahead =
    series !== null && first?.isUtc ? Zone.of(series).toWall(first.instant) - first.instant : null;
  const day = Math.floor((start - (ahead ?? 0)) / DAY) * DAY;
  return { clock: { ...plain, hour: start - day, ahead }, length };
}

/** The columns of a task that the clock of its series depends on. */
export interface SeriesTask {
  due_at: Date | string | null;
  time_zone: string;
  recurrence: { start: string } | null;
}

/** Whether the dates of a series are too many to be read. */
export function hasTooManyDates(todo: Component, others: readonly Component[]): boolean {
  const dates = ['EXDATE', 'RDATE'].flatMap((name) => propertiesOf(todo, name));
  return dates.reduce((sum, given) => sum + listedTexts(given).length, others.length) > MAX_DATES;
}

/**
 * The series of a task; null without start and due date.
 * @param others changed instances are among them
 * @throws ICalendarError, also for a series with too many rules or dates; RecurrenceError
 */
export function seriesOf(todo: Component, others: readonly Component[], clock: TodoClock): TodoSeries | null {
  const first = startOf(todo, clock) ?? dueOf(todo, clock);
  if (!first) return null;
  const rules = propertiesOf(todo, 'RRULE');
  if (rules.length > MAX_RULES)
    throw new ICalendarError('too_large', `At most ${MAX_RULES} are read`, 'RRULE');
  if (hasTooManyDates(todo, others))
    throw new ICalendarError('too_large', `At most ${MAX_DATES} dates are read`, 'RDATE');
  // A time in UTC has no other zone; one without a zone is read in that of the task.
  const zone = first.isDate ? null : (first.zone ?? (first.isUtc ? 'UTC' : clock.zone));
  const onClock = {
    ...clock,
    series: zone,
    hour: first.wall - Math.floor(first.wall / DAY) * DAY,
    ahead: null,
  };
  return {
    first,
    clock: onClock,
    byRules: {
      start: wallIn(first, onClock),
      zone,
      isDate: zone === null,
      rules: rules.map(({ value }) =>
        withLocalEnd(parseRule(canonicalRule(value) ?? value), zone !== null, Zone.of(clock.taskZone)),
      ),
    },
    dates: datesOf(todo, others, onClock),
  };
}

export function datesOf(todo: Component, others: readonly Component[], clock: SeriesClock): SeriesDates {
  const dates: SeriesDates = {
    excluded: new InstanceMap(),
    closed: new InstanceMap(),
    open: new InstanceMap(),
    added: momentsIn(todo, 'RDATE', clock).map((moment) => wallIn(moment, clockFor('RDATE', clock))),
  };
  for (const moment of momentsIn(todo, 'EXDATE', clock)) dates.excluded.set(moment, clock, true);
  for (const other of others) {
    const moment = instanceOf(other, clock);
    if (!moment) continue;
    const status = (textOf(other, 'STATUS') ?? '').trim().toUpperCase();
    const isDone = status === 'COMPLETED' || (status === '' && propertyOf(other, 'COMPLETED') !== undefined);
    if (isDone || status === 'CANCELLED') dates.closed.set(moment, clock, isDone);
    else dates.open.set(moment, clock, other);
  }
  return dates;
}

/** The time of the instance that a component changes; null for another component. */
export const instanceOf = (other: Component, clock: TodoClock): Moment | null =>
  isInstance(other) ? (momentsIn(other, 'RECURRENCE-ID', clock)[0] ?? null) : null;

/** The times of all properties of a name. */
const momentsIn = (todo: Component, name: string, clock: TodoClock): Moment[] =>
  propertiesOf(todo, name).flatMap((given) => readableMoments(given, clock));

/** The times of a property without those that cannot be read. */
export const readableMoments = (given: Property, clock: TodoClock): Moment[] =>
  singlesOf(given).flatMap((each) => readable(() => momentsOf(each, clock)) ?? []);

/** The clock of a property: added instances are at their moments. */
export const clockFor = (name: string, clock: SeriesClock): SeriesClock =>
  name === 'RDATE' ? { ...clock, ahead: null } : clock;

/**
 * Seconds on the wall clock from the start to the due time, whole days between a day and a time; 0 without a start.
 * @param clock of which a day starts at midnight
 * @throws ICalendarError
 */
function lengthOf(todo: Component, clock: SeriesClock): number {
  const [start, due] = [startOf(todo, clock), dueOf(todo, clock)];
  if (!start || !due) return 0;
  const [from, to] = [wallIn(start, clock), wallIn(due, clock)];
  return start.isDate === due.isDate ? to - from : (Math.floor(to / DAY) - Math.floor(from / DAY)) * DAY;
}

/** The day on which an instance is due. @param length as `seriesClock` returns it */
export const dueDay = (moment: Moment, clock: SeriesClock, length: number): number =>
  Math.floor((wallIn(moment, clock) + length) / DAY);

/** EXDATE or RDATE with some of its dates; null where none is left. */
export function filterDates(
  given: Property,
  clock: SeriesClock,
  isLeft: (moment: Moment, clock: SeriesClock) => boolean,
): Property | null {
  const left = singlesOf(given).filter((each) =>
    readableMoments(each, clock).some((moment) => isLeft(moment, clockFor(given.name, clock))),
  );
  return left.length === 0 ? null : { ...given, value: left.map(({ value }) => value).join(',') };
}

/** Whether the instance of a moment is before a wall time. */
export function isBefore(moment: Moment, wall: number, clock: SeriesClock): boolean {
  const own = wallIn(moment, clock);
  return namesDay(moment, clock) ? Math.floor(own / DAY) < Math.floor(wall / DAY) : own < wall;
}
