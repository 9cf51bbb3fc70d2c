import { type ItipPart, sameMailbox } from '../../../../lib/itip/index.js';
import type { EventRecord, ParticipantRow } from '../../model/event-record.js';
import { participantsOf as attendeesOf } from '../../model/vevent-people.js';
import type { Incoming } from './incoming.js';

/** Responses of attendees to one instance, as its organizer knows them. Members of the workspace state their own. */
export function withInstanceResponses(record: EventRecord, key: string, part: ItipPart): ParticipantRow[] {
  const rows = attendeesOf(part.event, key).flatMap((attendee): ParticipantRow[] => {
    const whole = record.participants.find(
      (row) => row.email === attendee.email && row.recurrence_key === '',
    );
    const { response } = attendee;
    const isOwn = !whole || whole.user_id !== null || response === whole.response;
    return isOwn ? [] : [{ ...whole, recurrence_key: key, response }];
  });
  const emails = new Set(rows.map(({ email }) => email));
  const others = record.participants.filter((row) => row.recurrence_key !== key || !emails.has(row.email));
  return [...others, ...rows];
}

/** Rows of the attendees of a message. Members of the workspace keep their own responses while the time stays. */
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
  const ofInstances = record.participants.filter((row) => row.recurrence_key !== '' && emails.has(row.email));
  return [...rows, ...(isMoved ? [] : ofInstances)];
}

function participant(
  record: EventRecord,
  attendee: ParticipantRow,
  { owner, members }: Incoming,
  isMoved: boolean,
): ParticipantRow {
  const { email, name } = attendee;
  const known = record.participants.find((row) => row.email === email && row.recurrence_key === '');
  const isOwner = owner.emails.some((own) => sameMailbox(own, email));
  const keepsOwn = known !== undefined && known.user_id !== null && !isMoved;
  const { response, comment, responded_at, reply_sequence, reply_dtstamp } = keepsOwn ? known : attendee;
  return {
    ...attendee,
    user_id: isOwner ? owner.userId : (members.get(email) ?? known?.user_id ?? null),
    name: name || known?.name || '',
    rsvp: attendee.rsvp || isOwner,
    response,
    comment,
    responded_at,
    reply_sequence,
    reply_dtstamp,
    schedule_status: known?.schedule_status ?? null,
  };
}
