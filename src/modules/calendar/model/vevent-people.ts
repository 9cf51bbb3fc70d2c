import {
  type Component,
  parameterOf,
  propertiesOf,
  type Property,
  propertyOf,
} from '../../../lib/icalendar/index.js';
import type { ParticipantRow } from './event-record.js';
import { KINDS, RESPONSES, ROLES } from './vevent.js';
import { line, storableProperty } from './vevent-content.js';

const MAX_ATTENDEES = 500;

/** The address of `mailto:` or of a bare address, lower case; null for other text. */
function addressOf(uri: string | undefined): string | null {
  const text = (uri ?? '')
    .trim()
    .replace(/^mailto:/i, '')
    .toLowerCase();
  return /^[^\s@<>"\p{Cc}]+@[^\s@<>"\p{Cc}]+$/u.test(text) && text.length <= 320 && text.isWellFormed()
    ? text
    : null;
}

/** The ORGANIZER; null for an event without one, and for one that is not an address. */
export function organizerOf(event: Component): { email: string; name: string } | null {
  const property = propertyOf(event, 'ORGANIZER');
  const email = property ? (addressOf(property.value) ?? addressOf(parameterOf(property, 'EMAIL'))) : null;
  return property && email !== null ? { email, name: line(parameterOf(property, 'CN') ?? '', 200) } : null;
}

/** The name of a value of RFC 5545. */
function named<T extends string>(names: Record<T, string>, value: string | undefined): T | undefined {
  const entries = Object.entries(names) as [T, string][];
  return entries.find(([, text]) => text === value?.toUpperCase())?.[0];
}

/** The attendees with an address, each once, without users. @param key of the instance; empty: the whole event */
export function participantsOf(event: Component, key: string): ParticipantRow[] {
  const found = new Map<string, ParticipantRow>();
  for (const property of propertiesOf(event, 'ATTENDEE')) {
    const value = (name: string): string | undefined => parameterOf(property, name);
    const email = addressOf(property.value) ?? addressOf(value('EMAIL'));
    if (email === null || found.has(email) || found.size >= MAX_ATTENDEES) continue;
    found.set(email, {
      recurrence_key: key,
      email,
      user_id: null,
      name: line(value('CN') ?? '', 200),
      role: named(ROLES, value('ROLE')) ?? 'required',
      kind: named(KINDS, value('CUTYPE')) ?? 'person',
      response: named(RESPONSES, value('PARTSTAT')) ?? 'needs_action',
      rsvp: value('RSVP')?.toUpperCase() === 'TRUE',
      comment: '',
      responded_at: null,
      reply_sequence: null,
      reply_dtstamp: null,
      delegated_to: addressOf(value('DELEGATED-TO')),
      delegated_from: addressOf(value('DELEGATED-FROM')),
      schedule_status: null,
    });
  }
  return [...found.values()];
}

/** Whether a response to an instance differs from the response to the event. The list of attendees is that of the event. */
export function differsFrom(all: readonly ParticipantRow[], row: ParticipantRow): boolean {
  const whole = all.find(({ email }) => email === row.email);
  return whole !== undefined && whole.response !== row.response;
}

/** ORGANIZER and ATTENDEE as they are written. */
export const peopleOf = (event: Component): Property[] =>
  event.properties
    .filter(({ name }) => name === 'ORGANIZER' || name === 'ATTENDEE')
    .slice(0, MAX_ATTENDEES + 1)
    .map(storableProperty);
