import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { Component } from '../../../../lib/icalendar/index.js';
import { addressOfPerson } from '../../../../lib/itip/index.js';
import { workspace } from '../../../../platform/database/statement.js';
import type { Tx } from '../../../../platform/database/tx.js';
import type { CalendarEvent, InstanceAlarms, PlacedReminder } from '../../calendar.schema.js';
import { withoutCall } from '../../changes/event-calls.js';
import { pattern, resetResponses, resetResponsesAt, sameTimes } from '../../changes/event-change.js';
import type { EventChange, EventMessage } from '../../changes/event-write.js';
import {
  type EventJson,
  type EventRecord,
  type OverrideRow,
  type OwnedEntry,
  type ParticipantRow,
  recordOf,
} from '../../model/event-record.js';
import { outsideAttendees } from '../../model/attendance.js';
import { occurrenceAt, overridden } from '../../model/event-series.js';
import { isDay, wallOf } from '../../model/event-times.js';
import { occurrenceFinder } from '../../model/known-instances.js';
import { keptOf } from '../../model/dependent-properties.js';
import { sameReminders } from '../../model/ics/alarms.js';
import { forcedBy, isServed } from '../../model/ics/people-parameters.js';
import type { ReadEvent } from '../../model/vevent-reader.js';
import { replaceValues } from '../imported-event.js';

/** An event that its organizer has deleted, with its placements in the calendars of attendees. */
export interface DeletedEvent {
  record: EventRecord;
  entries: OwnedEntry[];
}

// Index calendar_events_uid.
const lock = workspace.statement<Pick<CalendarEvent, 'id'>>(
  'calendar.lock_deleted_event',
  `SELECT id FROM calendar_events
    WHERE tenant_id = $1 AND origin_calendar_id = $2 AND uid = $3 AND origin <> 'external' AND deleted_at IS NOT NULL
    ORDER BY deleted_at DESC LIMIT 1 FOR NO KEY UPDATE`,
);

const read = workspace.statement<EventJson & { entries: OwnedEntry[] }>(
  'calendar.deleted_event',
  `SELECT record.event, record.participants, record.overrides, coalesce((
            SELECT json_agg(to_jsonb(entry) || jsonb_build_object('owner_id', calendar.owner_id))
              FROM calendar_entries entry JOIN calendars calendar ON calendar.tenant_id = $1 AND calendar.id = entry.calendar_id
             WHERE entry.tenant_id = $1 AND entry.event_id = $2), '[]') AS entries
     FROM event_records record WHERE record.tenant_id = $1 AND record.id = $2`,
);

/** Events that organizers have deleted and that are not purged yet. */
@Injectable()
export class DeletedEvents {
  /** Locks the latest one of a UID. @returns its id; null without one */
  async lock(tx: Tx, tenantId: string, calendarId: string, uid: string): Promise<string | null> {
    return (await tx.query(lock, [tenantId, calendarId, uid]))[0]?.id ?? null;
  }

  async read(tx: Tx, tenantId: string, id: string): Promise<DeletedEvent> {
    const [row] = await tx.query(read, [tenantId, id]);
    const { entries, ...json } = row!;
    return { record: recordOf(json), entries };
  }
}

/** Fields that a message to attendees states. Programs write the others for themselves, as when a user dismisses an alarm. */
const STATED = new Set([
  'title',
  'description',
  'location',
  'locations',
  'status',
  'starts',
  'ends',
  'time_zone',
  'end_time_zone',
  'exact_duration',
  'rules',
  'added',
  'excluded',
  'conference',
  'attendees',
]);

/** Whether a change concerns the attendees. @param fields names of changed fields, as `compareEvents` returns them */
export const concernsAttendees = (
  before: EventRecord,
  after: EventRecord,
  fields: readonly string[],
): boolean =>
  fields.some((field) => STATED.has(field)) ||
  (fields.includes('overrides') &&
    !isDeepStrictEqual(statedPatches(before.overrides), statedPatches(after.overrides)));

const statedPatches = (overrides: readonly OverrideRow[]) =>
  overrides.flatMap(({ recurrence_key: key, patch }) => {
    const stated = Object.entries(patch).filter(([name]) => STATED.has(name));
    return stated.length > 0 ? [[key, Object.fromEntries(stated)]] : [];
  });

/** Whether a change moves the event, so that attendees have to respond again. */
const moves = (before: EventRecord, after: EventRecord): boolean =>
  !sameTimes(before, after) || !isDeepStrictEqual(pattern(before.rules), pattern(after.rules));

/** A move of instances that needs more rows of responses than these is a move of the series. */
const MAX_RESET = 20_000;

/** The attendees after a change: those of a moved event, and of each moved instance, have to respond again (RFC 6638, 3.2.8). */
export function afterMove(before: EventRecord, after: EventRecord): ParticipantRow[] {
  const { participants, organizer_email } = after;
  if (participants.length === 0) return participants;
  if (moves(before, after)) return resetResponses(participants, organizer_email);
  const moved = movedInstances(before, after);
  if (moved.size === 0) return participants;
  const people = new Set(participants.map(({ email }) => email));
  return moved.size * people.size > MAX_RESET
    ? resetResponses(participants, organizer_email)
    : resetResponsesAt(after, moved);
}

