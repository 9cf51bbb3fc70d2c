import { v7 as uuidv7 } from 'uuid';
import {
  type Attendee,
  attendeesOf,
  compareVersions,
  type ItipPart,
  type Organizer,
  sameMailbox,
} from '../../../lib/itip/index.js';
import { changeAll, changeOne } from '../changes/event-change.js';
import { split } from '../changes/series-split.js';
import { assertInstances } from '../input/event-patch.js';
import type {
  AttendeeKind,
  AttendeeResponse,
  AttendeeRole,
  EventRecord,
  ParticipantRow,
  ProposalRow,
} from '../model/event-record.js';
import { instanceAt, isSeries, occurrenceOf, occurrencesIn } from '../model/event-series.js';
import { instantOf, isDay, nominalLength, wallOf, wallText } from '../model/event-times.js';
import {
  type Applied,
  assertOrganizer,
  dtstampOf,
  type Incoming,
  keyOf,
  ownAttendee,
  seconds,
  unchanged,
} from './incoming.js';
import { RejectedMessageError } from './rejection.js';
import { type ReadEvent, readEvent } from './vevent-fields.js';

/** Instances that a change of an instance and all later ones reaches. */
const MAX_FOLLOWING = 1_000;
/** Instances that were received without their series. */
const MAX_ORPHANS = 1_000;
/** The version of a series of which only instances are known: any version of the series is newer. */
const NO_VERSION = { sequence: 0, dtstamp: '1970-01-01T00:00:00.000Z' };

const ROLES: Record<string, AttendeeRole> = {
  'OPT-PARTICIPANT': 'optional',
  CHAIR: 'chair',
  'NON-PARTICIPANT': 'none',
};
const KINDS: Record<string, AttendeeKind> = { GROUP: 'group', ROOM: 'room', RESOURCE: 'resource' };
const RESPONSES: Record<string, AttendeeResponse> = {
  ACCEPTED: 'accepted',
  DECLINED: 'declined',
  TENTATIVE: 'tentative',
  DELEGATED: 'delegated',
};

/**
 * REQUEST, ADD and PUBLISH: a new event, a new version of it, or of some of its instances, which are merged into the series.
 * Instances without their series are kept until it arrives.
 * @param calendarId of the recipient
 * @throws RejectedMessageError; ApiError 422 for times and rules
 */
export function applyRequest(current: EventRecord | null, calendarId: string, incoming: Incoming): Applied {
  const { message, from, now } = incoming;
  const isPublished = message.method === 'PUBLISH';
  if (isPublished && from !== null) throw new RejectedMessageError('published_by_mail');
  const [first] = message.parts as [ItipPart];
  const organizer = isPublished ? null : assertOrganizer(first, incoming);
  if (organizer && current && !sameMailbox(current.organizer_email, organizer.email))
    throw new RejectedMessageError('sender_mismatch');
  if (organizer && from !== null && !message.parts.some((part) => ownAttendee(part, incoming)))
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
  if (record === current) return unchanged(isStale ? 'ignored_stale' : 'ignored_duplicate');
  assertInstances(record as EventRecord);
  return {
    ...unchanged(current && current.deleted_at === null ? 'updated' : 'created'),
    record: { ...(record as EventRecord), updated_at: now },
    action: current ? 'updated' : 'created',
    fields: current ? ['content'] : [],
    key: message.parts.length === 1 ? (keys[0] ?? '') : '',
  };
}

const versionOf = ({ sequence, dtstamp }: Pick<EventRecord, 'sequence' | 'dtstamp'>) => ({
  sequence,
  dtstamp: seconds(dtstamp),
});

const isOlder = (record: EventRecord | null, part: ItipPart): boolean =>
  record !== null && compareVersions(part, versionOf(record)) === 'older';

