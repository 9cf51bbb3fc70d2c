import {
  type Component,
  ICalendarError,
  parameterOf,
  parseCalendars,
  parseTime,
  propertyOf,
  storedUid,
  textOf,
  timesOf,
  type TimeValue,
} from '../icalendar/index.js';
import { isItipMethod, ItipError, type ItipMethod } from './methods.js';

const MAX_PARTS = 1_000;
const MAX_SEQUENCE = 2_147_483_647;

/** One VEVENT of a message: the whole event, or one instance. */
export interface ItipPart {
  event: Component;
  /** RECURRENCE-ID with its TZID; null: the whole event. */
  recurrenceId: (TimeValue & { tzid: string | null }) | null;
  /** RANGE=THISANDFUTURE: the instance and all later ones. */
  thisAndFuture: boolean;
  sequence: number;
  /** Seconds since the epoch; null without a usable DTSTAMP. */
  dtstamp: number | null;
}

/** A scheduling message (RFC 5546): one method, one UID. */
export interface ItipMessage {
  method: ItipMethod;
  uid: string;
  /** The VCALENDAR of the message, with its VTIMEZONEs. */
  calendar: Component;
  /** The whole event first, then the instances. */
  parts: ItipPart[];
}

/**
 * Reads a scheduling message.
 * @throws ItipError
 */
export function parseItip(text: string | Uint8Array): ItipMessage {
  const [calendar] = readCalendars(text);
  const method =
    propertyOf(calendar as Component, 'METHOD')
      ?.value.trim()
      .toUpperCase() ?? '';
  if (!isItipMethod(method))
    throw new ItipError('unknown_method', method ? 'The METHOD is unknown' : 'The calendar has no METHOD');
  const parts = partsOf(calendar as Component);
  const uids = new Set(parts.map(({ event }) => uidOf(event)));
  if (uids.size > 1) throw new ItipError('multiple_uids', 'The components have several UIDs');
  return { method, uid: [...uids][0] as string, calendar: calendar as Component, parts };
}

/**
 * The VEVENTs of a calendar: whole events before instances.
 * @throws ItipError `invalid_ics`
 */
function partsOf(calendar: Component): ItipPart[] {
  const events = calendar.components.filter(({ name }) => name === 'VEVENT');
  if (events.length === 0) throw new ItipError('invalid_ics', 'The calendar has no VEVENT');
  if (events.length > MAX_PARTS)
    throw new ItipError('invalid_ics', `A message has at most ${MAX_PARTS} components`);
  return asInvalid(() =>
    events.map(partOf).toSorted((a, b) => Number(a.recurrenceId !== null) - Number(b.recurrenceId !== null)),
  );
}

function readCalendars(text: string | Uint8Array): Component[] {
  return asInvalid(() => parseCalendars(text));
}

function asInvalid<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ICalendarError) throw new ItipError('invalid_ics', error.message);
    throw error;
  }
}

function uidOf(event: Component): string {
  const uid = (textOf(event, 'UID') ?? '').replaceAll(/\p{Cc}/gu, '').trim();
  if (uid === '') throw new ItipError('invalid_ics', 'The UID is missing');
  return storedUid(uid);
}

function partOf(event: Component): ItipPart {
  const property = propertyOf(event, 'RECURRENCE-ID');
  const time = property && timesOf(property)[0];
  const sequence = Number.parseInt(propertyOf(event, 'SEQUENCE')?.value ?? '0', 10);
  return {
    event,
    recurrenceId: property && time ? { ...time, tzid: parameterOf(property, 'TZID') ?? null } : null,
    thisAndFuture:
      property !== undefined && parameterOf(property, 'RANGE')?.toUpperCase() === 'THISANDFUTURE',
    sequence: Number.isFinite(sequence) ? Math.min(Math.max(sequence, 0), MAX_SEQUENCE) : 0,
    dtstamp: dtstampOf(event),
  };
}

/** Some clients write a local DTSTAMP: it counts as UTC. */
function dtstampOf(event: Component): number | null {
  const value = propertyOf(event, 'DTSTAMP')?.value;
  if (value === undefined) return null;
  try {
    return parseTime(value, 'DTSTAMP').wall;
  } catch (error) {
    if (error instanceof ICalendarError) return null;
    throw error;
  }
}
