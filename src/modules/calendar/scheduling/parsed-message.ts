import {
  type Component,
  parameterOf,
  propertiesOf,
  propertyOf,
  textOf,
  unescapeText,
} from '../../../lib/icalendar/index.js';
import { toStorable } from '../model/ics/storable.js';
import { attendeesOf, ItipError, type ItipMessage, organizerOf, parseItip } from '../../../lib/itip/index.js';

const MAX_TEXT = 500;
const MAX_RESPONSE = 40;
const MAX_ATTENDEES = 50;

/** A summary of a message for readers of the log. */
export interface ParsedMessage {
  title: string;
  /** The time as it is written, e.g. `20260302T090000 Europe/Berlin`. */
  start: string | null;
  organizer: string | null;
  attendees: { email: string; response: string }[];
  comment: string;
  components: number;
}

/**
 * The text of a message: all COMMENTs, or the note of an attendee.
 * @param note see `Attendee`
 */
export function commentOf(event: Component, note: string, max: number): string {
  const comments = propertiesOf(event, 'COMMENT').flatMap(({ value }) => unescapeText(value).trim() || []);
  return toStorable(comments.join('\n') || note.trim(), max);
}

export function parsedOf({ parts }: ItipMessage): ParsedMessage | null {
  const [first] = parts;
  if (!first) return null;
  const start = propertyOf(first.event, 'DTSTART');
  const attendees = attendeesOf(first.event);
  const text = (name: string): string => toStorable(textOf(first.event, name) ?? '', MAX_TEXT);
  const zone = start && parameterOf(start, 'TZID');
  return {
    title: text('SUMMARY'),
    start: start ? toStorable([start.value, zone ?? ''].join(' ').trim(), MAX_TEXT) : null,
    organizer: organizerOf(first.event)?.email ?? null,
    attendees: attendees
      .slice(0, MAX_ATTENDEES)
      .map(({ email, response }) => ({ email, response: toStorable(response, MAX_RESPONSE) })),
    comment: commentOf(first.event, attendees.length === 1 ? (attendees[0]?.note ?? '') : '', MAX_TEXT),
    components: parts.length,
  };
}

/** Messages of one mail; further ones are ignored. */
const MAX_MESSAGES = 20;
const BEGIN = /^BEGIN:VCALENDAR/gim;

/** The calendars of a text, each once: a mail about several meetings has several, one after the other. */
export function calendarsIn(bytes: Buffer): Buffer[] {
  // One byte is one character.
  const [, ...starts] = [...bytes.toString('latin1').matchAll(BEGIN)].map(({ index }) => index);
  const bounds = [0, ...starts.slice(0, MAX_MESSAGES - 1), starts[MAX_MESSAGES - 1] ?? bytes.length];
  const parts = bounds.slice(1).map((end, n) => bytes.subarray(bounds[n], end));
  return [...new Map(parts.map((part) => [part.toString('latin1').trim(), part])).values()];
}

/** @returns the code of the error for a text that is no message */
export function readMessage(bytes: Buffer): ItipMessage | string {
  try {
    return parseItip(bytes);
  } catch (error) {
    if (error instanceof ItipError) return error.code;
    throw error;
  }
}

/** The addresses that a message names, those of delegates included. */
export const addressesIn = ({ parts }: ItipMessage): string[] => [
  ...new Set(
    parts.flatMap(({ event }) => [
      ...attendeesOf(event).flatMap(({ email, delegatedTo }) => [
        email,
        ...(delegatedTo ? [delegatedTo] : []),
      ]),
      ...(organizerOf(event) ? [organizerOf(event)?.email as string] : []),
    ]),
  ),
];
