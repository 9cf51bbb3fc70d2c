import { v7 as uuidv7 } from 'uuid';
import { parameterOf, propertyOf } from '../../../../lib/icalendar/index.js';
import { compareVersions, type ItipPart, type Organizer } from '../../../../lib/itip/index.js';
import { changeAll, changeOne } from '../../changes/event-change.js';
import { newColumns } from '../../changes/event-write.js';
import { assertInstances } from '../../input/event-patch.js';
import { FOLLOWING, responseAt } from '../../model/event-policy.js';
import { asTakenFrom, isOrphaned } from '../../model/dependent-properties.js';
import type { EventRecord, OverrideRow, ParticipantRow } from '../../model/event-record.js';
import { instanceAt, isSeries, laterKeys, occurrenceOf } from '../../model/event-series.js';
import { timesAt, wallOf } from '../../model/event-times.js';
import { NO_VERSION, withOwnTimes } from '../../model/vevent-reader.js';
import {
  type Applied,
  assertOrganizer,
  dtstampOf,
  type Incoming,
  isFromOther,
  isOlder,
  keyOf,
  ownAttendee,
  type ReadEvent,
  readEvent,
  RejectedMessageError,
  keepEvent,
  versionOf,
  isOwnAddress,
} from './incoming.js';
import { attendeesAt, isOwnInvitation, wholeOf } from '../../model/attendance.js';
import { instanceRows, participantsOf as rowsOf } from '../../model/vevent-people.js';

/** Instances that were received without their series. */
const MAX_ORPHANS = 1_000;
/**
 * REQUEST, ADD and PUBLISH: a new event, a new version of it, or of some of its instances, which are merged into the series.
 * Instances without their series are kept until it arrives.
 * @param calendarId of the recipient
 * @throws RejectedMessageError; ApiError 422 for times and rules
 */
export function applyRequest(current: EventRecord | null, calendarId: string, incoming: Incoming): Applied {
  const { message, from, now, byHand, isByUser, isPlaced } = incoming;
  const isPublished = message.method === 'PUBLISH';
  if (isPublished && from !== null && !byHand) throw new RejectedMessageError('published_by_mail');
  const [first] = message.parts as [ItipPart];
  const organizer = isPublished ? null : assertOrganizer(first, current, incoming);
  const isAccepted = from === null || byHand !== undefined || isPlaced;
  if (organizer && !isAccepted && !message.parts.some((part) => ownAttendee(part, incoming)))
    throw new RejectedMessageError('not_an_attendee');
  let record = current;
  let isStale = false;
  const keys: string[] = [];
  for (const part of message.parts) {
    const before = record;
    if (part.recurrenceId === null && message.method !== 'ADD')
      record = withSeries(record, part, calendarId, organizer, incoming);
    else record = withInstance(record, part, calendarId, organizer, incoming, keys);
    isStale ||= record === before && isOlder(before, part);
  }
  if (record === current) return keepEvent(isStale ? 'ignored_stale' : 'ignored_duplicate');
  assertInstances(record as EventRecord);
  const isOther = organizer !== null && isFromOther(organizer, from);
  const isUnknownZone = message.parts.some((part) => hasUnknownZone(part, incoming));
  // A warning: the user decides to apply the message, its times or its sender may be wrong.
  const warning = isUnknownZone ? 'unknown_time_zone' : isOther ? 'other_sender' : null;
  const isTaken = isByUser ? isPublished || warning !== null : byHand !== undefined;
  const next =
    from === null ? (record as EventRecord) : asTakenFrom(record as EventRecord, isTaken ? from : null);
  return {
    ...keepEvent(current && current.deleted_at === null ? 'updated' : 'created', warning),
    record: { ...next, updated_at: now },
    action: current ? 'updated' : 'created',
    fields: current ? ['content'] : [],
    key: message.parts.length === 1 ? (keys[0] ?? '') : '',
  };
}