/** The record with a new version of the whole event; the same record for an old version. */
function withSeries(
  current: EventRecord | null,
  part: ItipPart,
  calendarId: string,
  organizer: Organizer | null,
  incoming: Incoming,
): EventRecord | null {
  if (current && compareVersions(part, versionOf(current)) !== 'newer') return current;
  const read = readEvent(part.event, incoming.zones);
  const version = { sequence: part.sequence, dtstamp: dtstampOf(part, incoming.now) };
  if (!current) {
    const created = { ...newRecord(read, calendarId, organizer, incoming), ...version };
    return { ...created, participants: participantsOf(created, part, incoming, false) };
  }
  if (current.custom['orphans'] === true) return adopted(current, read, version, part, organizer, incoming);
  const isRescheduled = part.sequence > current.sequence;
  const changed = changeAll(current, read, incoming.now);
  const next = changed?.record ?? { ...current };
  return {
    ...next,
    ...version,
    status: read.content.status ?? 'confirmed',
    deleted_at: null,
    participants: participantsOf(current, part, incoming, changed?.moved ?? false),
    // A new schedule without overrides has none: the organizer states those that are still valid.
    overrides: isRescheduled
      ? next.overrides.filter(({ sequence }) => sequence >= part.sequence)
      : next.overrides,
  };
}

/** The series of instances that were received before it. Instances that it does not have are dropped. */
function adopted(
  current: EventRecord,
  read: ReadEvent,
  version: Pick<EventRecord, 'sequence' | 'dtstamp'>,
  part: ItipPart,
  organizer: Organizer | null,
  incoming: Incoming,
): EventRecord {
  const { id, revision, created_by, created_at, participants } = current;
  const series = newRecord(read, current.origin_calendar_id, organizer, incoming);
  const kept = { id, revision, created_by, created_at, participants };
  const overrides = current.overrides.filter(({ recurrence_key: key }) => instanceAt(series, key) !== null);
  const next = { ...series, ...kept, ...version, overrides };
  return { ...next, participants: participantsOf(next, part, incoming, false) };
}

function newRecord(
  { content, times, recurrence }: ReadEvent,
  calendarId: string,
  organizer: Organizer | null,
  { message, owner, now }: Incoming,
): EventRecord {
  return {
    ...(content as EventRecord),
    ...times,
    ...recurrence,
    id: uuidv7(),
    uid: message.uid,
    origin_calendar_id: calendarId,
    organizer_id: organizer ? null : owner.userId,
    organizer_email: organizer?.email ?? (owner.emails[0] as string),
    organizer_name: organizer?.name ?? '',
    origin: organizer ? 'external' : 'published',
    custom: {},
    proposals_allowed: true,
    ...NO_VERSION,
    split_from: null,
    participants_count: 0,
    overrides_count: 0,
    title_key: '',
    revision: 1,
    created_by: owner.userId,
    updated_by: owner.userId,
    created_at: now,
    updated_at: now,
    deleted_at: null,
    participants: [],
    overrides: [],
  };
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
  const { now, zones } = incoming;
  const read = readEvent(part.event, zones);
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
  const key = keyOf(series, part, zones);
  keys.push(key);
  const known = series.overrides.find(({ recurrence_key }) => recurrence_key === key);
  const version = { sequence: part.sequence, dtstamp: dtstampOf(part, now) };
  if (current && compareVersions(part, versionOf(known ?? current)) === 'older') return current;
  if (current && known && compareVersions(part, versionOf(known)) === 'same') return current;
  const holder = withKey(series, key, part);
  const ranged = part.thisAndFuture ? laterKeys(holder, key) : [key];
  const shift = wallOf(read.times.starts) - wallOf(key);
  let next = holder;
  for (const each of ranged) {
    const times = each === key ? read.times : shiftedTimes(read.times, wallOf(each) + shift);
    const changed = changeOne(next, each, { content: read.content, times }, now);
    const overrides = (changed?.record ?? next).overrides.map((override) =>
      override.recurrence_key === each ? { ...override, ...version } : override,
    );
    next = { ...(changed?.record ?? next), overrides, sequence: series.sequence, dtstamp: series.dtstamp };
  }
  const participants =
    current && current.participants.length > 0
      ? withInstanceResponses(next, key, part)
      : participantsOf(next, part, incoming, false);
  return { ...next, participants, deleted_at: null };
}

/** A series of which only instances are known: its dates are these instances. */
function orphanSeries(
  read: ReadEvent,
  part: ItipPart,
  calendarId: string,
  organizer: Organizer | null,
  incoming: Incoming,
): EventRecord {
  const plain: ReadEvent = { ...read, recurrence: { rules: [], added: [], excluded: [] } };
  const record = newRecord(plain, calendarId, organizer, incoming);
  const key = keyOf(record, part, incoming.zones);
  const ends = wallText(wallOf(key) + nominalLength(record), isDay(key));
  return { ...record, starts: key, ends, added: [key], custom: { orphans: true } };
}

