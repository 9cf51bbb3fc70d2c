import { instancesOf } from '../../../lib/recurrence/index.js';
import {
  EARLIEST,
  isSeries,
  occurrencesIn,
  overridden,
  type SeriesRecord,
  seriesOf,
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
