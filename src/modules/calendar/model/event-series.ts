import {
  DAY,
  type Instance,
  instancesOf,
  lastInstance,
  parseRule,
  type Rule,
  type Series,
} from '../../../lib/recurrence/index.js';
import type { EventContent, EventRecord, EventRow, EventTimes, OverrideRow } from './event-record.js';
import {
  formatInstant,
  instantOf,
  isDay,
  lengthAt,
  nominalLength,
  timesAt,
  wallIn,
  wallOf,
  wallText,
} from './event-times.js';

/** One instance of an event, or a single event. */
export interface Occurrence {
  /** Nominal wall time in the zone of the series; null for a single event. */
  key: string | null;
  /** Wall time of the start. */
  wall: number;
  /** Instants in seconds. */
  start: number;
  end: number;
  override: OverrideRow | null;
}

export interface TimeWindow {
  /** Instants in seconds: from (inclusive) to (exclusive). */
  from: number;
  to: number;
  /** Zone in which floating times and days are read. */
  readerZone: string;
}

/** First and last instant of all instances, as `calendar_entries` stores them. */
export interface Span {
  span_start: string;
  span_end: string;
  wide: boolean;
}

/** An instant in seconds before all times of events. */
export const EARLIEST = -2_300_000_000;
/** Zones differ by at most 26 hours; floating times and days are read in any zone. */
const MARGIN = 26 * 3600;
/** Longer events are wide. Other events that overlap a window start at most this long before it. */
const WIDE = 31 * DAY;
/** Maximum number of instances that start before a window and are read because they may last into it. */
const MAX_RUNNING = 20_000;
/**
 * At a clock change, an instance may be longer, such as a night shift by an hour, and a later wall time may be an earlier instant; seconds.
 */
const CLOCK_CHANGE = 3 * 3600;

export const isSeries = ({ rules, added }: Pick<EventRow, 'rules' | 'added'>): boolean =>
  rules.length + added.length > 0;

const parsed = new Map<string, Rule>();
const MAX_PARSED = 5_000;

/** Parses a rule of the database, with a cache. */
function ruleOf(text: string): Rule {
  const cached = parsed.get(text);
  if (cached) return cached;
  const rule = parseRule(text);
  if (parsed.size >= MAX_PARSED) parsed.clear();
  parsed.set(text, rule);
  return rule;
}

export type SeriesRow = EventTimes & Pick<EventRow, 'rules' | 'added' | 'excluded'>;

/** The columns that determine the times of all instances. */
export type SeriesRecord = SeriesRow & Pick<EventRecord, 'overrides'>;

/** The series of an event for the recurrence library. */
export function seriesOf(row: SeriesRow): Series {
  return {
    start: wallOf(row.starts),
    zone: row.time_zone,
    isDate: isDay(row.starts),
    rules: row.rules.map(ruleOf),
    added: row.added.map(wallOf),
    excluded: { walls: row.excluded.map(wallOf) },
  };
}

/** The fields of an instance: those of its override, else those of the series. */
export function contentOf(record: EventRow, occurrence: Occurrence): EventContent {
  const own = occurrence.override?.patch;
  if (occurrence.key === null) return record;
  const times = own?.starts === undefined ? timesAt(record, occurrence.wall) : {};
  return { ...record, ...times, ...own };
}

/**
 * The times of an instance as a clock shows them: a start or an end in the gap of a clock change has moved forward
 * (the offset before the gap counts), and an exact length may end at another wall time.
 */
export function clockTimes(
  content: EventTimes,
  { start, end }: Pick<Occurrence, 'start' | 'end'>,
  readerZone: string,
): Pick<EventTimes, 'starts' | 'ends'> {
  const { starts, ends, time_zone: zone, end_time_zone: endZone, exact_duration: isExact } = content;
  const at = (text: string, name: string | null, instant: number) =>
    name === null || isDay(text) ? text : wallText(wallIn(name, instant), false);
  return {
    starts: at(starts, zone, start),
    ends: at(ends, endZone ?? zone ?? (isExact ? readerZone : null), end),
  };
}