/** The keys of the instances of a series whose times differ after a change of its instances. */
function movedInstances(before: EventRecord, after: EventRecord): Set<string> {
  const [old, next] = [before, after].map(
    ({ overrides }) => new Map(overrides.map((override) => [override.recurrence_key, override])),
  ) as [Map<string, OverrideRow>, Map<string, OverrideRow>];
  const timesOf = (record: EventRecord, override: OverrideRow | undefined, key: string): string => {
    const { start, end } = override
      ? overridden(record, override, 'UTC')
      : occurrenceAt(record, key, wallOf(key), null, 'UTC');
    return [start, end, isDay(override?.patch.starts ?? record.starts)].join(' ');
  };
  const changed = [...new Set([...old.keys(), ...next.keys()])].filter(
    (key) => timesOf(before, old.get(key), key) !== timesOf(after, next.get(key), key),
  );
  const find = occurrenceFinder(after, changed, 'UTC');
  return new Set(changed.filter((key) => find(key) !== null));
}

/** What an organizer states about attendees. */
export const invitations = (rows: readonly ParticipantRow[]) =>
  rows
    .map(({ recurrence_key, email, role, kind, uninvited }) =>
      [recurrence_key, email, role, kind, String(uninvited)].join(' '),
    )
    .toSorted();

/**
 * The reminders of a placement after a program has stored its text; the stored ones if they are the same in another order. A text without
 * VALARM removes reminders, and keeps those of the calendar, which it cannot have. So does one with alarms that are no reminders, if the
 * program has read them as they are: they are no statement about reminders. A program that adds such an alarm rings by itself.
 * @param alarms the stored alarms that are no reminders
 */
export function remindersAfter(
  stored: PlacedReminder[] | null,
  alarms: readonly Component[],
  read: Pick<ReadEvent, 'reminders' | 'alarms'>,
): PlacedReminder[] | null {
  const reminders = read.reminders ?? (read.alarms.length > 0 ? [] : null);
  if (stored === null && reminders?.length === 0 && isDeepStrictEqual(read.alarms, alarms)) return null;
  if (reminders === null) return stored?.length ? [] : stored;
  return stored !== null && sameReminders(stored, reminders) ? stored : reminders;
}

type OfInstances = Record<string, InstanceAlarms>;

/**
 * The alarms of instances after a program has stored its text; the stored ones if they are the same. The reminders of the calendar are
 * in no text: an instance that has them while its series has none of the calendar, or the other way around, keeps what it has.
 * @param reminders those of the series after the write
 */
export function instanceAlarmsAfter(
  stored: OfInstances | null | undefined,
  reminders: PlacedReminder[] | null,
  { instanceAlarms: given }: Pick<ReadEvent, 'instanceAlarms'>,
): OfInstances | null | undefined {
  const before = stored ?? {};
  const isSilent = !reminders?.length;
  const kept = Object.entries(before).filter(
    ([key, own]) => !Object.hasOwn(given, key) && isSilent && isEmpty(own),
  );
  const written = Object.entries(given).map(([key, own]): [string, InstanceAlarms] => {
    if (!own.reminders?.length && before[key]?.reminders === null) return [key, { ...own, reminders: null }];
    const none = reminders === null && own.alarms.length === 0 ? null : [];
    return [key, { ...own, reminders: own.reminders ?? none }];
  });
  const after = Object.fromEntries([...kept, ...written]);
  return isDeepStrictEqual(after, before) ? stored : after;
}

const isEmpty = ({ reminders, alarms }: InstanceAlarms): boolean => !reminders?.length && alarms.length === 0;

/**
 * The responses of a new event: attendees of the workspace have not responded yet, whatever the file states.
 * @param ownerId the owner of the calendar
 */
export const withoutForeignResponses = (rows: readonly ParticipantRow[], ownerId: string): ParticipantRow[] =>
  rows.map((row) =>
    row.user_id === null || row.user_id === ownerId ? row : { ...row, response: 'needs_action' as const },
  );

/** The messages that the server sends after a write. @param before the event that the text replaces, whose attendees it may no longer name */
export function serverMessages(
  messages: EventMessage[],
  { people }: Pick<ReadEvent, 'people'>,
  before?: EventRecord,
): EventMessage[] {
  const named = new Set(people.map(addressOfPerson));
  const others = before ? keptOf(before.custom).people : [];
  const dropped = others.filter((each) => each.name === 'ATTENDEE' && !named.has(addressOfPerson(each)));
  return messages.filter(({ recipient }) => isServed([...people, ...dropped], recipient));
}

/** The messages that a program asks for by SCHEDULE-FORCE-SEND, to attendees outside of the workspace. */
export function forcedRequests(after: EventRecord, { people }: ReadEvent): EventMessage[] {
  const asked = new Set(forcedBy(people, 'REQUEST').map(addressOfPerson));
  const recipients = outsideAttendees(after, '').filter((email) => asked.has(email));
  return serverMessages(
    recipients.map((recipient) => ({
      method: 'REQUEST',
      recipient,
      recurrence_key: '',
      comment: '',
      proposal_id: null,
    })),
    { people },
  );
}

/**
 * The creation of an event whose organizer deleted it before: the same event, so that attendees whose calendars have it as cancelled get
 * it back. Its SEQUENCE is above that of the cancellation (RFC 5546, 2.1.4). The call that ended with it is replaced by a new one.
 * @param made the creation without the deleted event
 * @throws ApiError 422 `no_instances`
 */
export function revived(
  { record: before, entries }: DeletedEvent,
  made: EventChange,
  read: ReadEvent,
  now: string,
): EventChange {
  const next = replaceValues(before, read);
  const conference = withoutCall(next.conference);
  const { participants } = made.record;
  const sequence = Math.max(next.sequence, before.sequence + 1);
  const record = { ...next, conference, participants, sequence, dtstamp: now, deleted_at: null };
  const placed = made.entries.map((entry) => ({ ...entry, event_id: record.id }));
  const others = entries.map((entry) => ({ ...entry, hidden: false }));
  return { ...made, before: { ...before, conference: null }, record, entries: [...placed, ...others] };
}