/** The series with an instance at this key. @throws RejectedMessageError `not_an_instance`, `too_many_instances` */
function withKey(record: EventRecord, key: string, { recurrenceId }: ItipPart): EventRecord {
  if (occurrenceOf(record, key, 'UTC')) return record;
  if (!isSeries(record) || recurrenceId === null) throw new RejectedMessageError('not_an_instance');
  if (record.added.length >= MAX_ORPHANS) throw new RejectedMessageError('too_many_instances');
  const added = [...new Set([...record.added, key])].toSorted();
  const isOrphan = record.custom['orphans'] === true && key < record.starts;
  const starts = isOrphan ? key : record.starts;
  const ends = isOrphan ? wallText(wallOf(key) + nominalLength(record), isDay(key)) : record.ends;
  return { ...record, starts, ends, added, excluded: record.excluded.filter((other) => other !== key) };
}

/** An instance and the later ones, in order. */
function laterKeys(record: EventRecord, key: string): string[] {
  const from = instantOf(wallOf(key), record.time_zone);
  const later = occurrencesIn(
    record,
    { from, to: Number.POSITIVE_INFINITY, readerZone: 'UTC' },
    MAX_FOLLOWING,
  )
    .flatMap((occurrence) => occurrence.key ?? [])
    .filter((other) => other > key);
  return [key, ...later.toSorted().slice(0, MAX_FOLLOWING)];
}

const shiftedTimes = (times: ReadEvent['times'], wall: number): ReadEvent['times'] => ({
  ...times,
  starts: wallText(wall, isDay(times.starts)),
  ends: wallText(wall + nominalLength(times), isDay(times.starts)),
});

/** Responses of attendees to one instance, as its organizer knows them. Members of the workspace state their own. */
function withInstanceResponses(record: EventRecord, key: string, part: ItipPart): ParticipantRow[] {
  const rows = attendeesOf(part.event).flatMap((attendee): ParticipantRow[] => {
    const whole = record.participants.find(
      (row) => row.email === attendee.email && row.recurrence_key === '',
    );
    const response = RESPONSES[attendee.response] ?? 'needs_action';
    const isOwn = !whole || whole.user_id !== null || response === whole.response;
    return isOwn ? [] : [{ ...whole, recurrence_key: key, response }];
  });
  const emails = new Set(rows.map(({ email }) => email));
  const others = record.participants.filter((row) => row.recurrence_key !== key || !emails.has(row.email));
  return [...others, ...rows];
}

/** Rows of the attendees of a message. Members of the workspace keep their own responses while the time stays. */
function participantsOf(
  record: EventRecord,
  part: ItipPart,
  incoming: Incoming,
  isMoved: boolean,
): ParticipantRow[] {
  const rows = attendeesOf(part.event).map((attendee) => participant(record, attendee, incoming, isMoved));
  const emails = new Set(rows.map(({ email }) => email));
  const ofInstances = record.participants.filter((row) => row.recurrence_key !== '' && emails.has(row.email));
  return [...rows, ...(isMoved ? [] : ofInstances)];
}

function participant(
  record: EventRecord,
  attendee: Attendee,
  { owner, members }: Incoming,
  isMoved: boolean,
): ParticipantRow {
  const { email, name, role, kind, rsvp, delegatedTo, delegatedFrom } = attendee;
  const known = record.participants.find((row) => row.email === email && row.recurrence_key === '');
  const isOwner = owner.emails.some((own) => sameMailbox(own, email));
  const user_id = isOwner ? owner.userId : (members.get(email) ?? known?.user_id ?? null);
  const keepsOwn = known !== undefined && known.user_id !== null && !isMoved;
  const stated = RESPONSES[attendee.response] ?? 'needs_action';
  return {
    recurrence_key: '',
    email,
    user_id,
    name: name || known?.name || '',
    role: ROLES[role] ?? 'required',
    kind: KINDS[kind] ?? 'person',
    response: keepsOwn ? known.response : stated,
    rsvp: rsvp || isOwner,
    comment: keepsOwn ? known.comment : '',
    responded_at: keepsOwn ? known.responded_at : null,
    reply_sequence: keepsOwn ? known.reply_sequence : null,
    reply_dtstamp: keepsOwn ? known.reply_dtstamp : null,
    delegated_to: delegatedTo,
    delegated_from: delegatedFrom,
    schedule_status: known?.schedule_status ?? null,
  };
}

