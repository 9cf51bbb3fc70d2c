import { isDeepStrictEqual } from 'node:util';
import {
  component,
  type Component,
  formatDuration,
  ICalendarError,
  parameterOf,
  parseDuration,
  parseTime,
  property,
  type Property,
  propertyOf,
} from '../../../../lib/icalendar/index.js';
import { uriOfAddress } from '../../../../lib/itip/index.js';
import { DAY } from '../../../../lib/recurrence/index.js';
import type { InstanceAlarms, PlacedReminder, Reminder } from '../../calendar.schema.js';
import type { EventTimes } from '../event-record.js';
import { instantOf, lengthAt, wallOf } from '../event-times.js';
import { storableComponents } from './storable.js';

const MAX_REMINDERS = 10;
const MAX_MINUTES = 60 * 24 * 40;
/** Bytes of JSON of the alarms of all reminders of a placement; later alarms keep only method and time. */
const MAX_BYTES = 8 * 1024;
/** Bytes of JSON of the alarms of all instances of a placement: a write of a meeting reads those of all attendees. */
export const INSTANCE_BYTES = 32 * 1024;
/** Bytes of them after which instances keep only methods and times. */
const INSTANCE_TEXT_BYTES = INSTANCE_BYTES / 2;

/** The alarms of an event. */
export interface Alarms {
  /**
   * Those before the start, in whole minutes. Null: the event has none, and states nothing about them. Apple's "None" and an alarm of a
   * place state that there are none.
   */
  reminders: PlacedReminder[] | null;
  /** Those after the start, with an absolute time for series, days and floating times, those that repeat a reminder, and further ones. */
  others: Component[];
}

/** Reads the VALARMs of an event. */
export function alarmsOf(event: Component, times: EventTimes, isSeries: boolean): Alarms {
  const { reminders, others } = sortAlarms(event, times, isSeries);
  const isStated = reminders.length > 0 || others.some(isInsteadOfReminders);
  return { reminders: isStated ? reminders : null, others: storableComponents(others) };
}

/** @param noReminders texts of alarms that are no reminders of the series: they are none of its instances either */
function sortAlarms(
  event: Component,
  times: EventTimes,
  isSeries: boolean,
  noReminders: ReadonlySet<string> = new Set(),
): { reminders: PlacedReminder[]; others: Component[] } {
  const reminders: PlacedReminder[] = [];
  const others: Component[] = [];
  let bytes = 0;
  for (const each of event.components) {
    if (each.name !== 'VALARM') continue;
    const reminder = noReminders.has(textOf(each)) ? null : reminderOf(each, times, isSeries);
    const alarm = reminder && keptAlarm(each);
    const same =
      reminder &&
      reminders.find(({ method, minutes }) => method === reminder.method && minutes === reminder.minutes);
    const isOther = same ? alarm && !isDeepStrictEqual(same.alarm, alarm) : reminders.length >= MAX_REMINDERS;
    if (!reminder || isOther) others.push(each);
    else if (!same) {
      bytes += alarm ? JSON.stringify(alarm).length : 0;
      reminders.push({ ...reminder, ...(alarm && bytes <= MAX_BYTES && { alarm }) });
    }
  }
  return { reminders, others };
}

const textOf = (value: unknown): string => JSON.stringify(value);

/** Whether an alarm states that no time before the start is to ring: ACTION:NONE, and the arrival at a place. */
const isInsteadOfReminders = (alarm: Component): boolean =>
  actionOf(alarm) === 'NONE' || propertyOf(alarm, 'X-APPLE-PROXIMITY') !== undefined;

const actionOf = (alarm: Component): string | undefined =>
  propertyOf(alarm, 'ACTION')?.value.trim().toUpperCase();

/** An instance of a series in a text; several with RANGE=THISANDFUTURE. */
export interface AlarmedInstances {
  keys: readonly string[];
  event: Component;
  times: EventTimes;
}

/**
 * The alarms of the instances that have others than their series, by key. A VEVENT with RECURRENCE-ID states all alarms of its instance: one
 * without VALARM has none (RFC 5545, 3.6.1). Later instances of the list override earlier ones.
 * @returns `isCut`: some exceed the bytes that are kept
 */
export function instanceAlarmsOf(
  master: Component,
  times: EventTimes,
  isSeries: boolean,
  instances: readonly AlarmedInstances[],
): { instanceAlarms: Record<string, InstanceAlarms>; isCut: boolean } {
  const { reminders, others } = alarmsOf(master, times, isSeries);
  const noReminders = new Set(sortAlarms(master, times, isSeries).others.map(textOf));
  const found = new Map<string, InstanceAlarms>();
  let bytes = 0;
  let isCut = false;
  for (const { keys, event, times: at } of instances) {
    const given = sortAlarms(event, at, false, noReminders);
    const isStated = given.reminders.length > 0 || given.others.some(isInsteadOfReminders);
    const own = {
      reminders: isStated || reminders !== null ? given.reminders : null,
      alarms: storableComponents(given.others),
    };
    const isSame = sameReminders(own.reminders, reminders) && sameAlarms(own.alarms, others);
    const bare = { reminders: withoutTexts(own.reminders), alarms: [] };
    // Without its texts, the instance has the reminders of its series.
    const isUsual = sameReminders(bare.reminders, withoutTexts(reminders));
    const [wholeSize, bareSize] = [sizeOf(own), sizeOf(bare)];
    for (const key of keys) {
      found.delete(key);
      if (isSame) continue;
      const isWhole = bytes + wholeSize <= INSTANCE_TEXT_BYTES;
      isCut ||= !isWhole && wholeSize > bareSize;
      if (!isWhole && isUsual) continue;
      const size = isWhole ? wholeSize : bareSize;
      isCut ||= bytes + size > INSTANCE_BYTES;
      if (bytes + size > INSTANCE_BYTES) continue;
      bytes += size;
      found.set(key, isWhole ? own : bare);
    }
  }
  return { instanceAlarms: Object.fromEntries(found), isCut };
}

