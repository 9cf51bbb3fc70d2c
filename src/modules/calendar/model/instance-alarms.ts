import { isDeepStrictEqual } from 'node:util';
import type { Component } from '../../../lib/icalendar/index.js';
import type { InstanceAlarms, PlacedReminder } from '../calendar.schema.js';
import type { EntryRow, EventTimes } from './event-record.js';
import { keyMover } from './event-times.js';
import { INSTANCE_BYTES, sameReminders } from './ics/alarms.js';

type Alarmed = Pick<EntryRow, 'reminders' | 'instance_alarms'>;

/** The alarms of the instances of a placement after a change of the times of their series. */
export function followAlarms(
  { instance_alarms: alarms }: Pick<EntryRow, 'instance_alarms'>,
  before: EventTimes,
  after: EventTimes,
): Pick<EntryRow, 'instance_alarms'> {
  if (!alarms || before.starts === after.starts) return {};
  const move = keyMover(before, after);
  return {
    instance_alarms: Object.fromEntries(Object.entries(alarms).map(([key, own]) => [move(key), own])),
  };
}

/** The alarms of a placement whose series begins with the instance of this key. */
export const laterAlarms = ({ instance_alarms: alarms }: Pick<EntryRow, 'instance_alarms'>, from: string) =>
  alarms
    ? { instance_alarms: Object.fromEntries(Object.entries(alarms).filter(([key]) => key >= from)) }
    : {};

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
