import { type Attendee, attendeesOf, type ItipPart, sameMailbox } from '../../../../lib/itip/index.js';
import type {
  AttendeeKind,
  AttendeeResponse,
  AttendeeRole,
  EventRecord,
  ParticipantRow,
} from '../../model/event-record.js';
import type { Incoming } from './incoming.js';

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

/** Responses of attendees to one instance, as its organizer knows them. Members of the workspace state their own. */
export function withInstanceResponses(record: EventRecord, key: string, part: ItipPart): ParticipantRow[] {
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
export function participantsOf(
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
