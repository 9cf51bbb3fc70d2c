import { isDeepStrictEqual } from 'node:util';
import type { Component } from '../../../lib/icalendar/index.js';
import type { InstanceAlarms, PlacedReminder } from '../calendar.schema.js';
import { isOrphaned } from './dependent-properties.js';
import type { EntryRow, EventRow } from './event-record.js';
import { keyMover } from './event-times.js';
import { INSTANCE_BYTES, sameReminders } from './ics/alarms.js';

type Alarmed = Pick<EntryRow, 'reminders' | 'instance_alarms'>;

/** The alarms of the instances of a placement after a change of the times of their series. */
export function followAlarms(
  { instance_alarms: alarms }: Pick<EntryRow, 'instance_alarms'>,
  before: EventRow,
  after: EventRow,
): Pick<EntryRow, 'instance_alarms'> {
  if (!alarms || before.starts === after.starts || keepsKeys(before, after)) return {};
  const move = keyMover(before, after);
  return {
    instance_alarms: Object.fromEntries(Object.entries(alarms).map(([key, own]) => [move(key), own])),
  };
}

/** Whether the instances keep their keys: only some were known before, or only added ones are left. */
const keepsKeys = (before: EventRow, after: EventRow): boolean =>
  isOrphaned(before) ||
  (before.rules.length > 0 && after.rules.length === 0 && before.added.includes(after.starts));

/** The placements of a series that is split before the instance of this key. */
export const splitAlarms = <Entry extends Pick<EntryRow, 'instance_alarms'>>(
  entries: readonly Entry[],
  key: string,
): { earlier: Entry[]; later: Entry[] } => ({
  earlier: entries.map((entry) => withAlarms(entry, (other) => other < key)),
  later: entries.map((entry) => withAlarms(entry, (other) => other >= key)),
});

function withAlarms<Entry extends Pick<EntryRow, 'instance_alarms'>>(
  entry: Entry,
  isKept: (key: string) => boolean,
): Entry {
  const { instance_alarms: alarms } = entry;
  if (!alarms) return entry;
  const kept = Object.entries(alarms).filter(([key]) => isKept(key));
  return { ...entry, instance_alarms: Object.fromEntries(kept) };
}

/** The reminders of an instance: its own, else those of the series. Null means those of the calendar. */
export function remindersAt(
  { reminders, instance_alarms: alarms }: Alarmed,
  key: string | null,
): PlacedReminder[] | null {
  const own = key === null ? undefined : alarms?.[key];
  return own ? own.reminders : reminders;
}

/**
 * The placement after a request states the reminders of one instance. An instance with the alarms of its series follows it.
 * @param others the alarms of the series that are no reminders
 * @returns null where the instances of the series would have too many reminders of their own
 */
export function withRemindersAt(
  entry: Alarmed,
  key: string,
  reminders: PlacedReminder[] | null,
  others: readonly Component[],
): Pick<EntryRow, 'instance_alarms'> | null {
  if (sameReminders(reminders, remindersAt(entry, key))) return {};
  const { [key]: before, ...rest } = entry.instance_alarms ?? {};
  const own: InstanceAlarms = { reminders, alarms: before?.alarms ?? [...others] };
  const isUsual = sameReminders(reminders, entry.reminders) && isDeepStrictEqual(own.alarms, others);
  const instance_alarms = isUsual ? rest : { ...rest, [key]: own };
  return JSON.stringify(instance_alarms).length > INSTANCE_BYTES ? null : { instance_alarms };
}
