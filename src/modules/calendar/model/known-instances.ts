import { DAY, instancesOf } from '../../../lib/recurrence/index.js';
import type { EventRecord } from './event-record.js';
import { type Occurrence, occurrenceAt, overridden, seriesOf, type SeriesRow } from './event-series.js';
import { instantOf, isDay, wallIn, wallOf, wallText } from './event-times.js';

/** More instances than these are looked up one by one. */
const MAX_EXPANDED = 4_000;

/**
 * Finds the instance of a series that a key means. Programs state a time in the gap of a clock change as the time at which the instance
 * starts.
 * @param keys all that will be asked for
 * @param namesDays midnight may name the day of an instance
 */
export function knownInstances(
  record: SeriesRow,
  keys: readonly (string | null)[],
  namesDays: boolean,
): (key: string) => { key: string; isKnown: boolean } {
  const walls = keys.flatMap((key) => (key === null ? [] : [wallOf(key)]));
  if (walls.length === 0) return (key) => ({ key, isKnown: false });
  const isDate = isDay(record.starts);
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
    const isDayOnly = namesDays && !isDate && wall % DAY === 0;
    const onDay = !isDayOnly ? [] : isExpanded ? (byDay.get(wall / DAY) ?? []) : within(DAY, 2);
    const [found, another] = same.length > 0 ? same : onDay;
    return found && !another ? { key: wallText(found.key, isDate), isKnown: true } : { key, isKnown: false };
  };
}

/** The key of the instance of a stored series, also of an excluded one, that the key in a message means. */
export const meantKey = (series: SeriesRow, key: string): string =>
  knownInstances({ ...series, excluded: [] }, [key], true)(key).key;

/** Zones skip at most a day, as Samoa did when it changed the side of the date line. */
const LONGEST_GAP = 26 * 3600;

/** Whether a wall time lies in the gap of a clock change, or after a gap by less than its length: another wall time is the same instant. */
function isAtGap(wall: number, zone: string): boolean {
  const instant = instantOf(wall, zone);
  const shown = wallIn(zone, instant);
  const before = wallIn(zone, instant - LONGEST_GAP) + LONGEST_GAP;
  return shown > before && instantOf(before, zone) === instant;
}

/**
 * The keys of the instances that times name, which are those of their instants (RFC 5545, 3.8.5.1): in the gap of a clock change, an instance
 * has its nominal time as its key, and programs state the time at which it starts.
 * @param keys the times on the clock of the series
 */
export function findKeys(series: SeriesRow, keys: readonly string[]): string[] {
  const { time_zone: zone } = series;
  if (zone === null || isDay(series.starts)) return [...keys];
  // The instances near one clock change are few, those between two of them may be many.
  const unclear = Map.groupBy(
    keys.filter((key) => isAtGap(wallOf(key), zone)),
    (key) => key.slice(0, 10),
  );
  const meant = new Map<string, string>();
  for (const ofDay of unclear.values()) {
    const known = knownInstances(series, ofDay, false);
    for (const key of ofDay) meant.set(key, known(key).key);
  }
  return keys.map((key) => meant.get(key) ?? key);
}

/**
 * The keys of the instances of a series on a day.
 * @param day its midnight on the clock of the series
 */
export function keysOnDay(day: number, series: SeriesRow, limit: number): string[] {
  const window = { from: instantOf(day, series.time_zone), to: instantOf(day + DAY, series.time_zone) };
  return instancesOf(seriesOf(series), { ...window, limit }).map(({ key }) => wallText(key, false));
}

/** Finds the instances of a stored series by their keys; null where it has none. @param keys all that will be asked for */
export function occurrenceFinder(
  record: EventRecord,
  keys: readonly string[],
  readerZone: string,
): (key: string) => Occurrence | null {
  const overrides = new Map(record.overrides.map((override) => [override.recurrence_key, override]));
  const others = keys.filter((key) => !overrides.has(key));
  const find = knownInstances(record, others, true);
  return (key) => {
    const override = overrides.get(key);
    if (override) return overridden(record, override, readerZone);
    const found = find(key);
    const isInstance = found.isKnown && found.key === key;
    return isInstance ? occurrenceAt(record, key, wallOf(key), null, readerZone) : null;
  };
}
