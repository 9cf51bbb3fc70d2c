import { isDeepStrictEqual } from 'node:util';
import {
  type Component,
  ICalendarError,
  type Property,
  propertyOf,
  textOf,
} from '../../../lib/icalendar/index.js';
import type { InstanceAlarms, PlacedReminder } from '../calendar.schema.js';
import {
  type EventContent,
  type EventRow,
  type EventTimes,
  type OverrideRow,
  type ParticipantRow,
  TIME_FIELDS,
} from './event-record.js';
import { contentOf, isSeries, laterKeys } from './event-series.js';
import { organizerOf } from '../../../lib/itip/index.js';
import { FIRST, isDay, timesAt, wallOf } from './event-times.js';
import { type AlarmedInstances, alarmsOf, instanceAlarmsOf } from './ics/alarms.js';
import { withoutEarlyInstances } from './ics/early-series.js';
import { uidOfText } from './ics/storable.js';
import { allowsProposals, contentOfVevent, lostNamesOf } from './vevent-content.js';
import { participantsOf, peopleOf, withInstanceRows } from './vevent-people.js';
import { invalid, type ReadWarning, type Start, unlessInvalid } from './vevent-time-parts.js';
import { hasRange, type InstanceKeys, keyOfInstance, withStatedInstances } from './stated-instances.js';
import { EventClock, type Recurrence } from './vevent-times.js';

export const MAX_OVERRIDES = 2_000;
const MAX_RANGES = 20;
/** The version of a series of which only instances are known. */
export const NO_VERSION = { sequence: 0, dtstamp: '1970-01-01T00:00:00.000Z' };

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
  /** Null means that the file has no alarms for it. */
  reminders: PlacedReminder[] | null;
  /** Alarms that are no reminders. */
  alarms: Component[];
  /** The alarms of instances where they differ, by key. */
  instanceAlarms: Record<string, InstanceAlarms>;
  proposals_allowed: boolean;
  warnings: ReadWarning[];
}

/**
 * Reads an event with its instances. Unknown properties and components are kept in `custom`.
 * @param given the VEVENT without RECURRENCE-ID
 * @param all VEVENTs with RECURRENCE-ID and the same UID
 * @param isFile false: an attendee's text of CalDAV, in which EXDATE deletes an instance that the program leaves beside it
 * @throws ICalendarError; RecurrenceError for a rule
 */
export function readEvent(
  given: Component,
  all: readonly Component[],
  clock: EventClock,
  isFile = false,
): ReadEvent {
  const stated = clock.begin(given);
  const later = stated.wall < FIRST ? withoutEarlyInstances(given, stated) : null;
  const master = later ?? given;
  const start = later ? clock.begin(later) : stated;
  if (later) clock.warn('invalid_date', 'The instances before 1900 are left out.');
  const times = clock.times(master, start);
  const read = clock.recurrence(master, start, times);
  const { recurrence, instances, keys } = withStatedInstances(
    { recurrence: read, instances: all.slice(0, MAX_OVERRIDES) },
    times,
    start,
    clock,
    (instance) => !isFile || isEdited(master, instance),
  );
  const content = contentOfVevent(master);
  const base = { ...content, ...times, ...recurrence } as EventRow;
  const participants = participantsOf(master, '');
  const own = clock.ownTimes(master, start, times, recurrence);
  const changed = readInstances(base, start, instances, clock, own, keys);
  const organizer = organizerOf(master);
  const alarms = alarmsOf(master, times, isSeries(recurrence));
  const { instanceAlarms, isCut } = instanceAlarmsOf(master, times, isSeries(recurrence), changed.alarmed);
  return {
    uid: uidOf(master),
    sequence: versionOf(master).sequence,
    dtstamp: stampOf(master),
    content,
    times,
    recurrence,
    overrides: withOwnTimes(changed, base, own),
    organizer,
    participants: withInstanceRows(participants, changed.participants, organizer?.email),
    people: peopleOf(master),
    reminders: alarms.reminders,
    alarms: alarms.others,
    instanceAlarms,
    proposals_allowed: allowsProposals(master),
    warnings: [...clock.warnings, ...lossesOf([master, ...instances], isCut)],
  };
}

/**
 * Reads instances whose series is unknown, such as those of an attendee who is invited to no others (RFC 4791, 4.1): as a series of their
 * dates. Any version of the series is newer.
 * @throws ICalendarError; RecurrenceError for a rule
 */
