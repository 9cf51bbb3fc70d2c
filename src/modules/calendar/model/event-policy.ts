import { CALENDAR_ROLES, type CalendarRole } from '../calendar.schema.js';
import type { CalendarContext, EventRecord, ParticipantRow, Visibility } from './event-record.js';

/** Whether a role allows at least as much as another one. */
export const isAtLeast = (role: CalendarRole, least: CalendarRole): boolean =>
  CALENDAR_ROLES.indexOf(role) >= CALENDAR_ROLES.indexOf(least);

/** Marks a response to an instance and all later ones: `>2026-03-02T09:00:00`. */
export const FOLLOWING = '>';

/**
 * The response that applies to an instance: to the instance itself, else the last one to an instance and all later ones, else to the
 * event.
 * @param rows of one participant
 * @param key null: the whole event
 */
export function responseAt<Row extends Pick<ParticipantRow, 'recurrence_key'>>(
  rows: readonly Row[],
  key: string | null,
): Row | undefined {
  const whole = rows.find(({ recurrence_key }) => recurrence_key === '');
  if (key === null || (whole && rows.length === 1)) return whole;
  const own = rows.find(({ recurrence_key }) => recurrence_key === key);
  const following = rows
    .filter(({ recurrence_key: from }) => from.startsWith(FOLLOWING) && from.slice(1) <= key)
    .toSorted((a, b) => (a.recurrence_key < b.recurrence_key ? 1 : -1));
  return own ?? following[0] ?? whole;
}

/**
 * The participant with this user, as of an instance or of the whole event. An attendee of some instances takes part in the event by
 * the first of them.
 */
export function participantOf(
  record: EventRecord,
  userId: string,
  key: string | null = null,
): ParticipantRow | undefined {
  if (record.participants.length === 0) return undefined;
  const rows = record.participants.filter(({ user_id }) => user_id === userId);
  const row = responseAt(rows, key);
  if (row) return row.uninvited ? undefined : row;
  return key === null ? rows.find(({ uninvited }) => !uninvited) : undefined;
}

export interface EventPermissions {
  edit: boolean;
  rsvp: boolean;
  propose: boolean;
  see_details: boolean;
  delete: boolean;
}

/** Whether a calendar is the one of the organizer, who is a member of this workspace. */
const isOrigin = (record: EventRecord, { id }: Pick<CalendarContext, 'id'>): boolean =>
  record.origin_calendar_id === id && record.origin === 'internal';

/** The part of an event to which rights apply: the event itself, or an instance with its own visibility and attendees. */
export interface EventPart {
  key: string | null;
  visibility: Visibility;
}

/**
 * Rights of a user on an event, or on an instance of it, in a calendar. With every role, only the owner of the
 * calendar, the organizer and the attendees see the details of a private event.
 */
export function permissionsOf(
  record: EventRecord,
  calendar: Pick<CalendarContext, 'id' | 'owner_id' | 'role'>,
  userId: string,
  { key, visibility }: EventPart = { key: null, visibility: record.visibility },
): EventPermissions {
  const attendee = participantOf(record, userId, key);
  const isOwner = calendar.owner_id === userId;
  const isInvolved = isOwner || record.organizer_id === userId || attendee !== undefined;
  const see_details = isAtLeast(calendar.role, 'reader') && (visibility !== 'private' || isInvolved);
  const mayWrite = see_details && isAtLeast(calendar.role, 'writer');
  const isLive = record.deleted_at === null;
  const edit = mayWrite && isLive && isOrigin(record, calendar);
  const rsvp = isLive && see_details && attendee !== undefined && record.status !== 'cancelled';
  return {
    edit,
    rsvp,
    propose: rsvp && record.proposals_allowed && record.organizer_id !== userId,
    see_details,
    delete: edit || (isOwner && mayWrite),
  };
}

/** Whether a user sees the details of an instance, which may be private in a series that is not. */
export function seesInstance(
  record: EventRecord,
  calendar: CalendarContext,
  userId: string,
  key: string,
): boolean {
  const override = record.overrides.find(({ recurrence_key }) => recurrence_key === key);
  const visibility = override?.patch.visibility ?? record.visibility;
  return permissionsOf(record, calendar, userId, { key, visibility }).see_details;
}