/** True when a time is read in the zone of the calendar. */
const hasUnknownZone = ({ event }: ItipPart, { zones }: Incoming): boolean =>
  ['DTSTART', 'DTEND'].some((name) => {
    const time = propertyOf(event, name);
    const tzid = time && parameterOf(time, 'TZID');
    return tzid !== undefined && zones.resolve(tzid, 0) === null;
  });

/** The record with a new version of the whole event; the same record for an old version. */
function withSeries(
  current: EventRecord | null,
  part: ItipPart,
  calendarId: string,
  organizer: Organizer | null,
  incoming: Incoming,
): EventRecord | null {
  if (current && compareVersions(part, versionOf(current)) !== 'newer') return current;
  const read = readEvent(part.event, incoming);
  const version = { sequence: part.sequence, dtstamp: dtstampOf(part, incoming.now) };
  if (!current) {
    const created = { ...newRecord(read, calendarId, organizer, incoming), ...version };
    return { ...created, participants: participantsOf(created, part, incoming, false) };
  }
  if (isOrphaned(current)) return adopted(current, read, version, part, organizer, incoming);
  const isRescheduled = part.sequence > current.sequence;
  const changed = changeAll(current, read, incoming.now);
  const next = changed?.record ?? { ...current };
  return {
    ...next,
    ...version,
    proposals_allowed: read.proposals_allowed,
    status: read.content.status ?? 'confirmed',
    deleted_at: null,
    // Who is invited again after a cancellation responds again.
    participants: participantsOf(next, part, incoming, changed?.moved || current.status === 'cancelled'),
    // A rescheduled series loses its overrides: the organizer repeats those that are still valid.
    overrides: withOwnTimes(
      {
        overrides: isRescheduled
          ? next.overrides.filter(({ sequence }) => sequence >= part.sequence)
          : next.overrides,
        named: new Set(),
      },
      next,
      read.own,
    ),
  };
}

/** The series after its instances were received first. Instances that the series does not have are dropped. */
function adopted(
  current: EventRecord,
  read: ReadEvent,
  version: Pick<EventRecord, 'sequence' | 'dtstamp'>,
  part: ItipPart,
  organizer: Organizer | null,
  incoming: Incoming,
): EventRecord {
  const { id, revision, created_by, created_at } = current;
  const series = newRecord(read, current.origin_calendar_id, organizer, incoming);
  const overrides = current.overrides.filter(({ recurrence_key: key }) => instanceAt(series, key) !== null);
  const participants = participantsOfDates(current, overrides, part);
  const kept = { id, revision, created_by, created_at, participants };
  const all = withOwnTimes({ overrides, named: new Set() }, series, read.own);
  const next = { ...series, ...kept, ...version, overrides: all };
  return { ...next, participants: participantsOf(next, part, incoming, false) };
}

/**
 * Rows of the attendees of dates that arrived before their series. A response to the dates is none to the series (RFC 5546, 3.2.2): it
 * stays that of each date. Attendees whom the series does not name are invited to the dates only.
 */
function participantsOfDates(
  { participants }: EventRecord,
  overrides: readonly OverrideRow[],
  { event }: ItipPart,
): ParticipantRow[] {
  const named = new Map(rowsOf(event, '').map((row) => [row.email, row]));
  return [...Map.groupBy(participants, ({ email }) => email)].flatMap(([email, rows]) => {
    const byKey = new Map(rows.map((row) => [row.recurrence_key, row]));
    const following = rows.filter(({ recurrence_key: key }) => key.startsWith(FOLLOWING));
    const common = [...following, ...rows.filter(({ recurrence_key }) => recurrence_key === '')];
    return overrides.flatMap(({ recurrence_key: key }) => {
      const row = byKey.get(key) ?? responseAt(common, key);
      return row && differs(row, named.get(email)) ? [{ ...row, recurrence_key: key }] : [];
    });
  });
}

