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

/**
 * The recurrence of an event with each instance that its file states: programs exclude an instance that they write as a component, change a
 * rule and leave the components of its former instances, and write components of an event without a rule.
 * @param instances the first ones that are read
 */
export function withStatedInstances(
  recurrence: Recurrence,
  times: EventTimes,
  start: Start,
  instances: readonly Component[],
  clock: EventClock,
): Recurrence {
  const stated = new Set<string>();
  for (const each of instances) {
    if (hasRange(propertyOf(each, 'RECURRENCE-ID')) || isCancelled(each)) continue;
    const key = keyOfInstance(each, start, times, clock);
    if (key !== null) stated.add(key);
  }
  if (stated.size === 0) return recurrence;
  const excluded = recurrence.excluded.filter((key) => !stated.has(key));
  const series = { ...times, ...recurrence, excluded };
  const missing = [...stated].filter((key) => !instanceAt(series, key));
  // A component of the only instance of an event is that of a series with one instance.
  if (missing.length === 0 && !isSeries(recurrence)) missing.push(times.starts);
  const room = Math.max(0, MAX_DATES - recurrence.added.length);
  const added = [...recurrence.added, ...missing.slice(0, room)].toSorted();
  return { ...recurrence, added, excluded };
}

const isCancelled = (instance: Component): boolean =>
  propertyOf(instance, 'STATUS')?.value.trim().toUpperCase() === 'CANCELLED';
