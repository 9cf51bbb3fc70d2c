import type { ItipPart } from '../../../../lib/itip/index.js';
import { attendeesAt, isOwnInvitation, wholeOf } from '../../model/attendance.js';
import type { EventRecord, ParticipantRow } from '../../model/event-record.js';
import { instanceRows, participantsOf as attendeesOf } from '../../model/vevent-people.js';
import { type Incoming, isOwnAddress } from './incoming.js';

/** Attendees of one instance and their responses, as the organizer states them. Members of the workspace keep their own responses, and removals. */
export function withAttendeesOfInstance(
  record: EventRecord,
  key: string,
  part: ItipPart,
  incoming: Incoming,
): ParticipantRow[] {
  const stated = attendeesOf(part.event, key);
  if (stated.length === 0) return record.participants;
  const before = new Map(attendeesAt(record, key).map((row) => [row.email, row]));
  const attendees = stated.map((attendee) => {
    const previous = before.get(attendee.email);
    const row = participant(record, attendee, incoming, false);
    if (!previous || previous.user_id === null) return row;
    return { ...row, response: previous.response, removed: previous.removed };
  });
  const others = record.participants.filter(({ recurrence_key }) => recurrence_key !== key);
  return [...others, ...instanceRows(record.participants, attendees, key, record.organizer_email)];
}

/** Rows of the attendees of a message. Members of the workspace keep their own responses unless the time has changed. */
export function participantsOf(
  record: EventRecord,
  part: ItipPart,
  incoming: Incoming,
  isMoved: boolean,
): ParticipantRow[] {
  const rows = attendeesOf(part.event, '').map((attendee) =>
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
    user_id: isOwner ? owner.userId : (members.get(email) ?? previous?.user_id ?? null),
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
