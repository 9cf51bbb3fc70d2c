import {
  type CalendarZones,
  type Component,
  ICalendarError,
  propertyOf,
} from '../../../../lib/icalendar/index.js';
import {
  type Attendee,
  attendeesOf,
  compareVersions,
  ItipError,
  type ItipMessage,
  type ItipPart,
  maySendFor,
  type Organizer,
  organizerOf,
  sameMailbox,
} from '../../../../lib/itip/index.js';
import { RecurrenceError } from '../../../../lib/recurrence/index.js';
import { ApiError } from '../../../../platform/http/errors.js';
import type { EventChange } from '../../changes/event-write.js';
import { DuplicateUidError } from '../../changes/event-writer.js';
import type { EventContent, EventRecord, EventTimes, ShowAs } from '../../model/event-record.js';
import { takenFrom } from '../../model/dependent-properties.js';
import { isSeries } from '../../model/event-series.js';
import { meantKey } from '../../model/known-instances.js';
import { allowsProposals, contentOfVevent } from '../../model/vevent-content.js';
import { withoutScheduling } from '../../model/ics/people-parameters.js';
import { startOf } from '../../model/vevent-reader.js';
import { EventClock, type Recurrence } from '../../model/vevent-times.js';
import { BUSY_STATUS } from '../../model/vevent.js';
import type { IncomingResult } from '../scheduling.entity.js';

/**
 * A message that its user applies: a published event, an invitation to another address (of a mailing list, or forwarded), one that another
 * address sends, or one with an unknown time zone is accepted.
 */
export interface ByHand {
  /** The zone of the calendar, for an unknown time zone; null: none. */
  timeZone: string | null;
}

/** A message as it arrived. */
export interface Arrival {
  tenantId: string;
  /** The member that receives it. */
  userId: string;
  /** The calendar for new events; null: the default calendar of the member. */
  calendarId: string | null;
  bytes: Buffer;
  /** The sender of the mail, lower case; null: uploaded. */
  from: string | null;
  /** False means that a member names a mail of the own mailbox. Its sender is not verified, because members can store any mail there. */
  isProven: boolean;
  /** The method of the Content-Type of a mail. */
  method: string | null;
  /**
   * False means that the receiving server could not verify the domain of the sender. Null means that it reports nothing, or the user
   * decides.
   */
  isAuthentic: boolean | null;
  /** The user asks to apply the message. */
  byHand?: ByHand | undefined;
  /** Equal for repeated deliveries of one message. */
  dedupeKey: string;
}

/** A message that changes nothing. */
export class RejectedMessageError extends Error {
  /** @param reason for the log of messages, e.g. `sender_mismatch` */
  constructor(readonly reason: string) {
    super(reason);
  }
}

/** The reason in an error that the content of a message causes; null for any other error. */
export function rejectionReason(error: unknown): string | null {
  if (error instanceof RejectedMessageError) return error.reason;
  if (error instanceof ItipError) return error.code;
  if (error instanceof ICalendarError) return error.code === 'unknown_time_zone' ? error.code : 'invalid_ics';
  if (error instanceof RecurrenceError) return error.code;
  if (error instanceof DuplicateUidError) return 'duplicate_uid';
  if (!(error instanceof ApiError) || error.kind.status >= 500) return null;
  const { details } = error.body as { details?: { code?: string }[] };
  return details?.[0]?.code ?? error.kind.code;
}

/** A received message with its sender and its recipient. */
export interface Incoming {
  message: ItipMessage;
  zones: CalendarZones;
  /** The sender that a mail proves, lower case; null: a user uploaded the message. */
  from: string | null;
  owner: { userId: string; emails: readonly string[] };
  /** User ids of members of the workspace by address (lower case). */
  members: ReadonlyMap<string, string>;
  /** The user applies the message, or has applied an earlier one of the same sender about the event. */
  byHand?: ByHand | undefined;
  /** The user applies this message. */
  isByUser: boolean;
  /** The event is in a calendar of the owner. */
  isPlaced: boolean;
  /** RFC 3339. */
  now: string;
}

/** The effect of a message on an event. */
export interface Applied extends Pick<EventChange, 'proposals' | 'action' | 'fields' | 'key' | 'messages'> {
  result: IncomingResult;
  reason: string | null;
  /** The event after the message; undefined: unchanged. */
  record?: EventRecord;
}

export const keepEvent = (result: IncomingResult, reason: string | null = null): Applied => ({
  result,
  reason,
  action: 'updated',
});

/** Whether an address is one of the owner's. */
export const isOwnAddress = ({ emails }: Incoming['owner'], email: string): boolean =>
  emails.some((own) => sameMailbox(own, email));

/** The address of the owner that a message names; undefined: it does not name the owner. */
export const ownAttendee = (part: ItipPart, { owner }: Incoming): Attendee | undefined =>
  attendeesOf(part.event, (email) => isOwnAddress(owner, email)).find(({ email }) =>
    isOwnAddress(owner, email),
  );

