import { isDeepStrictEqual } from 'node:util';
import {
  type Component,
  ICalendarError,
  parameterOf,
  type Property,
  propertyOf,
  textOf,
} from '../../../lib/icalendar/index.js';
import type { Reminder } from '../calendar.entity.js';
import {
  type EventContent,
  type EventRow,
  type EventTimes,
  type OverrideRow,
  type ParticipantRow,
  TIME_FIELDS,
} from './event-record.js';
import { contentOf, isSeries } from './event-series.js';
import { organizerOf } from '../../../lib/itip/index.js';
import { isDay, timesAt, wallOf } from './event-times.js';
import { laterKeys } from './following.js';
import { contentOfVevent, line, otherAlarms, remindersOf } from './vevent-content.js';
import { instanceRows, participantsOf, peopleOf } from './vevent-people.js';
import { EventClock, type ReadWarning, type Recurrence, type Start } from './vevent-times.js';

const MAX_UID = 500;
const MAX_OVERRIDES = 2_000;
const MAX_RANGES = 20;

/** An event of a file: a whole event and the instances that differ. */
export interface ReadEvent {
  uid: string;
  sequence: number;
  /** RFC 3339; null without a usable DTSTAMP. */
  dtstamp: string | null;
  /** Title, place, state and so on, without times. */
  content: Omit<EventContent, keyof EventTimes>;
  times: EventTimes;
  recurrence: Recurrence;
  overrides: OverrideRow[];
  organizer: { email: string; name: string } | null;
  /** Without users: the caller finds the members of the workspace. */
  participants: ParticipantRow[];
  /** ORGANIZER and ATTENDEE as they are written, for a copy with another organizer. */
  people: Property[];
  /** Null: the file has no alarms for it. */
  reminders: Reminder[] | null;
  /** Alarms that are no reminders. */
  alarms: Component[];
  proposals_allowed: boolean;
  warnings: ReadWarning[];
}

/**
 * Reads an event with its instances. Unknown properties and components are kept in `custom`.
 * @param master the VEVENT without RECURRENCE-ID
 * @param instances VEVENTs with RECURRENCE-ID and the same UID
 * @throws ICalendarError; RecurrenceError for a rule
 */
export function readEvent(master: Component, instances: readonly Component[], clock: EventClock): ReadEvent {
  const start = clock.begin(master);
  const times = clock.times(master, start);
  const recurrence = clock.recurrence(master, start, times);
  const content = contentOfVevent(master);
  const base = { ...content, ...times, ...recurrence } as EventRow;
  const participants = participantsOf(master, '');
  const read = readInstances(base, start, instances, clock);
  const byKey = Map.groupBy(read.participants, ({ recurrence_key }) => recurrence_key);
  const organizer = organizerOf(master);
  const ofInstances = [...byKey].flatMap(([key, rows]) =>
    instanceRows(participants, rows, key, organizer?.email),
  );
  return {
    uid: uidOf(master),
    sequence: versionOf(master).sequence,
    dtstamp: stampOf(master),
    content,
    times,
    recurrence,
    overrides: withTimes(read.overrides, base, [
      clock.corrections(start, times, recurrence),
      clock.periods(master, start, times),
    ]),
    organizer,
    participants: [...participants, ...ofInstances],
    people: peopleOf(master),
    reminders: remindersOf(master, times, isSeries(recurrence)),
    alarms: otherAlarms(master, times, isSeries(recurrence)),
    proposals_allowed: propertyOf(master, 'X-MICROSOFT-DISALLOW-COUNTER')?.value.toUpperCase() !== 'TRUE',
    warnings: clock.warnings,
  };
}

/** Instances with times of their own that have no component in the file. */
function withTimes(
  overrides: readonly OverrideRow[],
  series: EventRow,
  times: readonly ReadonlyMap<string, EventTimes>[],
): OverrideRow[] {
  const found = new Map(overrides.map((override) => [override.recurrence_key, override]));
  for (const [key, own] of times.flatMap((each) => [...each])) {
    if (found.has(key) || found.size >= MAX_OVERRIDES || series.excluded.includes(key)) continue;
    const patch = differences(series, key, own);
    if (Object.keys(patch).length > 0)
      found.set(key, { recurrence_key: key, patch, sequence: 0, dtstamp: new Date(0).toISOString() });
  }
  return [...found.values()].toSorted(inOrder);
}

const inOrder = (a: OverrideRow, b: OverrideRow): number => (a.recurrence_key < b.recurrence_key ? -1 : 1);

