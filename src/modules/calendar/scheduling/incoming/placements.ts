import { compareVersions, isOfAttendee, organizerOf, sameMailbox } from '../../../../lib/itip/index.js';
import type { RequestContext } from '../../../../platform/context/request-context.js';
import { newEntry, type Placements } from '../../changes/event-write.js';
import { takenFrom } from '../../model/dependent-properties.js';
import type { EventRecord, OwnedEntry, ParticipantRow } from '../../model/event-record.js';
import type { PlacedRecord } from '../scheduling.repository.js';
import {
  type Applied,
  type ByHand,
  type Incoming,
  isFromOther,
  isOwnAddress,
  readEvent,
  RejectedMessageError,
  versionOf,
} from './incoming.js';

const isShared = (placed: PlacedRecord, { owner }: Incoming): boolean =>
  placed.entries.some(({ owner_id }) => owner_id !== owner.userId);

/** An uploaded message without a mail changes only the placement of its user. @throws RejectedMessageError `sender_mismatch` */
export function assertTouchesOwnOnly(placed: PlacedRecord | null, incoming: Incoming): void {
  if (incoming.from !== null || incoming.message.method === 'PUBLISH') return;
  if (isOfAttendee(incoming.message.method) || (placed !== null && isShared(placed, incoming)))
    throw new RejectedMessageError('sender_mismatch');
}

/**
 * A mail without a verified sender changes no event that is in calendars of other members too, and adds such an event only to the
 * calendar of an attendee, or of a user whose message states it as it is.
 * @throws RejectedMessageError `sender_mismatch`
 */
export function assertChangesOwnOnly(
  placed: PlacedRecord | null,
  applied: Applied,
  incoming: Incoming,
): void {
  if (!placed || isOfAttendee(incoming.message.method) || !isShared(placed, incoming)) return;
  const { owner } = incoming;
  const isInvolved =
    placed.entries.some(({ owner_id }) => owner_id === owner.userId) ||
    placed.record.participants.some(({ email }) => isOwnAddress(owner, email)) ||
    statesCurrent(placed.record, incoming);
  const isChanged = applied.record !== undefined && applied.record !== placed.record;
  if (isChanged || !isInvolved) throw new RejectedMessageError('sender_mismatch');
}

/** Whether a message contains the current version of an event: it tells its reader nothing new to add the event. */
function statesCurrent(record: EventRecord, incoming: Incoming): boolean {
  const part = incoming.message.parts.find(({ recurrenceId }) => recurrenceId === null);
  if (!part || compareVersions(part, versionOf(record)) !== 'same') return false;
  const { content, times } = readEvent(part.event, incoming);
  const names = ['title', 'description', 'location'] as const;
  return (
    times.starts === record.starts && names.every((name) => (content[name] ?? '') === (record[name] ?? ''))
  );
}

/** Whether an organizer whom the message of an organizer names is not its sender. */
export const isFromAnother = ({ message, from }: Incoming): boolean =>
  !isOfAttendee(message.method) &&
  message.method !== 'PUBLISH' &&
  message.parts.some(({ event }) => {
    const organizer = organizerOf(event);
    return organizer !== null && isFromOther(organizer, from);
  });

/**
 * The decision of a user for a later message about an event that was added from a mail by hand: the same sender may publish a new version,
 * and times in an unknown zone are in the one of the event. Who sends for an organizer is no part of this decision.
 */
export function standing({ record }: PlacedRecord, from: string | null): ByHand | undefined {
  const sender = takenFrom(record);
  const isSame = sender !== null && from !== null && sameMailbox(sender, from);
  return isSame ? { timeZone: record.time_zone } : undefined;
}

/** The event with the user id of the recipient at the address that is invited. */
export function withOwner(record: EventRecord, owner: Incoming['owner']): EventRecord {
  if (record.origin !== 'external') return record;
  const { userId } = owner;
  const isOwn = ({ email }: ParticipantRow): boolean => isOwnAddress(owner, email);
  if (!record.participants.some((row) => row.user_id !== userId && isOwn(row))) return record;
  const participants = record.participants.map((row) => (isOwn(row) ? { ...row, user_id: userId } : row));
  return { ...record, participants };
}

/**
 * Whether an invitation without a newer version of the event adds the recipient to it: another member got this version before, or a
 * newer one, which invites the recipient too (RFC 5546, 2.1.5).
 */
export function joinsCurrent(record: EventRecord, { result }: Applied, owner: Incoming['owner']): boolean {
  if (result === 'ignored_duplicate') return true;
  return result === 'ignored_stale' && record.status !== 'cancelled' && invites(record, owner);
}

/** Whether an event, or a date of it, invites the recipient. */
export const invites = ({ participants }: EventRecord, owner: Incoming['owner']): boolean =>
  participants.some(({ email, uninvited }) => !uninvited && isOwnAddress(owner, email));

/** An event to which the recipient is added. An event that was deleted with its last calendar is restored, a cancelled one is not. */
export const rejoined = (record: EventRecord): EventRecord =>
  record.status === 'cancelled' ? record : { ...record, deleted_at: null };

/** The placements after a message. An invitation adds the calendar of the recipient, a removal deletes it. */
export function placementsOf(
  placed: PlacedRecord | null,
  record: EventRecord,
  isInvitation: boolean,
  calendarId: string,
  ownerId: string,
): Placements {
  const current = placed?.entries ?? [];
  const own = current.find(({ owner_id }) => owner_id === ownerId);
  const isRescheduled = placed === null || record.sequence > placed.record.sequence;
  const isInvolved =
    record.origin !== 'external' ||
    record.deleted_at !== null ||
    isInvitation ||
    record.participants.some(({ user_id }) => user_id === ownerId);
  if (own && !isInvolved)
    return { entries: current.filter((entry) => entry !== own), removed: [own.calendar_id] };
  const added: OwnedEntry[] = isInvitation && !own ? [newEntry(record, calendarId, ownerId)] : [];
  const shown = (entry: OwnedEntry): OwnedEntry =>
    entry === own && isInvitation && isRescheduled ? { ...entry, hidden: false } : entry;
  return { entries: [...current.map(shown), ...added] };
}

/** The context for a received message: it acts for the member that receives it. */
export const contextOf = (tenantId: string, userId: string): RequestContext => ({
  tenantId,
  userId,
  role: null,
  sessionId: null,
  requestId: '',
});