/** Whether a mail is from another address than that of the organizer, who may not have sent it. */
export const isFromOther = (organizer: Organizer, from: string | null): boolean =>
  from !== null && !maySendFor(from, organizer);

/**
 * Whether a user may apply a mail of another sender than the organizer: about an event that the user does not have, or one that was added in
 * this way. Nothing proves that the organizer knows of such a mail, so it changes no event that the organizer has sent. EMAIL of ORGANIZER
 * proves nothing either: the sender writes it.
 */
function mayTakeFromOther(known: EventRecord | null, { isByUser, isPlaced }: Incoming): boolean {
  if (!isByUser || known === null || !isPlaced) return isByUser;
  const sender = takenFrom(known);
  return sender !== null && !sameMailbox(sender, known.organizer_email);
}

/**
 * The organizer outside of the workspace who sent the message, or for whom the user applies it.
 * @param known the event whose organizer it must be; null: any
 * @throws RejectedMessageError `no_organizer`, `sender_mismatch`, `local_organizer`
 */
export function assertOrganizer(part: ItipPart, known: EventRecord | null, incoming: Incoming): Organizer {
  const { from, members, owner } = incoming;
  const organizer = organizerOf(part.event);
  if (!organizer) throw new RejectedMessageError('no_organizer');
  if (isFromOther(organizer, from) && !mayTakeFromOther(known, incoming))
    throw new RejectedMessageError('sender_mismatch');
  if (isOwnAddress(owner, organizer.email) || members.has(organizer.email))
    throw new RejectedMessageError('local_organizer');
  if (known && !sameMailbox(known.organizer_email, organizer.email))
    throw new RejectedMessageError('sender_mismatch');
  return organizer;
}

/**
 * The key of the instance that RECURRENCE-ID names. A RECURRENCE-ID in another zone is converted; midnight may name the day. The series may
 * have no instance with this key.
 * @throws ICalendarError `unknown_time_zone`
 */
export function keyOf(record: EventRecord, part: ItipPart, { zones, byHand, message }: Incoming): string {
  const clock = new EventClock(zones, byHand?.timeZone ?? null);
  const time = part.recurrenceId as NonNullable<ItipPart['recurrenceId']>;
  const key = clock.keyOfTime(time, startOf(record), record, part.event);
  // ADD names a new instance by its start.
  return isSeries(record) && message.method !== 'ADD' ? meantKey(record, key) : key;
}

/** Seconds since the epoch of a stored time. */
export const seconds = (text: string | null): number | null =>
  text === null ? null : Math.floor(new Date(text).getTime() / 1000);

/** RFC 3339 of a DTSTAMP, or the current time. */
export const dtstampOf = ({ dtstamp }: ItipPart, now: string): string =>
  dtstamp === null || Math.abs(dtstamp) > 250_000_000_000 ? now : new Date(dtstamp * 1000).toISOString();

/** The version of an event or of an instance. */
export const versionOf = ({ sequence, dtstamp }: Pick<EventRecord, 'sequence' | 'dtstamp'>) => ({
  sequence,
  dtstamp: seconds(dtstamp),
});

export const isOlder = (record: EventRecord | null, part: ItipPart): boolean =>
  record !== null && compareVersions(part, versionOf(record)) === 'older';

/** A VEVENT as the calendar stores it. */
export interface ReadEvent {
  content: Omit<EventContent, keyof EventTimes>;
  times: EventTimes;
  recurrence: Recurrence;
  /** False: the organizer refuses proposals of other times. */
  proposals_allowed: boolean;
  /** The times of the instances that the series states at others than its rules, by key. */
  own: ReadonlyMap<string, EventTimes>;
}

/**
 * Reads a VEVENT of a message. Missing properties have their defaults: a message states the whole event.
 * @param byHand of a message that its user applies
 * @throws ICalendarError; RecurrenceError for a rule
 */
export function readEvent(
  event: Component,
  { zones, byHand }: Pick<Incoming, 'zones' | 'byHand'>,
): ReadEvent {
  const clock = new EventClock(zones, byHand?.timeZone ?? null);
  const start = clock.begin(event);
  const times = clock.times(event, start);
  const content = contentOfVevent(withoutScheduling(event));
  const recurrence = clock.recurrence(event, start, times);
  return {
    content: {
      ...content,
      show_as: intended(event) ?? content.show_as,
    },
    times,
    recurrence,
    proposals_allowed: allowsProposals(event),
    own: clock.ownTimes(event, start, times, recurrence),
  };
}

/** Exchange states the status before the response as BUSYSTATUS, and the one after it as INTENDEDSTATUS. */
function intended(event: Component): ShowAs | null {
  const value = (propertyOf(event, 'X-MICROSOFT-CDO-INTENDEDSTATUS')?.value ?? '').trim().toUpperCase();
  if (value === 'BUSY' || value === 'FREE') return value === 'BUSY' ? 'busy' : 'free';
  const found = Object.entries(BUSY_STATUS).find(([, text]) => text === value);
  return (found?.[0] as ShowAs | undefined) ?? null;
}
