import { occurrencesIn, type SeriesRecord } from './event-series.js';
import { instantOf, wallOf } from './event-times.js';

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