/**
 * CANCEL of the event, of instances, or of an instance and all later ones. Cancelled events stay for a while, as cancelled.
 * @throws RejectedMessageError
 */
export function applyCancel(record: EventRecord, incoming: Incoming): Applied {
  const { message, now } = incoming;
  let next = record;
  const keys: string[] = [];
  for (const part of message.parts) {
    const organizer = assertOrganizer(part, incoming);
    if (!sameMailbox(record.organizer_email, organizer.email))
      throw new RejectedMessageError('sender_mismatch');
    next =
      part.recurrenceId === null
        ? withoutEvent(next, part, incoming)
        : withoutInstance(next, part, incoming, keys);
  }
  if (next === record) return unchanged('ignored_stale');
  return {
    ...unchanged('cancelled'),
    record: { ...next, updated_at: now },
    action: next.deleted_at === null ? 'updated' : 'deleted',
    fields: ['status'],
    key: keys[0] ?? '',
  };
}

function withoutEvent(record: EventRecord, part: ItipPart, incoming: Incoming): EventRecord {
  if (isOlder(record, part) || record.deleted_at !== null) return record;
  const removed = attendeesOf(part.event).map(({ email }) => email);
  const isRemoved = ({ email }: ParticipantRow): boolean =>
    removed.some((other) => sameMailbox(other, email));
  const others = record.participants.filter(
    (row) => row.user_id !== null && row.user_id !== incoming.owner.userId && !isRemoved(row),
  );
  const version = { sequence: part.sequence, dtstamp: dtstampOf(part, incoming.now) };
  // Other members of the workspace are still invited: the owner leaves, and the version of the event stays.
  if (removed.length > 0 && others.length > 0)
    return { ...record, participants: record.participants.filter((row) => !isRemoved(row)) };
  return { ...record, ...version, status: 'cancelled', deleted_at: incoming.now };
}

function withoutInstance(
  record: EventRecord,
  part: ItipPart,
  incoming: Incoming,
  keys: string[],
): EventRecord {
  const { now, zones } = incoming;
  const key = keyOf(record, part, zones);
  const known = record.overrides.find(({ recurrence_key }) => recurrence_key === key);
  if (compareVersions(part, versionOf(known ?? record)) === 'older') return record;
  if (!occurrenceOf(record, key, 'UTC')) throw new RejectedMessageError('not_an_instance');
  keys.push(key);
  const version = { sequence: part.sequence, dtstamp: dtstampOf(part, now) };
  if (part.thisAndFuture) {
    const { earlier } = split(record, key, now);
    return earlier
      ? { ...earlier, ...version }
      : { ...record, ...version, status: 'cancelled', deleted_at: now };
  }
  const changed = changeOne(record, key, { content: { status: 'cancelled' } }, now);
  if (!changed) return record;
  const overrides = changed.record.overrides.map((override) =>
    override.recurrence_key === key ? { ...override, ...version } : override,
  );
  return { ...changed.record, overrides, sequence: record.sequence, dtstamp: record.dtstamp };
}

/** DECLINECOUNTER: the organizer declines a proposal of the owner. */
export function applyDecline(
  record: EventRecord,
  proposals: readonly ProposalRow[],
  incoming: Incoming,
): Applied {
  const [part] = incoming.message.parts as [ItipPart];
  const organizer = assertOrganizer(part, incoming);
  if (!sameMailbox(record.organizer_email, organizer.email))
    throw new RejectedMessageError('sender_mismatch');
  const key = part.recurrenceId === null ? '' : keyOf(record, part, incoming.zones);
  const pending = proposals.filter(
    ({ status, by_user_id, recurrence_key }) =>
      status === 'pending' && by_user_id === incoming.owner.userId && recurrence_key === key,
  );
  if (pending.length === 0) return unchanged('ignored_unknown');
  return {
    ...unchanged('updated'),
    record,
    proposals: pending.map((proposal) => ({ ...proposal, status: 'declined' as const })),
    action: 'proposed',
    fields: ['proposals'],
    key,
  };
}
