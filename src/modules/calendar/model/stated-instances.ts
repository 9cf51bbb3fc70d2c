import { type Component, parameterOf, type Property, propertyOf } from '../../../lib/icalendar/index.js';
import { DAY, instancesOf } from '../../../lib/recurrence/index.js';
import type { EventRecord, EventTimes } from './event-record.js';
import {
  isSeries,
  type Occurrence,
  occurrenceAt,
  overridden,
  seriesOf,
  type SeriesRow,
} from './event-series.js';
import { instantOf, isDay, wallOf, wallText } from './event-times.js';
import { MAX_DATES, type Start, unlessInvalid } from './vevent-time-parts.js';
import type { EventClock, Recurrence } from './vevent-times.js';

/** The key of the instance that a component changes; null where it has none that can be read. */
export function keyOfInstance(
  instance: Component,
  start: Start,
  times: EventTimes,
  clock: EventClock,
): string | null {
  const id = propertyOf(instance, 'RECURRENCE-ID');
  return (id && unlessInvalid(() => clock.keyOf(id, start, times, instance))) ?? null;
}

export const hasRange = (id: Property | undefined): boolean =>
  id !== undefined && parameterOf(id, 'RANGE')?.toUpperCase() === 'THISANDFUTURE';

/** The recurrence of an event, and the components of its instances. */
export interface StatedInstances {
  recurrence: Recurrence;
  instances: readonly Component[];
}

/** The instances that components change, each read once. Components without a readable RECURRENCE-ID have none. */
export type InstanceKeys = ReadonlyMap<Component, string | null>;

/**
 * The recurrence of an event with each instance that has a component: programs change a rule and leave the components of its former instances,
 * and write components of an event without a rule.
 * @param isDeleted whether EXDATE names an instance because it was deleted later: its component is left out. Older programs exclude each
 *   instance that they write as a component
 */
export function withStatedInstances(
  { recurrence, instances }: StatedInstances,
  times: EventTimes,
  start: Start,
  clock: EventClock,
  isDeleted: (instance: Component) => boolean,
): StatedInstances & { keys: InstanceKeys } {
  const named = new Set(recurrence.excluded);
  const excluded = new Set(named);
  const stated = new Set<string>();
  const read = new Map(instances.map((each) => [each, keyOfInstance(each, start, times, clock)]));
  const known = knownInstances({ ...times, ...recurrence, excluded: [] }, [...read.values()], start);
  const keys = new Map(
    [...read].map(([each, key]) => [each, key === null || named.has(key) ? key : known(key).key]),
  );
  const missing = new Set<string>();
  const shown = instances.filter((each) => {
    const isPart = hasRange(propertyOf(each, 'RECURRENCE-ID')) || isCancelled(each);
    const key = isPart ? null : (keys.get(each) ?? null);
    if (key === null) return true;
    if (!named.has(key)) stated.add(key);
    else if (isDeleted(each)) return false;
    else {
      excluded.delete(key);
      stated.add(key);
    }
    if (!known(key).isKnown) missing.add(key);
    return true;
  });
  // A component of the only instance of an event is that of a series with one instance.
  if (missing.size === 0 && stated.size > 0 && !isSeries(recurrence)) missing.add(times.starts);
  const room = Math.max(0, MAX_DATES - recurrence.added.length);
  const added = [...recurrence.added, ...[...missing].slice(0, room)].toSorted();
  return { recurrence: { ...recurrence, added, excluded: [...excluded] }, instances: shown, keys };
}

/** The key of the instance of a stored series, also of an excluded one, that the key in a message means. */
export const meantKey = (series: SeriesRow, key: string): string =>
  knownInstances({ ...series, excluded: [] }, [key], { isDate: isDay(series.starts), rules: null })(key).key;

/** Finds the instances of a stored series by their keys; null where it has none. @param keys all that will be asked for */
export function occurrenceFinder(
  record: EventRecord,
  keys: readonly string[],
  readerZone: string,
): (key: string) => Occurrence | null {
  const overrides = new Map(record.overrides.map((override) => [override.recurrence_key, override]));
  const others = keys.filter((key) => !overrides.has(key));
  const find = knownInstances(record, others, { isDate: isDay(record.starts), rules: null });
  return (key) => {
    const override = overrides.get(key);
    if (override) return overridden(record, override, readerZone);
    const found = find(key);
    const isInstance = found.isKnown && found.key === key;
    return isInstance ? occurrenceAt(record, key, wallOf(key), null, readerZone) : null;
  };
}

/** More instances than these are looked up one by one. */
const MAX_EXPANDED = 4_000;

/**
 * Finds the instance of a series that a key means. Programs state midnight for the day of an instance, and a time in the gap of a clock change
 * as the time at which the instance starts.
 * @param keys all that will be asked for
 */
function knownInstances(
  record: SeriesRow,
  keys: readonly (string | null)[],
  start: Pick<Start, 'isDate' | 'rules'>,
): (key: string) => { key: string; isKnown: boolean } {
  const walls = keys.flatMap((key) => (key === null ? [] : [wallOf(key)]));
  if (walls.length === 0) return (key) => ({ key, isKnown: false });
  const series = seriesOf(record);
  const instantOfWall = (wall: number): number => instantOf(wall, record.time_zone);
  const first = instantOfWall(walls.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)) - DAY;
  const last = instantOfWall(walls.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)) + 2 * DAY;
  const expanded = instancesOf(series, { from: first, to: last, limit: MAX_EXPANDED });
  const end = expanded.length < MAX_EXPANDED ? last : (expanded.at(-1)?.start ?? first) - DAY;
  const byWall = new Set(expanded.map(({ key }) => key));
  const byInstant = Map.groupBy(expanded, (each) => each.start);
  const byDay = Map.groupBy(expanded, ({ key }) => Math.floor(key / DAY));
  return (key) => {
    const wall = wallOf(key);
    if (byWall.has(wall)) return { key, isKnown: true };
    const at = instantOfWall(wall);
    const isExpanded = at < end;
    const within = (length: number, limit: number) =>
      instancesOf(series, { from: at, to: at + length, limit });
    const same = isExpanded ? (byInstant.get(at) ?? []) : within(1, 2);
    if (same.some((each) => each.key === wall)) return { key, isKnown: true };
    const isDayOnly = !start.isDate && !start.rules && wall % DAY === 0;
    const onDay = !isDayOnly ? [] : isExpanded ? (byDay.get(wall / DAY) ?? []) : within(DAY, 2);
    const [found, another] = same.length > 0 ? same : onDay;
    return found && !another
      ? { key: wallText(found.key, start.isDate), isKnown: true }
      : { key, isKnown: false };
  };
}

const isCancelled = (instance: Component): boolean =>
  propertyOf(instance, 'STATUS')?.value.trim().toUpperCase() === 'CANCELLED';
