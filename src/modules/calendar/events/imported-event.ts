import { isDeepStrictEqual } from 'node:util';
import { v7 as uuidv7 } from 'uuid';
import { CalendarZones, component, type Component } from '../../../lib/icalendar/index.js';
import { EMPTY } from '../changes/event-operations.js';
import { type EventChange, newColumns, newEntry } from '../changes/event-write.js';
import { assertInstances } from '../input/event-patch.js';
import {
  type CalendarContext,
  CONTENT_FIELDS,
  type EventRecord,
  type OverrideRow,
  type ParticipantRow,
} from '../model/event-record.js';
import { isOrphaned, keptOf } from '../model/dependent-properties.js';
import { veventsOf } from '../model/vevent.js';
import { readEvent, type ReadEvent, readInstances, readOrphans, startOf } from '../model/vevent-reader.js';
import { EventClock } from '../model/vevent-times.js';
import type { FileEvent } from './ics-file.js';

/** The fields that an import changes. */
export const IMPORTED = [
  ...CONTENT_FIELDS,
  'rules',
  'added',
  'excluded',
  'proposals_allowed',
] as const satisfies (keyof EventRecord)[];

/** Names of the fields in which two events differ. `sequence` and `dtstamp` of instances are not compared. */
export function compareEvents(before: EventRecord, after: EventRecord): string[] {
  const fields = IMPORTED.filter((name) => !isDeepStrictEqual(before[name], after[name])) as string[];
  return isDeepStrictEqual(patchesOf(before.overrides), patchesOf(after.overrides))
    ? fields
    : [...fields, 'overrides'];
}

/**
 * A stored event with the values of a file. A field that has the same value in an export of the stored event is not changed, because
 * iCalendar lacks some values, such as links to notes.
 * @throws ApiError 422 `no_instances`
 */
export function replaceValues(record: EventRecord, read: ReadEvent): EventRecord {
  const next = mergeValues(record, read);
  assertInstances(next);
  return next;
}

/** Does what `replaceValues` does, also for an event without instances. */
export function mergeValues(record: EventRecord, read: ReadEvent): EventRecord {
  const exported = asExported(record);
  const same = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a, b);
  const next = { ...record, sequence: Math.max(record.sequence, read.sequence) };
  for (const name of Object.keys(read.content) as (keyof ReadEvent['content'])[])
    if (!same(read.content[name], exported.content[name]))
      Object.assign(next, { [name]: read.content[name] });
  if (
    next.custom !== record.custom ||
    next.color !== record.color ||
    !same(read.alarms, keptOf(record.custom).alarms)
  ) {
    next.custom = customOf(read, record.organizer_email);
    // Events of earlier versions have a COLOR in `custom` only.
    next.color = read.content.color;
  }
  if (!same(read.times, exported.times)) Object.assign(next, read.times);
  if (!same(read.recurrence, exported.recurrence)) Object.assign(next, read.recurrence);
  if (!same(patchesOf(read.overrides), patchesOf(exported.overrides))) next.overrides = read.overrides;
  next.proposals_allowed = read.proposals_allowed;
  return next;
}

/** The event as an import of its own export reads it. */
export function asExported(record: EventRecord): ReadEvent {
  const clock = new EventClock(new CalendarZones(component('VCALENDAR')), null);
  const vevents = veventsOf(record, { seesDetails: true });
  if (isOrphaned(record)) return readOrphans(vevents, clock);
  const [master, ...instances] = vevents;
  return readEvent(master as Component, instances, clock);
}

export const patchesOf = (overrides: readonly OverrideRow[]) =>
  overrides.map(({ recurrence_key, patch }) => [recurrence_key, patch]);

/**
 * The event of a file. Instances without their series replace nothing of a stored series.
 * @param current the stored event; null: none
 * @param isFile false: the text of an attendee's CalDAV program
 * @returns null: the file has instances of the stored series only
 * @throws ICalendarError; RecurrenceError
 */
export function fileEvent(
  { master, instances, clock }: FileEvent,
  current: Pick<EventRecord, 'custom'> | null,
  isFile = false,
): ReadEvent | null {
  if (master) return readEvent(master, instances, clock, isFile);
  return current === null || isOrphaned(current) ? readOrphans(instances, clock) : null;
}

/** A stored series with the instances of a file that lacks the series. */
export function withInstances(record: EventRecord, { instances, clock }: FileEvent): EventRecord {
  const { overrides } = readInstances(record, startOf(record), instances, clock);
  const keys = new Set(overrides.map(({ recurrence_key }) => recurrence_key));
  const others = record.overrides.filter(({ recurrence_key }) => !keys.has(recurrence_key));
  const inOrder = [...others, ...overrides].toSorted((a, b) =>
    a.recurrence_key < b.recurrence_key ? -1 : 1,
  );
  return { ...record, overrides: inOrder };
}

/**
 * The creation of an event of a file, in one calendar only. Its organizer is the owner of the calendar. If the file states another
 * organizer and the owner as an attendee, the organizer is outside of the workspace.
 * @param members ids of active members by address
 * @throws ApiError 422 `no_instances`
 */
export function createdEvent(
  userId: string,
  calendar: CalendarContext,
  members: ReadonlyMap<string, string>,
  read: ReadEvent,
  now: string,
): EventChange {
  const owner = calendar.owner_email.toLowerCase();
  const { organizer, content, times, recurrence, overrides, proposals_allowed, sequence } = read;
  const isOwn = organizer === null || organizer.email === owner;
  const isAttendee = !isOwn && read.participants.some(({ email }) => email === owner);
  const id = uuidv7();
  const record: EventRecord = {
    ...EMPTY,
    ...content,
    custom: customOf(read, isAttendee ? organizer.email : owner),
    ...times,
    ...recurrence,
    overrides,
    proposals_allowed,
    sequence,
    id,
    uid: read.uid,
    dtstamp: read.dtstamp ?? now,
    origin_calendar_id: calendar.id,
    organizer_id: isAttendee ? null : calendar.owner_id,
    organizer_email: isAttendee ? organizer.email : owner,
    organizer_name: isAttendee ? organizer.name : calendar.owner_name,
    origin: isAttendee ? 'external' : 'internal',
    participants: isOwn || isAttendee ? read.participants.map((row) => withUser(row, members)) : [],
    ...newColumns(userId, now),
  };
  assertInstances(record);
  const hasOwn = Object.keys(read.instanceAlarms).length > 0;
  const entry = {
    ...newEntry(record, calendar.id, calendar.owner_id),
    reminders: read.reminders,
    ...(hasOwn && { instance_alarms: read.instanceAlarms }),
  };
  return { before: null, record, entries: [entry], action: 'created' };
}

/** A copy of the event of another organizer keeps ORGANIZER and ATTENDEE as they are written. */
function customOf(
  { content, people, organizer, alarms }: ReadEvent,
  organizerEmail: string,
): EventRecord['custom'] {
  const custom: EventRecord['custom'] = { ...content.custom, ...(alarms.length > 0 && { alarms }) };
  if (organizer === null || organizer.email === organizerEmail) return custom;
  const { people: _parameters, ...others } = custom;
  return { ...others, ics: [...people, ...keptOf(custom).ics] };
}

const withUser = (row: ParticipantRow, members: ReadonlyMap<string, string>): ParticipantRow => ({
  ...row,
  user_id: members.get(row.email) ?? null,
});