export function readOrphans(given: readonly Component[], clock: EventClock): ReadEvent {
  const instances = given.toSorted((a, b) => (idOf(a).value < idOf(b).value ? -1 : 1));
  const first = firstOf(instances, clock);
  const start = clock.begin(first);
  const own = clock.times(first, start);
  const found = instances
    .slice(0, MAX_OVERRIDES)
    .flatMap((each) => unlessInvalid(() => clock.keyOf(idOf(each), start, own, each)) ?? []);
  const added = [...new Set(found)].toSorted();
  const [starts] = added;
  if (starts === undefined) throw invalid('RECURRENCE-ID', 'is not a date or time');
  const master = { ...first, properties: first.properties.filter(({ name }) => !RECURRING.has(name)) };
  const content = contentOfVevent(first);
  const recurrence: Recurrence = { rules: [], added, excluded: [] };
  const read = readEvent(master, [], clock);
  const custom: EventContent['custom'] = { ...content.custom, orphans: true };
  const times = { ...own, ...timesAt(own, wallOf(starts)) };
  const base = { ...content, ...times, ...recurrence, custom } as EventRow;
  const { overrides, participants, alarmed } = readInstances(base, start, instances, clock);
  const { instanceAlarms, isCut } = instanceAlarmsOf(master, own, false, alarmed);
  return {
    ...read,
    ...NO_VERSION,
    content: { ...content, custom },
    times,
    recurrence,
    overrides,
    instanceAlarms,
    warnings: [...clock.warnings, ...lossesOf(instances, isCut)],
    participants: withInstanceRows(read.participants, participants, read.organizer?.email),
  };
}

const idOf = (instance: Component): Property => propertyOf(instance, 'RECURRENCE-ID') as Property;

/**
 * The instance whose values a series of instances has: the first with usable times. If none has such times, it is the first with a usable
 * RECURRENCE-ID, which is then its start.
 * @throws ICalendarError
 */
function firstOf(instances: readonly Component[], clock: EventClock): Component {
  const isUsable = (each: Component): boolean => unlessInvalid(() => clock.times(each)) !== null;
  const read = instances.slice(0, MAX_OVERRIDES);
  const first = read.find(isUsable) ?? read.map(atItsId).find(isUsable);
  if (!first) throw invalid('RECURRENCE-ID', 'is not a date or time');
  return first;
}

const atItsId = (instance: Component): Component => ({
  ...instance,
  properties: [
    ...instance.properties.filter(({ name }) => name !== 'DTSTART'),
    { ...idOf(instance), name: 'DTSTART' },
  ],
});

/** The warning that values of an event or of its instances exceed a limit. @param losesAlarms of instances */
function lossesOf(events: readonly Component[], losesAlarms: boolean): ReadWarning[] {
  const lost = events.slice(0, MAX_OVERRIDES).flatMap(lostNamesOf);
  const names = [...new Set(losesAlarms ? [...lost, 'VALARM'] : lost)];
  return names.length === 0
    ? []
    : [
        {
          code: 'value_too_large',
          message: `These values are shortened or left out: ${names.join(', ').slice(0, 500)}.`,
        },
      ];
}

const RECURRING: ReadonlySet<string> = new Set(['RECURRENCE-ID', 'RRULE', 'RDATE', 'EXDATE', 'EXRULE']);

/**
 * The instances that differ, with those at times of their own that have no component.
 * @param named the keys of all components
 */
export function withOwnTimes(
  { overrides, named }: Pick<InstanceChanges, 'overrides' | 'named'>,
  series: EventRow,
  times: ReadonlyMap<string, EventTimes>,
): OverrideRow[] {
  const found = new Map(overrides.map((override) => [override.recurrence_key, override]));
  for (const [key, own] of times) {
    if (found.has(key) || named.has(key) || found.size >= MAX_OVERRIDES || series.excluded.includes(key))
      continue;
    const patch = differences(series, key, own);
    if (Object.keys(patch).length > 0)
      found.set(key, { recurrence_key: key, patch, sequence: 0, dtstamp: new Date(0).toISOString() });
  }
  return [...found.values()].toSorted(inOrder);
}

const inOrder = (a: OverrideRow, b: OverrideRow): number => (a.recurrence_key < b.recurrence_key ? -1 : 1);

/** What VEVENTs with RECURRENCE-ID change of a series. */
interface InstanceChanges {
  /** The instances that differ, in order. */
  overrides: OverrideRow[];
  /** Their attendees with the response to the instance. */
  participants: ParticipantRow[];
  /** Those that take place, for their alarms. */
  alarmed: AlarmedInstances[];
  /** The keys of all components: an instance that does not differ from its series is among them. */
  named: ReadonlySet<string>;
}

/**
 * Reads VEVENTs with RECURRENCE-ID as changes of a series.
 * @param start DTSTART of the series; for a stored series the result of `startOf`
 * @param own the times of the instances that the series itself states at other times, by key
 * @param keys of the instances, where they are known already
 * @throws ICalendarError
 */
