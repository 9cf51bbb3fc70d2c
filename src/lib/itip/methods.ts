/** The methods of RFC 5546 for events. */
export const ITIP_METHODS = [
  'PUBLISH',
  'REQUEST',
  'REPLY',
  'ADD',
  'CANCEL',
  'REFRESH',
  'COUNTER',
  'DECLINECOUNTER',
] as const;

export type ItipMethod = (typeof ITIP_METHODS)[number];

/** Whether an attendee sends this method to the organizer (RFC 5546, 1.4). The others go to attendees. */
export const isOfAttendee = (method: ItipMethod): boolean => /^(?:REPLY|COUNTER|REFRESH)$/.test(method);

export type ItipErrorCode =
  /** The text is not iCalendar, or has no event. */
  | 'invalid_ics'
  /** METHOD is missing or unknown. */
  | 'unknown_method'
  /** The components have several UIDs. */
  | 'multiple_uids';

/** A text that is not one scheduling message. */
export class ItipError extends Error {
  override readonly name = 'ItipError';

  constructor(
    readonly code: ItipErrorCode,
    message: string,
  ) {
    super(message);
  }
}

export const isItipMethod = (text: string): text is ItipMethod =>
  (ITIP_METHODS as readonly string[]).includes(text);

/** The version of an event or of a response (RFC 5546, 2.1.4 and 2.1.5). */
export interface Version {
  sequence: number;
  /** Seconds since the epoch; null: unknown. */
  dtstamp: number | null;
}

export type Freshness = 'newer' | 'same' | 'older';

/** Compares by SEQUENCE, then by DTSTAMP. An unknown DTSTAMP of the incoming version counts as newer. */
export function compareVersions(incoming: Version, known: Version): Freshness {
  if (incoming.sequence !== known.sequence) return incoming.sequence > known.sequence ? 'newer' : 'older';
  if (incoming.dtstamp === null || known.dtstamp === null) return 'newer';
  if (incoming.dtstamp === known.dtstamp) return 'same';
  return incoming.dtstamp > known.dtstamp ? 'newer' : 'older';
}
