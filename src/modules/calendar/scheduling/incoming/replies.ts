import { v7 as uuidv7 } from 'uuid';
import {
  type Attendee,
  attendeesOf,
  compareVersions,
  type ItipPart,
  MAX_ATTENDEES,
  maySendFor,
  sameMailbox,
} from '../../../../lib/itip/index.js';
import { withResponse } from '../../changes/event-change.js';
import { attendeesAt } from '../../model/attendance.js';
import { FOLLOWING } from '../../model/event-policy.js';
import {
  NEW_PARTICIPANT,
  type AttendeeResponse,
  type EventRecord,
  type EventTimes,
  type ParticipantRow,
  type ProposalRow,
} from '../../model/event-record.js';
import { contentOf, occurrenceOf } from '../../model/event-series.js';
import { instantOf, wallOf } from '../../model/event-times.js';
import { RESPONSES } from '../../model/vevent.js';
import { commentOf } from '../parsed-message.js';
import {
  type Applied,
  dtstampOf,
  type Incoming,
  keyOf,
  readEvent,
  RejectedMessageError,
  seconds,
  keepEvent,
} from './incoming.js';

const MAX_COMMENT = 4_000;

/** The response of a PARTSTAT; undefined for one that events do not have. */
const responseNamed = (partstat: string): AttendeeResponse | undefined =>
  (Object.keys(RESPONSES) as AttendeeResponse[]).find((name) => RESPONSES[name] === partstat);

/** The sender among the attendees of a message. @throws RejectedMessageError `sender_mismatch` */
function senderOf(part: ItipPart, { from }: Incoming): Attendee {
  const attendees = attendeesOf(part.event);
  const sender = from === null ? undefined : attendees.find((attendee) => maySendFor(from, attendee));
  if (!sender) throw new RejectedMessageError('sender_mismatch');
  return sender;
}

/** The row of an attendee for the whole event; of an attendee of some instances, that of the first one. */
function rowOf(record: EventRecord, email: string): ParticipantRow | undefined {
  const rows = record.participants.filter((row) => !row.uninvited && sameMailbox(row.email, email));
  return rows.find(({ recurrence_key }) => recurrence_key === '') ?? rows[0];
}

/**
 * The row of the sender. A delegate gets a row only by the response of the attendee who delegates. Otherwise any sender could take
 * part by a message that claims a delegation.
 * @throws RejectedMessageError `not_an_attendee`
 */
function invitedRow(record: EventRecord, { email }: Attendee): ParticipantRow {
  const row = rowOf(record, email);
  if (!row) throw new RejectedMessageError('not_an_attendee');
  return row;
}

/** @throws RejectedMessageError `not_an_attendee` of this instance */
function assertInvited(record: EventRecord, email: string, key: string): void {
  if (key !== '' && !attendeesAt(record, key).some((row) => row.email === email))
    throw new RejectedMessageError('not_an_attendee');
}

/** REPLY: responses of an attendee to the event, to instances, or to an instance and all later ones. */
export function applyReply(record: EventRecord, incoming: Incoming): Applied {
  let next = record;
  let last: Applied = keepEvent('ignored_stale');
  for (const part of incoming.message.parts) {
    const applied = replyOf(next, part, incoming);
    if (applied.record) next = applied.record;
    if (applied.record || last.record === undefined) last = applied;
  }
  return next === record ? last : { ...last, record: next };
}

function replyOf(record: EventRecord, part: ItipPart, incoming: Incoming): Applied {
  const sender = senderOf(part, incoming);
  const response = responseNamed(sender.response);
  if (response === undefined) throw new RejectedMessageError('unknown_response');
  const row = invitedRow(record, sender);
  const { email } = row;
  const key = part.recurrenceId === null ? '' : instanceKeyOf(record, part, incoming);
  assertInvited(record, email, key);
  const rowKey = part.thisAndFuture && key !== '' ? `${FOLLOWING}${key}` : key;
  const freshness = freshnessOf(record, email, rowKey, part);
  if (freshness !== 'newer') return keepEvent(freshness === 'same' ? 'ignored_duplicate' : 'ignored_stale');
  if (isForOldTime(record, key, part, incoming)) return keepEvent('ignored_stale', 'older_sequence');
  const comment = commentOf(part.event, sender.note, MAX_COMMENT);
  const dtstamp = dtstampOf(part, incoming.now);
  const values = { response, comment, responded_at: dtstamp };
  const responded = withResponse(record, email, rowKey, values);
  const participants = responded.participants.map((each) =>
    each.email === email && each.recurrence_key === rowKey
      ? {
          ...each,
          reply_sequence: part.sequence,
          reply_dtstamp: dtstamp,
          delegated_to: sender.delegatedTo ?? each.delegated_to,
        }
      : each,
  );
  const recorded = { ...responded, participants };
  return {
    ...keepEvent('reply_recorded'),
    record: sender.delegatedTo ? withDelegate(recorded, row, sender.delegatedTo, incoming) : recorded,
    action: 'responded',
    fields: ['response'],
    key: rowKey,
  };
}

/** Adds the delegate of an attendee, who may be a member. @throws RejectedMessageError `too_many_attendees` */
function withDelegate(
  record: EventRecord,
  from: ParticipantRow,
  email: string,
  { members }: Incoming,
): EventRecord {
  const userId = members.get(email) ?? null;
  const isKnown = userId !== null && record.participants.some(({ user_id }) => user_id === userId);
  if (isKnown || rowOf(record, email)) return record;
  const emails = new Set(record.participants.map((row) => row.email));
  if (emails.size >= MAX_ATTENDEES) throw new RejectedMessageError('too_many_attendees');
  const { recurrence_key, role, kind, rsvp } = from;
  const invitation = { recurrence_key, role, kind, rsvp, email, user_id: userId, delegated_from: from.email };
  const delegate: ParticipantRow = { ...NEW_PARTICIPANT, ...invitation };
  return { ...record, participants: [...record.participants, delegate] };
}

