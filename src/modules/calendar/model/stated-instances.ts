import { type Component, parameterOf, type Property, propertyOf } from '../../../lib/icalendar/index.js';
import type { EventTimes } from './event-record.js';
import { instanceAt, isSeries } from './event-series.js';
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
  return (id && unlessInvalid(() => clock.keyOf(id, start, times))) ?? null;
}

export const hasRange = (id: Property | undefined): boolean =>
  id !== undefined && parameterOf(id, 'RANGE')?.toUpperCase() === 'THISANDFUTURE';

/** The recurrence of an event, and the components of its instances. */
export interface StatedInstances {
  recurrence: Recurrence;
  instances: readonly Component[];
}

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
): StatedInstances {
  const named = new Set(recurrence.excluded);
  const excluded = new Set(named);
  const stated = new Set<string>();
  const shown = instances.filter((each) => {
    const isPart = hasRange(propertyOf(each, 'RECURRENCE-ID')) || isCancelled(each);
    const key = isPart ? null : keyOfInstance(each, start, times, clock);
    if (key === null) return true;
    if (!named.has(key)) stated.add(key);
    else if (isDeleted(each)) return false;
    else {
      excluded.delete(key);
      stated.add(key);
    }
    return true;
  });
  return {
    recurrence: withDates({ ...recurrence, excluded: [...excluded] }, times, stated),
    instances: shown,
  };
}

/** A recurrence that has instances at these keys. */
function withDates(recurrence: Recurrence, times: EventTimes, keys: ReadonlySet<string>): Recurrence {
  const series = { ...times, ...recurrence };
  const missing = [...keys].filter((key) => !instanceAt(series, key));
  // A component of the only instance of an event is that of a series with one instance.
  if (missing.length === 0 && keys.size > 0 && !isSeries(recurrence)) missing.push(times.starts);
  const room = Math.max(0, MAX_DATES - recurrence.added.length);
  return { ...recurrence, added: [...recurrence.added, ...missing.slice(0, room)].toSorted() };
}

const isCancelled = (instance: Component): boolean =>
  propertyOf(instance, 'STATUS')?.value.trim().toUpperCase() === 'CANCELLED';