export function occurrenceAt(
  times: EventTimes,
  key: string | null,
  wall: number,
  override: OverrideRow | null,
  readerZone: string,
  knownStart?: number,
): Occurrence {
  const start = knownStart ?? instantOf(wall, times.time_zone, readerZone);
  return { key, wall, start, end: start + lengthAt(times, wall, start, readerZone), override };
}

/** An overridden instance. */
export function overridden(record: EventTimes, override: OverrideRow, readerZone: string): Occurrence {
  const { recurrence_key: key, patch } = override;
  const wall = wallOf(patch.starts ?? key);
  const times = patch.starts === undefined ? record : { ...record, ...patch };
  return occurrenceAt(times, key, wall, override, readerZone);
}

/** Half-open overlap; an event without length belongs to the window that contains its start. */
export const overlaps = ({ start, end }: Occurrence, { from, to }: TimeWindow): boolean =>
  start < to && (end > from || (start === end && start >= from));

/** An upper bound of the seconds that an instance takes: start and end may have different zones, and clocks change. */
export const longestInstance = (times: EventTimes): number =>
  Math.max(0, nominalLength(times)) + (times.end_time_zone === null ? CLOCK_CHANGE : MARGIN);

/**
 * The instances of an event that overlap a window, overrides included, not in order.
 * @param limit maximum number of instances that start in the window and follow the rules
 */
export function occurrencesIn(record: SeriesRecord, window: TimeWindow, limit: number): Occurrence[] {
  const { readerZone } = window;
  if (!isSeries(record)) {
    const only = occurrenceAt(record, null, wallOf(record.starts), null, readerZone);
    return overlaps(only, window) ? [only] : [];
  }
  const isDate = isDay(record.starts);
  const found: Occurrence[] = [];
  const own = new Map(record.overrides.map((override) => [override.recurrence_key, override]));
  const series = seriesOf(record);
  const { from, to } = window;
  const earlier = {
    from: from - longestInstance(record),
    to: Math.min(from, to),
    readerZone,
    limit: MAX_RUNNING,
  };
  const within = { from, to, readerZone, limit: limit + own.size };
  for (const { key, start } of [...instancesOf(series, earlier), ...instancesOf(series, within)]) {
    const name = wallText(key, isDate);
    if (own.has(name)) continue;
    const one = occurrenceAt(record, name, key, null, readerZone, start);
    if (overlaps(one, window)) found.push(one);
  }
  for (const override of record.overrides) {
    const one = overridden(record, override, readerZone);
    if (overlaps(one, window)) found.push(one);
  }
  return found;
}

/** Whether a series has an instance left; a single event has one. */
export function hasInstances(record: SeriesRecord): boolean {
  const window = { from: EARLIEST, to: Number.POSITIVE_INFINITY, readerZone: 'UTC' };
  return isSeries(record) ? occurrencesIn(record, window, 1).length > 0 : record.excluded.length === 0;
}

/** The instance with this key, or null where the series has none. */
export function occurrenceOf(record: EventRecord, key: string, readerZone: string): Occurrence | null {
  const override = record.overrides.find(({ recurrence_key }) => recurrence_key === key);
  if (override) return overridden(record, override, readerZone);
  const instance = instanceAt(record, key);
  return instance && occurrenceAt(record, key, instance.key, null, readerZone);
}

/** Whether an instance takes place in a window, or would at its nominal time. @param window instants in seconds */
export function concernsWindow(
  record: EventRecord,
  key: string,
  { from, to }: { from: number; to: number },
  readerZone: string,
): boolean {
  const overlaps = (start: number, end: number): boolean =>
    start < to && (end > from || (start === end && start >= from));
  const found = occurrenceOf(record, key, readerZone);
  const start = instantOf(wallOf(key), record.time_zone, readerZone);
  return (
    (found !== null && overlaps(found.start, found.end)) || overlaps(start, start + nominalLength(record))
  );
}

/** The first instance of the rules at a wall time or after it, which may be an excluded one. */
export function firstFrom(byRules: Series, at: number): number | null {
  const from = instantOf(Math.max(at, byRules.start), byRules.zone) - CLOCK_CHANGE;
  const to = from + 2 * CLOCK_CHANGE;
  const near = instancesOf(byRules, { from, to }).filter(({ key }) => key >= at);
  if (near.length > 0) return Math.min(...near.map(({ key }) => key));
  return instancesOf(byRules, { from: to, to: Number.POSITIVE_INFINITY, limit: 1 })[0]?.key ?? null;
}