/** Whether the row of a date says more than that of the series, in which the organizer states the responses of outsiders. */
function differs(row: ParticipantRow, whole: ParticipantRow | undefined): boolean {
  const { recurrence_key, user_id, response, removed } = row;
  if (whole === undefined || removed || isOwnInvitation({ ...row, recurrence_key: 'date' }, whole))
    return true;
  if (recurrence_key === '' && (user_id === null || response === 'needs_action')) return false;
  return response !== whole.response;
}

function newRecord(
  { content, times, recurrence, own, proposals_allowed }: ReadEvent,
  calendarId: string,
  organizer: Organizer | null,
  { message, owner, now }: Incoming,
): EventRecord {
  const record: EventRecord = {
    ...content,
    ...times,
    ...recurrence,
    id: uuidv7(),
    uid: message.uid,
    origin_calendar_id: calendarId,
    organizer_id: organizer ? null : owner.userId,
    organizer_email: organizer?.email ?? (owner.emails[0] as string),
    organizer_name: organizer?.name ?? '',
    origin: organizer ? 'external' : 'published',
    proposals_allowed,
    ...NO_VERSION,
    ...newColumns(owner.userId, now),
    participants: [],
    overrides: [],
  };
  return { ...record, overrides: withOwnTimes({ overrides: [], named: new Set() }, record, own) };
}

/** The record with a new version of one instance, or of it and all later ones; the same record for an old version. */
function withInstance(
  current: EventRecord | null,
  part: ItipPart,
  calendarId: string,
  organizer: Organizer | null,
  incoming: Incoming,
  keys: string[],
): EventRecord {
  const { message, now } = incoming;
  const read = readEvent(part.event, incoming);
  if (part.recurrenceId === null) {
    // ADD: the new instance is named by its start.
    if (!current) throw new RejectedMessageError('unknown_event');
    const added = {
      ...part,
      recurrenceId: { kind: 'local' as const, wall: wallOf(read.times.starts), tzid: read.times.time_zone },
    };
    return withInstance(current, added, calendarId, organizer, incoming, keys);
  }
  const series = current ?? orphanSeries(read, part, calendarId, organizer, incoming);
  const key = keyOf(series, part, incoming);
  keys.push(key);
  const stored = series.overrides.find(({ recurrence_key }) => recurrence_key === key);
  const version = { sequence: part.sequence, dtstamp: dtstampOf(part, now) };
  if (current && compareVersions(part, versionOf(stored ?? current)) === 'older') return current;
  if (current && stored && compareVersions(part, versionOf(stored)) === 'same') return current;
  const holder = withKey(series, key, part, message.method === 'ADD');
  const ranged = part.thisAndFuture ? laterKeys(holder, key) : [key];
  const shift = wallOf(read.times.starts) - wallOf(key);
  let next = holder;
  for (const each of ranged) {
    const times = each === key ? read.times : { ...read.times, ...timesAt(read.times, wallOf(each) + shift) };
    const changed = changeOne(next, each, { content: read.content, times }, now);
    const overrides = (changed?.record ?? next).overrides.map((override) =>
      override.recurrence_key === each ? { ...override, ...version } : override,
    );
    next = { ...(changed?.record ?? next), overrides, sequence: series.sequence, dtstamp: series.dtstamp };
  }
  const participants =
    current && current.participants.length > 0
      ? withAttendeesOfInstance(next, key, part, incoming, stored?.patch.status === 'cancelled')
      : participantsOf(next, part, incoming, false);
  return { ...next, participants, deleted_at: null };
}

/** A series of which only instances were received: it consists of these dates. */
function orphanSeries(
  read: ReadEvent,
  part: ItipPart,
  calendarId: string,
  organizer: Organizer | null,
  incoming: Incoming,
): EventRecord {
  const plain: ReadEvent = { ...read, recurrence: { rules: [], added: [], excluded: [] }, own: new Map() };
  const record = newRecord(plain, calendarId, organizer, incoming);
  const key = keyOf(record, part, incoming);
  const times = timesAt(record, wallOf(key));
  return { ...record, ...times, added: [key], custom: { ...record.custom, orphans: true } };
}

