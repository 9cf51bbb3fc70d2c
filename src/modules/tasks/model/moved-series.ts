import { component, type Component, type Property } from '../../../lib/icalendar/index.js';
import { DAY, instancesOf, parseWallTime, Zone } from '../../../lib/recurrence/index.js';
import {
  dueDay,
  filterDates,
  InstanceMap,
  instanceOf,
  namesDay,
  type SeriesClock,
  seriesClock,
  seriesOf,
  wallIn,
} from './todo-instances.js';
import { shiftedTodo, withNamesMoved } from './todo-series.js';
import {
  dueOf,
  isInstance,
  type Moment,
  PARTS,
  readable,
  startOf,
  type TaskResourceRow,
  type TodoClock,
} from './todo-values.js';

/** The task with these properties. */
export const toTodo = (merged: ReadonlyMap<string, Property[]>): Component =>
  component('VTODO', [...merged.values()].flat());

/** @param own undefined removes the property */
export function replace(merged: Map<string, Property[]>, name: string, own: Property[] | undefined): void {
  if (own) merged.set(name, own);
  else merged.delete(name);
}

/** The properties of a text, and its changed instances. */
interface SeriesText {
  merged: Map<string, Property[]>;
  /** The properties of the task. */
  own: ReadonlyMap<string, Property[]>;
  others: readonly Component[];
}

const TIMES = PARTS.flatMap(({ names }) => (names.includes('DUE') ? names : []));

/** Gives a series the date that its task was moved to; returns the changed instances that it still has. */
export function moveSeries(
  { merged, own, others }: SeriesText,
  row: TaskResourceRow,
  clock: TodoClock,
): readonly Component[] {
  const moved = movedTimes(merged, row, clock);
  const later = laterInstances(others, merged, row, clock);
  for (const name of TIMES) replace(merged, name, (moved?.times ?? own).get(name));
  const named = moved ? renamed(later, merged, moved.namesBy, clock) : later;
  startAnew(merged, own, row, clock);
  return instancesAmong(named, merged, clock);
}

const dayOf = (date: string | null): number => (parseWallTime(date ?? '') ?? 0) / DAY;

/** The times of a series whose date was changed. */
interface MovedTimes {
  /** The start and the due date, as far apart as they were. */
  times: ReadonlyMap<string, Property[]>;
  /** Seconds by which the names of its instances move: those of a series in UTC, across a clock change. */
  namesBy: number;
}

/** Null: a day has become a time, or a time a day. */
function movedTimes(
  merged: ReadonlyMap<string, Property[]>,
  { date, due_at }: TaskResourceRow,
  clock: TodoClock,
): MovedTimes | null {
  const todo = toTodo(merged);
  const due = readable(() => dueOf(todo, clock));
  if (!due || due.isDate !== (due_at === null)) return null;
  const zone = Zone.of(due.zone ?? clock.zone);
  const instant = due_at === null ? due.instant : Math.floor(Date.parse(due_at) / 1000);
  const wall =
    due_at === null ? dayOf(date) * DAY - due.wall : zone.toWall(instant) - zone.toWall(due.instant);
  const exact = instant - due.instant;
  return readable(() => {
    const isUtc = (startOf(todo, clock) ?? due).isUtc;
    const { properties } = shiftedTodo(todo, wall, exact);
    return { times: Map.groupBy(properties, ({ name }) => name), namesBy: isUtc ? exact - wall : 0 };
  });
}

/** Moves the names of the instances of a series in UTC; returns its changed instances. */
function renamed(
  others: readonly Component[],
  merged: Map<string, Property[]>,
  seconds: number,
  clock: TodoClock,
): readonly Component[] {
  const kept = { properties: Object.fromEntries(merged), alarms: [], others: [...others] };
  const moved = withNamesMoved(kept, seconds, clock);
  replace(merged, 'EXDATE', moved.properties['EXDATE']);
  return moved.others;
}

/** A series whose date was changed has the rule and the dates from the new date on. */
function startAnew(
  merged: Map<string, Property[]>,
  own: ReadonlyMap<string, Property[]>,
  row: TaskResourceRow,
  clock: TodoClock,
): void {
  replace(merged, 'RRULE', own.get('RRULE'));
  const { clock: onClock, length } = seriesClock(row, toTodo(merged), clock);
  const isLeft = (moment: Moment, each: SeriesClock): boolean =>
    dueDay(moment, each, length) > dayOf(row.date);
  for (const name of ['EXDATE', 'RDATE']) {
    const left = (merged.get(name) ?? []).flatMap((given) => filterDates(given, onClock, isLeft) ?? []);
    replace(merged, name, left.length === 0 ? undefined : left);
  }
}

/**
 * The instances of a series whose date was changed: one that was completed ahead stays completed. The instance that the task stands for has
 * the new date.
 */
function laterInstances(
  others: readonly Component[],
  merged: ReadonlyMap<string, Property[]>,
  row: TaskResourceRow,
  clock: TodoClock,
): readonly Component[] {
  const { clock: onClock, length } = seriesClock(row, toTodo(merged), clock);
  const { scheduled, start, hour } = row.recurrence ?? {};
  const day = scheduled ?? row.date ?? '';
  // Another instance of the same day, at another time, is not the one that the task stands for.
  const current = parseWallTime(day + (hour ?? start?.slice(10) ?? ''));
  return others.filter((other) => {
    const moment = instanceOf(other, onClock);
    if (!moment) return !isInstance(other);
    const due = dueDay(moment, onClock, length);
    const isCurrent = namesDay(moment, onClock)
      ? due === dayOf(day)
      : wallIn(moment, onClock) + length === current;
    return due > dayOf(row.date) && !isCurrent;
  });
}

/** Instances of a moved series that are compared with the changed ones. */
const MAX_COMPARED = 2_000;

/** The changed instances that the series of these properties has, and other components: programs show the rest as tasks of their own. */
function instancesAmong(
  others: readonly Component[],
  merged: ReadonlyMap<string, Property[]>,
  clock: TodoClock,
): readonly Component[] {
  if (!others.some(isInstance)) return others;
  const series = readable(() => seriesOf(toTodo(merged), [], clock));
  if (!series) return others.filter((other) => !isInstance(other));
  const moments = others.map((other) => instanceOf(other, clock));
  const last = Math.max(...moments.map((moment) => moment?.instant ?? Number.NEGATIVE_INFINITY));
  const window = { from: Number.NEGATIVE_INFINITY, to: last + 2 * DAY, limit: MAX_COMPARED };
  const { byRules, dates } = series;
  const instances = instancesOf(
    { ...byRules, added: dates.added, excluded: InstanceMap.union(dates.excluded) },
    { ...window, readerZone: clock.zone },
  );
  const starts = new Set(instances.map(({ start }) => start));
  const days = new Set(instances.map(({ key }) => Math.floor(key / DAY)));
  return others.filter((other, n) => {
    const moment = moments[n];
    if (!moment) return !isInstance(other);
    return namesDay(moment, series.clock)
      ? days.has(Math.floor(wallIn(moment, series.clock) / DAY))
      : starts.has(moment.instant);
  });
}