/** The nominal instance with this key, or null. */
export function instanceAt(record: SeriesRow, key: string): Instance | null {
  const wall = wallOf(key);
  const from = instantOf(wall, record.time_zone);
  return instancesOf(seriesOf(record), { from, to: from + 1 }).find((found) => found.key === wall) ?? null;
}

/** The key of the instance that starts nominally at this instant, or null. */
export function keyAt(record: SeriesRow, instant: number): string | null {
  const [found] = instancesOf(seriesOf(record), { from: instant, to: instant + 1 });
  return found ? wallText(found.key, isDay(record.starts)) : null;
}

/** The last instant at which UNTIL allows an instance to start, without the offset of the zone. */
const latestStart = ({ until }: Rule): number =>
  until === null ? Number.NEGATIVE_INFINITY : until.time + (until.kind === 'date' ? DAY : 0);

/** The seconds in which an event takes place; `end` null: it has no end. Null means that the series has no instance. */
function boundsOf(record: EventRecord): { start: number; end: number | null } | null {
  const length = longestInstance(record);
  const first = instantOf(wallOf(record.starts), record.time_zone);
  let start = first;
  let end: number | null = first + length;
  if (isSeries(record)) {
    const series = seriesOf(record);
    start = Math.min(first, ...(series.added ?? []).map((wall) => instantOf(wall, record.time_zone)));
    const last = lastInstance(series);
    if (last === null && record.overrides.length === 0) return null;
    if (last === 'endless') end = null;
    // After a change of zone rules, an instance that is after UNTIL today may be before it: the span reaches to UNTIL.
    else if (last) end = Math.max(last.start, ...series.rules.map(latestStart)) + length;
  }
  for (const override of record.overrides) {
    const one = overridden(record, override, 'UTC');
    start = Math.min(start, one.start);
    if (end !== null) end = Math.max(end, one.end);
  }
  return { start, end };
}

/** Whether all instances of an event are over. @param now RFC 3339 */
export function hasEnded(record: EventRecord, now: string): boolean {
  const bounds = boundsOf(record);
  return bounds === null || (bounds.end !== null && bounds.end * 1000 <= Date.parse(now));
}

/**
 * All instants that an event covers. Null means that the series has no instance. Changes of zone rules shift instances by less than the
 * margin, so stored spans stay valid.
 */
export function spanOf(record: EventRecord): Span | null {
  const bounds = boundsOf(record);
  if (bounds === null) return null;
  const { start, end } = bounds;
  return {
    span_start: formatInstant(start - MARGIN),
    span_end: end === null ? 'infinity' : formatInstant(end + MARGIN),
    wide: isSeries(record) || end === null || end - start > WIDE,
  };
}

/** A window as queries take it. Spans of overlapping events that are not wide begin at `reach` or later. */
export const rangeOf = ({ from, to }: Pick<TimeWindow, 'from' | 'to'>) => ({
  from: formatInstant(from),
  to: formatInstant(to),
  reach: formatInstant(from - WIDE - 2 * MARGIN),
});

const compact = (text: string): string => text.replaceAll(/[-:]/g, '');

/** `<event>_20260302T080000Z`: the event and the nominal start of an instance, in UTC. Days and floating times are not converted. */
export function instanceId(record: EventRow, key: string): string {
  if (isDay(key) || record.time_zone === null) return `${record.id}_${compact(key)}`;
  return `${record.id}_${compact(formatInstant(instantOf(wallOf(key), record.time_zone)))}`;
}

/** Maximum number of instances that a change of an instance and all later ones covers. */
const MAX_FOLLOWING = 1_000;

/** The keys of an instance and of the later ones, in order. */
export function laterKeys(record: SeriesRecord, key: string): string[] {
  const from = instantOf(wallOf(key), record.time_zone);
  const window = { from, to: Number.POSITIVE_INFINITY, readerZone: 'UTC' };
  const later = occurrencesIn(record, window, MAX_FOLLOWING)
    .flatMap((occurrence) => occurrence.key ?? [])
    .filter((other) => other > key);
  return [key, ...later.toSorted().slice(0, MAX_FOLLOWING)];
}