/** The series with an instance at this key. An added instance makes a single event a series. @throws RejectedMessageError `not_an_instance`, `too_many_instances` */
function withKey(
  record: EventRecord,
  key: string,
  { recurrenceId }: ItipPart,
  isAdded: boolean,
): EventRecord {
  if (occurrenceOf(record, key, 'UTC')) return record;
  if (recurrenceId === null || !(isSeries(record) || isAdded))
    throw new RejectedMessageError('not_an_instance');
  if (record.added.length >= MAX_ORPHANS) throw new RejectedMessageError('too_many_instances');
  const added = [...new Set([...record.added, key])].toSorted();
  const isOrphan = isOrphaned(record) && key < record.starts;
  const times = isOrphan ? timesAt(record, wallOf(key)) : {};
  return { ...record, ...times, added, excluded: record.excluded.filter((other) => other !== key) };
}

/**
 * Attendees of one instance and their responses, as the organizer states them. Members of the workspace keep their own responses, and
 * removals, unless the instance was cancelled.
 */
function withAttendeesOfInstance(
  record: EventRecord,
  key: string,
  part: ItipPart,
  incoming: Incoming,
  wasCancelled: boolean,
): ParticipantRow[] {
  const stated = rowsOf(part.event, key, (email) => isOwnAddress(incoming.owner, email));
  if (stated.length === 0) return record.participants;
  const before = new Map(attendeesAt(record, key).map((row) => [row.email, row]));
  const attendees = stated.map((attendee) => {
    const previous = before.get(attendee.email);
    const row = participant(record, attendee, incoming, wasCancelled);
    if (!previous || previous.user_id === null || wasCancelled) return row;
    return { ...row, response: previous.response, removed: previous.removed };
  });
  const others = record.participants.filter(({ recurrence_key }) => recurrence_key !== key);
  return [...others, ...instanceRows(record.participants, attendees, key, record.organizer_email)];
}

/** Rows of the attendees of a message. Members of the workspace keep their own responses unless the time has changed. */
function participantsOf(
  record: EventRecord,
  part: ItipPart,
  incoming: Incoming,
  isMoved: boolean,
): ParticipantRow[] {
  const isOwn = (email: string): boolean => isOwnAddress(incoming.owner, email);
  const rows = rowsOf(part.event, '', isOwn).map((attendee) =>
    participant(record, attendee, incoming, isMoved),
  );
  const emails = new Set(rows.map(({ email }) => email));
  const ofInstances = record.participants.filter((row) => {
    const whole = wholeOf(record.participants, row.email);
    if (isMoved || row.recurrence_key === '') return isOwnInvitation(row, whole);
    return emails.has(row.email) || !whole;
  });
  return [...rows, ...ofInstances];
}

/** The member whom an earlier message has found at an address. */
const userOf = ({ participants }: EventRecord, email: string): string | null =>
  participants.find((row) => row.email === email && row.user_id !== null)?.user_id ?? null;

function participant(
  record: EventRecord,
  attendee: ParticipantRow,
  { owner, members }: Incoming,
  isMoved: boolean,
): ParticipantRow {
  const { email, name } = attendee;
  const previous = wholeOf(record.participants, email);
  const isOwner = isOwnAddress(owner, email);
  const keepsOwn = previous !== undefined && previous.user_id !== null && !isMoved;
  const { response, comment, responded_at, reply_sequence, reply_dtstamp } = keepsOwn ? previous : attendee;
  return {
    ...attendee,
    user_id: isOwner ? owner.userId : (members.get(email) ?? userOf(record, email)),
    name: name || previous?.name || '',
    rsvp: attendee.rsvp || isOwner,
    response,
    comment,
    responded_at,
    reply_sequence,
    reply_dtstamp,
    schedule_status: previous?.schedule_status ?? null,
  };
}
