import type { Component, Property } from '../../../lib/icalendar/index.js';
import { attendeesOf, MAX_ATTENDEES } from '../../../lib/itip/index.js';
import type { ParticipantRow } from './event-record.js';
import { KINDS, RESPONSES, ROLES } from './vevent.js';
import { storableProperty } from './vevent-content.js';

/** The name of a value of RFC 5545. */
function named<T extends string>(names: Record<T, string>, value: string): T | undefined {
  const entries = Object.entries(names) as [T, string][];
  return entries.find(([, text]) => text === value)?.[0];
}

/** The attendees with an address, each once, without users. @param key of the instance; empty: the whole event */
export const participantsOf = (event: Component, key: string): ParticipantRow[] =>
  attendeesOf(event).map(({ email, name, role, kind, response, rsvp, delegatedTo, delegatedFrom }) => ({
    recurrence_key: key,
    email,
    user_id: null,
    name,
    role: named(ROLES, role) ?? 'required',
    kind: named(KINDS, kind) ?? 'person',
    response: named(RESPONSES, response) ?? 'needs_action',
    rsvp,
    comment: '',
    responded_at: null,
    reply_sequence: null,
    reply_dtstamp: null,
    delegated_to: delegatedTo,
    delegated_from: delegatedFrom,
    schedule_status: null,
  }));

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
