import { instancesOf } from '../../../lib/recurrence/index.js';
import {
  EARLIEST,
  isSeries,
  longestInstance,
  type Occurrence,
  occurrenceAt,
  occurrencesIn,
  overlaps,
  overridden,
  seriesOf,
  type SeriesRecord,
  type TimeWindow,
} from './event-series.js';
import { isDay, wallText } from './event-times.js';

/** Maximum number of instances of one event that take place at the same moment. */
const MAX_AT_ONCE = 20_000;

/** Instants in seconds; null: no bound. */
interface Bounds {
  from: number | null;
  to: number | null;
}

/**
 * Whether an event ends after `from` and starts before `to`. For a series: whether its last instance ends after `from` and its first
 * one starts before `to`. The spans in the database have a margin, because SQL does not compute with zones.
 * @param readerZone of floating times and days
 */
export function isWithin(record: SeriesRecord, { from, to }: Bounds, readerZone: string): boolean {
  return (
    (to === null || startsBefore(record, to, readerZone)) &&
    (from === null || endsAfter(record, from, readerZone))
  );
}

function startsBefore(record: SeriesRecord, to: number, readerZone: string): boolean {
  return hasStart(record, { from: EARLIEST, to, readerZone });
}

/** An event without length ends after its start. */
function endsAfter(record: SeriesRecord, from: number, readerZone: string): boolean {
  const running = occurrencesIn(record, { from, to: from + 1, readerZone }, MAX_AT_ONCE);
  return running.length > 0 || hasStart(record, { from, to: Number.POSITIVE_INFINITY, readerZone });
}

/** Whether the event, or an instance of it, starts in a window. */
function hasStart(record: SeriesRecord, window: TimeWindow): boolean {
  const { from, to, readerZone } = window;
  const isInside = ({ start }: { start: number }): boolean => start >= from && start < to;
  if (!isSeries(record)) return occurrencesIn(record, window, 1).some(isInside);
  if (record.overrides.some((override) => isInside(overridden(record, override, readerZone)))) return true;
  const own = new Set(record.overrides.map(({ recurrence_key }) => recurrence_key));
  const isDate = isDay(record.starts);
  return instancesOf(seriesOf(record), { from, to, readerZone, limit: own.size + 1 }).some(
    ({ key }) => !own.has(wallText(key, isDate)),
  );
}

/** Instances of the first step of an expansion; each further step has twice as many. */
const FIRST_STEP = 16;
const LONGEST_STEP = 2_048;
/** Instances that COUNT counts in the time in which one is computed. */
const COUNTED_PER_UNIT = 16;

/** A step of the expansion of an event. */
export interface Step {
  found: Occurrence[];
  /** The measure of the work of the step: one for each instance that was computed, less for those that only COUNT counts. */
  cost: number;
  /** The instant before which all instances that follow the rules are known. */
  until: number;
}

/**
 * The instances of an event that overlap a window, as `occurrencesIn` returns them, in steps of less than two milliseconds. The caller
 * decides after each step whether to continue. Instances with overrides are part of the first step.
 */
export function* stepsOf(record: SeriesRecord, window: TimeWindow): Generator<Step, void> {
  const { from, to, readerZone } = window;
  const all = Number.POSITIVE_INFINITY;
  if (!isSeries(record)) return yield { found: occurrencesIn(record, window, 1), cost: 1, until: all };
  const isDate = isDay(record.starts);
  const series = seriesOf(record);
  const own = new Set(record.overrides.map(({ recurrence_key }) => recurrence_key));
  let found = record.overrides
    .map((override) => overridden(record, override, readerZone))
    .filter((one) => overlaps(one, window));
  let cost = own.size + series.rules.reduce((sum, { count }) => sum + (count ?? 0) / COUNTED_PER_UNIT, 0);
  let at = from - longestInstance(record);
  for (let limit = FIRST_STEP; ; limit = Math.min(2 * limit, LONGEST_STEP)) {
    const instances = instancesOf(series, { from: at, to, readerZone, limit });
    for (const { key, start } of instances) {
      const name = wallText(key, isDate);
      const one = own.has(name) ? null : occurrenceAt(record, name, key, null, readerZone, start);
      if (one && overlaps(one, window)) found.push(one);
    }
    const last = instances.at(-1);
    const isDone = !last || instances.length < limit;
    at = isDone ? all : last.start + 1;
    yield { found, cost: cost + instances.length + 1, until: at };
    if (isDone) return;
    found = [];
    cost = 0;
  }
}