/** @throws RejectedMessageError `not_an_instance` */
function instanceKeyOf(record: EventRecord, part: ItipPart, incoming: Incoming): string {
  const key = keyOf(record, part, incoming);
  if (!occurrenceOf(record, key, 'UTC')) throw new RejectedMessageError('not_an_instance');
  return key;
}

/** Compares a response with the recorded one to the same instances (RFC 5546, 2.1.5). */
function freshnessOf(record: EventRecord, email: string, key: string, part: ItipPart) {
  const row = record.participants.find((each) => each.email === email && each.recurrence_key === key);
  if (!row || row.reply_sequence === null || row.reply_dtstamp === null) return 'newer';
  return compareVersions(part, { sequence: row.reply_sequence, dtstamp: seconds(row.reply_dtstamp) });
}

/** A response to an older version counts only if it states the current time of the event. */
function isForOldTime(record: EventRecord, key: string, part: ItipPart, incoming: Incoming): boolean {
  const override = record.overrides.find(({ recurrence_key }) => recurrence_key === key);
  if (part.sequence >= (override?.sequence ?? record.sequence)) return false;
  try {
    const { times, recurrence } = readEvent(part.event, incoming);
    const current = timesAt(record, key);
    const hasRule = recurrence.rules.length > 0 && key === '';
    return (
      instantAt(times) !== instantAt(current) || (hasRule && recurrence.rules.join() !== record.rules.join())
    );
  } catch {
    return true;
  }
}

const instantAt = ({ starts, time_zone }: EventTimes): number => instantOf(wallOf(starts), time_zone);

function timesAt(record: EventRecord, key: string): EventTimes {
  const occurrence = key === '' ? null : occurrenceOf(record, key, 'UTC');
  return occurrence ? contentOf(record, occurrence) : record;
}

/**
 * Whether a proposal is one about another time than the current one. SEQUENCE of a series grows with changes of its dates too, which
 * recipients of these dates only do not learn: a date that takes place at its RECURRENCE-ID is the one that the sender knows.
 */
function isForOldVersion(record: EventRecord, key: string, { sequence }: ItipPart): boolean {
  const override = record.overrides.find(({ recurrence_key }) => recurrence_key === key);
  if (sequence >= (override?.sequence ?? record.sequence)) return false;
  if (key === '') return sequence < sequenceOfSeries(record);
  if (override?.patch.status === 'cancelled') return true;
  return instantAt(timesAt(record, key)) !== instantOf(wallOf(key), record.time_zone);
}

/** The highest SEQUENCE that is not the one of a changed date. */
function sequenceOfSeries({ sequence, overrides }: EventRecord): number {
  const ofDates = new Set(overrides.map((override) => override.sequence));
  let last = sequence;
  while (ofDates.has(last)) last -= 1;
  return last;
}

/** COUNTER: another time that an attendee proposes. */
export function applyCounter(
  record: EventRecord,
  proposals: readonly ProposalRow[],
  incoming: Incoming,
): Applied {
  const [part] = incoming.message.parts as [ItipPart];
  const sender = senderOf(part, incoming);
  const row = invitedRow(record, sender);
  const key = part.recurrenceId === null ? '' : instanceKeyOf(record, part, incoming);
  assertInvited(record, row.email, key);
  if (isForOldVersion(record, key, part)) return keepEvent('ignored_stale', 'older_sequence');
  const comment = commentOf(part.event, sender.note, MAX_COMMENT);
  const decline = {
    method: 'DECLINECOUNTER' as const,
    recipient: row.email,
    recurrence_key: key,
    comment: '',
    proposal_id: null,
  };
  if (!record.proposals_allowed)
    return { ...keepEvent('rejected', 'proposals_disabled'), messages: [decline] };
  const { times } = readEvent(part.event, incoming);
  const current = timesAt(record, key);
  const isSame = instantAt(times) === instantAt(current) && times.ends === current.ends;
  if (isSame) throw new RejectedMessageError('same_time');
  const dtstamp = dtstampOf(part, incoming.now);
  const proposal: ProposalRow = {
    ...times,
    id: uuidv7(),
    recurrence_key: key,
    by_email: row.email,
    by_name: row.name || sender.name,
    by_user_id: row.user_id,
    comment,
    status: 'pending',
    base_sequence: record.sequence,
    created_at: incoming.now,
  };
  const replaced = proposals
    .filter((each) => each.status === 'pending' && each.by_email === row.email && each.recurrence_key === key)
    .map((each) => ({ ...each, status: 'withdrawn' as const }));
  const values = { response: responseNamed(sender.response) ?? 'tentative', comment, responded_at: dtstamp };
  return {
    ...keepEvent('counter_recorded'),
    record: withResponse(record, row.email, key, values),
    proposals: [...replaced, proposal],
    action: 'proposed',
    fields: ['proposals'],
    key,
  };
}

/** REFRESH: an attendee asks for the current version. */
export function applyRefresh(record: EventRecord, incoming: Incoming): Applied {
  const [part] = incoming.message.parts as [ItipPart];
  const row = invitedRow(record, senderOf(part, incoming));
  const message = {
    method: 'REQUEST' as const,
    recipient: row.email,
    recurrence_key: '',
    comment: '',
    proposal_id: null,
  };
  return { ...keepEvent('refresh_answered'), messages: [message] };
}
