import type { Component, Property } from '../../../lib/icalendar/index.js';
import { attendeesOf, MAX_ATTENDEES } from '../../../lib/itip/index.js';
import { absences, isImplied, isOwnInvitation, wholeOf } from './attendance.js';
import { NEW_PARTICIPANT, type ParticipantRow } from './event-record.js';
import { KINDS, RESPONSES, ROLES } from './vevent.js';
import { storableProperty } from './ics/storable.js';

/** The name in the API for a value of RFC 5545. */
function named<T extends string>(names: Record<T, string>, value: string): T | undefined {
  const entries = Object.entries(names) as [T, string][];
  return entries.find(([, text]) => text === value)?.[0];
}

/**
 * The attendees with an address, each once, without users.
 * @param key of the instance; empty: the whole event
 * @param isKept see `attendeesOf`
 */
export const participantsOf = (
  event: Component,
  key: string,
  isKept?: (email: string) => boolean,
): ParticipantRow[] =>
  attendeesOf(event, isKept).map(
    ({ email, name, role, kind, response, rsvp, delegatedTo, delegatedFrom }) => ({
      ...NEW_PARTICIPANT,
      recurrence_key: key,
      email,
      name,
      role: named(ROLES, role) ?? 'required',
      kind: named(KINDS, kind) ?? 'person',
      response: named(RESPONSES, response) ?? 'needs_action',
      rsvp,
      delegated_to: delegatedTo,
      delegated_from: delegatedFrom,
    }),
  );

/**
 * The rows by which an instance differs from its event: other responses and roles, attendees of the instance only, and attendees of
 * the event who are absent from it. An instance without attendees states nothing about them.
 * @param whole rows of the event
 * @param at the attendees of the instance
 */
export function instanceRows(
  whole: readonly ParticipantRow[],
  at: readonly ParticipantRow[],
  key: string,
  organizerEmail: string | undefined,
): ParticipantRow[] {
  if (at.length === 0) return [];
  const differing = at.filter(
    (row) => isOwnInvitation(row, wholeOf(whole, row.email)) || !isImplied(row, whole),
  );
  return [...differing, ...absences(whole, at, key, organizerEmail)];
}

/** The rows of an event and of its instances. @param at the attendees of all instances */
export function withInstanceRows(
  whole: readonly ParticipantRow[],
  at: readonly ParticipantRow[],
  organizerEmail: string | undefined,
): ParticipantRow[] {
  const byKey = Map.groupBy(at, ({ recurrence_key }) => recurrence_key);
  return [...whole, ...[...byKey].flatMap(([key, rows]) => instanceRows(whole, rows, key, organizerEmail))];
}

/** ORGANIZER and ATTENDEE as they are written. */
export const peopleOf = (event: Component): Property[] =>
  event.properties
    .filter(({ name }) => name === 'ORGANIZER' || name === 'ATTENDEE')
    .slice(0, MAX_ATTENDEES + 1)
    .map(storableProperty);
