import { instancesOf } from '../../../lib/recurrence/index.js';
import {
  isSeries,
  longestInstance,
  type Occurrence,
  occurrenceAt,
  occurrencesIn,
  overlaps,
  overridden,
  type SeriesRecord,
  seriesOf,
  type TimeWindow,
} from './event-series.js';
import { isDay, wallText } from './event-times.js';

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