/**
 * Reads VEVENTs with RECURRENCE-ID as changes of a series.
 * @param start DTSTART of the series; for a stored series the result of `startOf`
 * @returns the instances that differ, in order, and their attendees with the response to the instance
 * @throws ICalendarError
 */
export function readInstances(
  series: EventRow,
  start: Start,
  instances: readonly Component[],
  clock: EventClock,
): { overrides: OverrideRow[]; participants: ParticipantRow[] } {
  const overrides = new Map<string, OverrideRow>();
  const participants: ParticipantRow[] = [];
  for (const { instance, key, keys } of namedInstances(series, start, instances, clock)) {
    const content = contentOfVevent(instance);
    const times = clock.times(instance);
    const shift = wallOf(times.starts) - wallOf(key);
    for (const each of keys) {
      const patch = differences(series, each, {
        ...content,
        ...times,
        ...timesAt(times, wallOf(each) + shift),
      });
      if (Object.keys(patch).length > 0)
        overrides.set(each, { recurrence_key: each, patch, ...versionOf(instance) });
      else overrides.delete(each);
    }
    participants.push(...participantsOf(instance, key));
  }
  return { overrides: [...overrides.values()].toSorted(inOrder), participants };
}

interface NamedInstance {
  instance: Component;
  key: string;
  /** The key, and for RANGE=THISANDFUTURE the keys of all later instances (RFC 5545, 3.2.13). */
  keys: string[];
}

/** Ranges come first, in the order of their instances, so that components of single instances override them. */
function namedInstances(
  series: EventRow,
  start: Start,
  instances: readonly Component[],
  clock: EventClock,
): NamedInstance[] {
  const ranges: NamedInstance[] = [];
  const single: NamedInstance[] = [];
  for (const instance of instances.slice(0, MAX_OVERRIDES)) {
    const id = propertyOf(instance, 'RECURRENCE-ID');
    const key = id && clock.keyOf(id, start, series);
    if (!key) continue;
    const hasRange = parameterOf(id, 'RANGE')?.toUpperCase() === 'THISANDFUTURE';
    if (hasRange && ranges.length < MAX_RANGES)
      ranges.push({ instance, key, keys: laterKeys({ ...series, overrides: [] }, key) });
    else single.push({ instance, key, keys: [key] });
  }
  return [...ranges.toSorted((a, b) => (a.key < b.key ? -1 : 1)), ...single];
}

/** The start of a stored series. */
export const startOf = ({ starts, time_zone: zone }: EventTimes): Start => ({
  wall: wallOf(starts),
  isDate: isDay(starts),
  zone,
  rules: null,
});

/** The UID of a component as it is stored; empty for a component without one. */
export const uidText = (event: Component): string => line(textOf(event, 'UID') ?? '', MAX_UID + 1);

/** @throws ICalendarError `invalid_value` */
function uidOf(event: Component): string {
  const uid = uidText(event);
  if (uid === '' || uid.length > MAX_UID)
    throw new ICalendarError('invalid_value', `UID has 1 to ${MAX_UID} characters`, 'UID');
  return uid;
}

/** The fields in which an instance differs from its series. */
function differences(
  series: EventRow,
  key: string,
  own: EventTimes & Partial<EventContent>,
): Partial<EventContent> {
  const at = wallOf(key);
  const usual = contentOf(series, { key, wall: at, start: at, end: at, override: null });
  const names = Object.keys(own) as (keyof EventContent)[];
  const changed = names.filter((name) => !isDeepStrictEqual(own[name], usual[name]));
  const moved = TIME_FIELDS.some((name) => changed.includes(name)) ? TIME_FIELDS : [];
  return Object.fromEntries([...new Set([...changed, ...moved])].map((name) => [name, own[name]]));
}

function versionOf(event: Component): Pick<OverrideRow, 'sequence' | 'dtstamp'> {
  const sequence = Number.parseInt(propertyOf(event, 'SEQUENCE')?.value ?? '0', 10);
  return {
    sequence: Number.isFinite(sequence) ? Math.min(Math.max(sequence, 0), 2_000_000_000) : 0,
    dtstamp: stampOf(event) ?? new Date(0).toISOString(),
  };
}

/** Some clients write DTSTAMP without a zone: it is read as UTC. */
function stampOf(event: Component): string | null {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z?$/.exec(
    propertyOf(event, 'DTSTAMP')?.value.trim() ?? '',
  );
  if (!match) return null;
  const [year, month, day, hour, minute, second] = match.slice(1).map(Number);
  const time = new Date(Date.UTC(year!, month! - 1, day, hour, minute, second));
  return year! < 1970 || Number.isNaN(time.getTime()) ? null : time.toISOString();
}
