import { propertyOf } from '../../../../lib/icalendar/index.js';
import { attendeesOf, compareVersions, type ItipPart, sameMailbox } from '../../../../lib/itip/index.js';
import { changeOne } from '../../changes/event-change.js';
import { split } from '../../changes/series-split.js';
import { attendeesAt, withAttendeesAt } from '../../model/attendance.js';
import type { EventRecord, ParticipantRow, ProposalRow } from '../../model/event-record.js';
import { occurrenceOf } from '../../model/event-series.js';
import {
  type Applied,
  assertOrganizer,
  dtstampOf,
  type Incoming,
  isFromOther,
  isOlder,
  isOwnAddress,
  keyOf,
  RejectedMessageError,
  keepEvent,
  versionOf,
} from './incoming.js';
import { invites } from './placements.js';

/**
 * CANCEL of the event, of instances, or of an instance and all later ones. Cancelled events stay for a while, as cancelled.
 * @throws RejectedMessageError
 */
export function applyCancel(record: EventRecord, incoming: Incoming): Applied {
  const { message, from, now, byHand } = incoming;
  let next = record;
  let isOther = false;
  const done: Done = { keys: [], isCancelled: false };
  // Nothing proves who published an event: its user applies the cancellation, as the event itself.
  const isPublished = record.origin === 'published';
  if (isPublished && !byHand) throw new RejectedMessageError('published_by_mail');
  for (const part of message.parts) {
    if (!isPublished) isOther ||= isFromOther(assertOrganizer(part, record, incoming), from);
    next =
      part.recurrenceId === null
        ? withoutEvent(next, part, incoming, done)
        : withoutInstance(next, part, incoming, done);
  }
  if (next === record) return keepEvent('ignored_stale');
  return {
    ...keepEvent(done.isCancelled ? 'cancelled' : 'updated', isOther ? 'other_sender' : null),
    record: { ...next, updated_at: now },
    action: next.deleted_at === null ? 'updated' : 'deleted',
    fields: [done.isCancelled ? 'status' : 'attendees'],
    key: done.keys[0] ?? '',
  };
}

/** What a message has done. */
interface Done {
  /** The keys of the instances that it is about. */
  keys: string[];
  /** The recipient no longer takes part in the event, or in instances of it. */
  isCancelled: boolean;
}

/**
 * Whom a message names that removes others from an event to which the recipient stays invited (RFC 5546, 3.2.5); null: it cancels for the
 * recipient too. Names of strangers are those of an earlier version of the event, or the addresses by which its organizer knows the recipient,
 * such as a mailing list, which a new version tells.
 * @param rows the attendees of the event or of the instance
 * @param known the version of the event or of the instance
 */
function namesOthers(
  rows: readonly ParticipantRow[],
  known: Pick<EventRecord, 'sequence'>,
  record: EventRecord,
  part: ItipPart,
  { owner }: Incoming,
): 'attendees' | 'strangers' | null {
  const named = attendeesOf(part.event).map(({ email }) => email);
  const isInvited = rows.some(({ user_id, uninvited }) => user_id === owner.userId && !uninvited);
  const isWhole = propertyOf(part.event, 'STATUS')?.value.trim().toUpperCase() === 'CANCELLED';
  if (named.length === 0 || !isInvited || isWhole || named.some((email) => isOwnAddress(owner, email)))
    return null;
  const others = rows.filter(({ email }) => !sameMailbox(email, record.organizer_email));
  if (others.some(({ email }) => named.some((other) => sameMailbox(other, email)))) return 'attendees';
  return part.sequence > known.sequence ? null : 'strangers';
}

function withoutEvent(record: EventRecord, part: ItipPart, incoming: Incoming, done: Done): EventRecord {
  const { owner, isPlaced } = incoming;
  const isCancelled = record.deleted_at !== null && record.status === 'cancelled';
  if (isCancelled) return record;
  const removed = attendeesOf(part.event).map(({ email }) => email);
  if (isOlder(record, part)) {
    // A colleague got the version without the recipient first: the removal of the recipient still counts.
    const isRemoval =
      isPlaced && !invites(record, owner) && removed.some((email) => isOwnAddress(owner, email));
    done.isCancelled ||= isRemoval;
    return isRemoval ? { ...record } : record;
  }
  const named = namesOthers(record.participants, record, record, part, incoming);
  if (named === 'strangers') return record;
  done.isCancelled ||= named === null;
  const isRemoved = ({ email }: ParticipantRow): boolean =>
    removed.some((other) => sameMailbox(other, email));
  const others = record.participants.filter(
    (row) => row.user_id !== null && (named !== null || row.user_id !== owner.userId) && !isRemoved(row),
  );
  const version = { sequence: part.sequence, dtstamp: dtstampOf(part, incoming.now) };
  // Members of the workspace are still invited, so only the named attendees are removed, and the event keeps its version.
  if (removed.length > 0 && others.length > 0)
    return { ...record, participants: record.participants.filter((row) => !isRemoved(row)) };
  return { ...record, ...version, status: 'cancelled', deleted_at: incoming.now };
}

function withoutInstance(record: EventRecord, part: ItipPart, incoming: Incoming, done: Done): EventRecord {
  const { now } = incoming;
  const key = keyOf(record, part, incoming);
  const stored = record.overrides.find(({ recurrence_key }) => recurrence_key === key);
  if (compareVersions(part, versionOf(stored ?? record)) === 'older') return record;
  if (!occurrenceOf(record, key, 'UTC')) throw new RejectedMessageError('not_an_instance');
  const invited = attendeesAt(record, key);
  const named = part.thisAndFuture ? null : namesOthers(invited, stored ?? record, record, part, incoming);
  if (named === 'strangers') return record;
  done.keys.push(key);
  done.isCancelled ||= named === null;
  const version = { sequence: part.sequence, dtstamp: dtstampOf(part, now) };
  if (part.thisAndFuture) {
    const { earlier } = split(record, key, now);
    return earlier
      ? { ...earlier, ...version }
      : { ...record, ...version, status: 'cancelled', deleted_at: now };
  }
  const removed = attendeesOf(part.event).map(({ email }) => email);
  const left = invited.filter(({ email }) => !removed.some((other) => sameMailbox(other, email)));
  const isForOwner = named === null && left.some(({ user_id }) => user_id === incoming.owner.userId);
  // Members of the workspace are still invited to the instance, so only the named attendees are removed from it.
  if (removed.length > 0 && !isForOwner && left.some(({ user_id }) => user_id !== null))
    return { ...record, participants: withAttendeesAt(record, key, left) };
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
  assertOrganizer(part, record, incoming);
  const key = part.recurrenceId === null ? '' : keyOf(record, part, incoming);
  const pending = proposals.filter(
    ({ status, by_user_id, recurrence_key }) =>
      status === 'pending' && by_user_id === incoming.owner.userId && recurrence_key === key,
  );
  if (pending.length === 0) return keepEvent('ignored_unknown');
  return {
    ...keepEvent('updated'),
    record,
    proposals: pending.map((proposal) => ({ ...proposal, status: 'declined' as const })),
    action: 'proposed',
    fields: ['proposals'],
    key,
  };
}