/** Bytes of the alarms of an instance with its key. */
const sizeOf = (own: InstanceAlarms): number => textOf(own).length + 30;

const withoutTexts = (reminders: readonly PlacedReminder[] | null): PlacedReminder[] | null =>
  reminders && reminders.map(({ method, minutes }) => ({ method, minutes }));

/** Whether two lists have the same reminders, in any order; null: those of the calendar. */
export const sameReminders = (
  a: readonly PlacedReminder[] | null,
  b: readonly PlacedReminder[] | null,
): boolean => (a === null || b === null ? a === b : isDeepStrictEqual(inOrder(a), inOrder(b)));

const inOrder = (list: readonly PlacedReminder[]): PlacedReminder[] =>
  list.toSorted((a, b) => a.minutes - b.minutes || (a.method < b.method ? -1 : 1));

const sameAlarms = (a: readonly Component[], b: readonly Component[]): boolean =>
  isDeepStrictEqual(a.map(textOf).toSorted(), b.map(textOf).toSorted());

/**
 * The VALARM of a reminder. An alarm by mail needs SUMMARY and ATTENDEE (RFC 5545, 3.6.6).
 * @param key of the instance; null: the whole event
 * @param ownerEmail the address of the owner of the placement; without it an alarm by mail is one that is shown
 */
export function alarmVcomponent(
  { method, minutes, alarm: whole, instances }: PlacedReminder,
  ownerEmail: string | undefined,
  key: string | null,
): Component {
  const alarm = (key === null ? undefined : instances?.[key]) ?? whole;
  const trigger = property('TRIGGER', formatDuration({ days: 0, seconds: -minutes * 60 }));
  if (alarm) {
    const own = propertyOf(alarm, 'TRIGGER') ? [] : [trigger];
    return component('VALARM', [...alarm.properties, ...own], alarm.components);
  }
  return component('VALARM', [
    ...(method === 'email' && ownerEmail !== undefined
      ? [
          property('ACTION', 'EMAIL'),
          property('SUMMARY', 'Reminder'),
          property('ATTENDEE', uriOfAddress(ownerEmail)),
        ]
      : [property('ACTION', 'DISPLAY')]),
    property('DESCRIPTION', 'Reminder'),
    trigger,
  ]);
}

/** The properties of alarms that `alarmVcomponent` makes, in alphabetical order. */
const MADE: ReadonlySet<string> = new Set([
  'ACTION:DISPLAY DESCRIPTION:Reminder',
  'ACTION:EMAIL ATTENDEE DESCRIPTION:Reminder SUMMARY:Reminder',
]);

/** Whether a time before the start is written otherwise than `alarmVcomponent` does, as `-P1D`, which is no `-PT24H` where clocks change. */
function hasOwnSpelling(trigger: Property): boolean {
  const text = trigger.value.trim();
  if (!/^[+-]?P/i.test(text) || parameterOf(trigger, 'RELATED')?.toUpperCase() === 'END') return false;
  const { days, seconds } = parseDuration(text, 'TRIGGER');
  return formatDuration({ days: 0, seconds: days * DAY + seconds }) !== text;
}

/**
 * The alarm without its time, such as its UID, text, sound and ACKNOWLEDGED (RFC 9074), with a time of its own spelling; null where it states
 * only method and time.
 */
function keptAlarm({ properties, components }: Component): Component | null {
  const kept = properties.filter((each) => each.name !== 'TRIGGER' || hasOwnSpelling(each));
  const stated = kept.map(({ name, value }) => (name === 'ATTENDEE' ? name : `${name}:${value}`));
  const isMade =
    components.length === 0 &&
    kept.every(({ parameters }) => parameters.length === 0) &&
    MADE.has(stated.toSorted().join(' '));
  return isMade ? null : (storableComponents([component('VALARM', kept, components)], MAX_BYTES)[0] ?? null);
}

function reminderOf(alarm: Component, times: EventTimes, isSeries: boolean): Reminder | null {
  const trigger = propertyOf(alarm, 'TRIGGER');
  const action = actionOf(alarm);
  const minutes = trigger ? minutesBefore(trigger, times, isSeries) : null;
  if (minutes === null || action === 'NONE') return null;
  return { method: action === 'EMAIL' ? 'email' : 'popup', minutes };
}

/** Null for a time that is no reminder. */
function minutesBefore(trigger: Property, times: EventTimes, isSeries: boolean): number | null {
  try {
    const minutes = secondsBefore(trigger, times, isSeries) / 60;
    return Number.isInteger(minutes) && minutes >= 0 && minutes <= MAX_MINUTES ? minutes || 0 : null;
  } catch (error) {
    if (error instanceof ICalendarError) return null;
    throw error;
  }
}

/** Of a series: before the start of its first instance. NaN for a time that does not follow the start. */
function secondsBefore(trigger: Property, times: EventTimes, isSeries: boolean): number {
  const wall = wallOf(times.starts);
  const start = instantOf(wall, times.time_zone);
  if (/^\d/.test(trigger.value.trim())) {
    const { kind, wall: moment } = parseTime(trigger.value, 'TRIGGER');
    return kind === 'utc' && times.time_zone !== null && !isSeries ? start - moment : Number.NaN;
  }
  const { days, seconds } = parseDuration(trigger.value, 'TRIGGER');
  const offset = days * DAY + seconds;
  if (parameterOf(trigger, 'RELATED')?.toUpperCase() === 'END') return -offset - lengthAt(times, wall, start);
  return Math.round(-offset / 60) * 60;
}