export function readInstances(
  series: EventRow,
  start: Start,
  instances: readonly Component[],
  clock: EventClock,
  own: ReadonlyMap<string, EventTimes> = new Map(),
  keys: InstanceKeys = new Map(),
): InstanceChanges {
  const overrides = new Map<string, OverrideRow>();
  const named = new Set<string>();
  const participants: ParticipantRow[] = [];
  const alarmed: AlarmedInstances[] = [];
  for (const { instance, key, keys: changed } of namedInstances(series, start, instances, clock, keys)) {
    named.add(key);
    const usual = own.get(key) ?? timesOfKey(series, key);
    const times =
      unlessInvalid(
        () => timesOfInstance(usual, instance, clock),
        (message) =>
          clock.warn('invalid_date', `The instance of ${key} has the times of its series: ${message}.`),
      ) ?? usual;
    const content = contentOfVevent(instance);
    const shift = wallOf(times.starts) - wallOf(key);
    for (const each of changed) {
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
    if (content.status !== 'cancelled') alarmed.push({ keys: changed, event: instance, times });
  }
  return { overrides: [...overrides.values()].toSorted(inOrder), participants, alarmed, named };
}

/** The times of an instance that its series states. */
function timesOfKey(series: EventRow, key: string): EventTimes {
  const { time_zone, end_time_zone, exact_duration } = series;
  return { time_zone, end_time_zone, exact_duration, ...timesAt(series, wallOf(key)) };
}

/**
 * The times of an instance. One without DTSTART, such as some programs write for a cancelled instance, starts as usual.
 * @throws ICalendarError
 */
const timesOfInstance = (usual: EventTimes, instance: Component, clock: EventClock): EventTimes =>
  propertyOf(instance, 'DTSTART') ? clock.times(instance) : clock.times(instance, startOf(usual), usual);

interface NamedInstance {
  instance: Component;
  key: string;
  /** The key, and for RANGE=THISANDFUTURE the keys of all later instances (RFC 5545, 3.2.13). */
  keys: string[];
}

/**
 * Ranges come first, in the order of their instances, so that components of single instances override them. Of several components of one
 * instance the newest is read, or else the last.
 */
function namedInstances(
  series: EventRow,
  start: Start,
  instances: readonly Component[],
  clock: EventClock,
  keys: InstanceKeys,
): NamedInstance[] {
  const ranges: NamedInstance[] = [];
  const single = new Map<string, NamedInstance>();
  for (const instance of instances.slice(0, MAX_OVERRIDES)) {
    const known = keys.get(instance);
    const key = known === undefined ? keyOfInstance(instance, start, series, clock) : known;
    if (key === null) {
      clock.warn('invalid_date', 'An instance has no valid RECURRENCE-ID; it is ignored.');
      continue;
    }
    const other = single.get(key)?.instance;
    if (hasRange(propertyOf(instance, 'RECURRENCE-ID')) && ranges.length < MAX_RANGES)
      ranges.push({ instance, key, keys: laterKeys({ ...series, overrides: [] }, key) });
    else if (!other || !isOlder(instance, other)) single.set(key, { instance, key, keys: [key] });
  }
  return [...ranges.toSorted((a, b) => (a.key < b.key ? -1 : 1)), ...single.values()];
}

/** Whether a series was edited after one of its instances. */
function isEdited(series: Component, instance: Component): boolean {
  const [a, b] = [versionOf(series).sequence, versionOf(instance).sequence];
  const [edited, made] = [stampOf(series, 'LAST-MODIFIED'), stampOf(instance, 'LAST-MODIFIED')];
  return a === b ? edited !== null && made !== null && edited > made : a > b;
}

/** Whether a component is an older version than another one of the same instance. */
function isOlder(given: Component, known: Component): boolean {
  const [a, b] = [versionOf(given), versionOf(known)];
  return a.sequence === b.sequence ? a.dtstamp < b.dtstamp : a.sequence < b.sequence;
}

/** The start of a stored series. */
export const startOf = ({ starts, time_zone: zone }: EventTimes): Start => ({
  wall: wallOf(starts),
  isDate: isDay(starts),
  zone,
  rules: null,
});

/** The UID of a component as it is stored; empty for a component without one. */
export const uidText = (event: Component): string => uidOfText(textOf(event, 'UID') ?? '');

/** @throws ICalendarError `invalid_value` */
function uidOf(event: Component): string {
  const uid = uidText(event);
  if (uid === '') throw new ICalendarError('invalid_value', 'The UID is missing', 'UID');
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

/** SEQUENCE, and DTSTAMP or the beginning of time. */
export function versionOf(event: Component): Pick<OverrideRow, 'sequence' | 'dtstamp'> {
  const sequence = Number.parseInt(propertyOf(event, 'SEQUENCE')?.value ?? '0', 10);
  return {
    sequence: Number.isFinite(sequence) ? Math.min(Math.max(sequence, 0), 2_000_000_000) : 0,
    dtstamp: stampOf(event) ?? new Date(0).toISOString(),
  };
}

/** RFC 3339; null without a usable value. Some clients write DTSTAMP without a zone: it is read as UTC. */
export function stampOf(event: Component, name: 'DTSTAMP' | 'LAST-MODIFIED' = 'DTSTAMP'): string | null {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z?$/.exec(
    propertyOf(event, name)?.value.trim() ?? '',
  );
  if (!match) return null;
  const [year, month, day, hour, minute, second] = match.slice(1).map(Number);
  const time = new Date(Date.UTC(year!, month! - 1, day, hour, minute, second));
  return year! < 1970 || Number.isNaN(time.getTime()) ? null : time.toISOString();
}
