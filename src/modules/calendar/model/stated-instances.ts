import { type Component, parameterOf, type Property, propertyOf } from '../../../lib/icalendar/index.js';
import type { EventTimes } from './event-record.js';
import { isSeries } from './event-series.js';
import { knownInstances } from './known-instances.js';
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
  const known = knownInstances({ ...times, ...recurrence, excluded: [] }, [...read.values()], !start.rules);
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

const isCancelled = (instance: Component): boolean =>
  propertyOf(instance, 'STATUS')?.value.trim().toUpperCase() === 'CANCELLED';
