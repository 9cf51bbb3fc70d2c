import type { RecurrenceErrorCode } from '../../lib/recurrence/index.js';
import { defineError, type ErrorKind } from '../../platform/http/errors.js';
import { resource } from '../../platform/resources/resource.js';
import {
  CalendarEventResponse,
  CalendarResponse,
  DuplicateUidResponse,
  EventBatchFailedResponse,
} from './responses/event.response.js';
import { exampleOf } from '../../platform/resources/example.js';
import { QUOTAS } from '../../platform/quotas/quotas.js';

export const CALENDARS = resource({
  tag: 'calendar',
  name: 'calendar',
  path: 'calendar',
  item: CalendarResponse,
  notFound: 'The calendar does not exist, or you cannot see it.',
  revision: 'optional',
});

export const EVENTS = resource({
  tag: 'calendar',
  name: 'event',
  path: 'calendar',
  item: CalendarEventResponse,
  notFound: 'The event does not exist in this calendar.',
  revision: 'optional',
});

/** Errors of rules, by the code of the recurrence library. */
export const RuleErrors: Record<RecurrenceErrorCode, ErrorKind> = {
  invalid_rule: defineError(422, 'invalid_rule', 'The recurrence rule is invalid (RFC 5545, 3.3.10).'),
  frequency_unsupported: defineError(
    422,
    'frequency_unsupported',
    'SECONDLY and MINUTELY are not supported; HOURLY is the shortest frequency.',
  ),
  rscale_unsupported: defineError(
    422,
    'rscale_unsupported',
    'Calendars other than the Gregorian one (RSCALE of RFC 7529) are not supported.',
  ),
  rule_too_large: defineError(422, 'rule_too_large', 'The recurrence rule exceeds the limits.'),
};

export const CalendarErrors = {
  calendarNotFound: CALENDARS.notFound,
  eventNotFound: EVENTS.notFound,
  defaultCalendar: defineError(
    409,
    'default_calendar',
    'The default calendar cannot be deleted; make another calendar the default one first.',
  ),
  calendarExists: defineError(409, 'already_exists', 'A calendar with this id exists already.'),
  eventExists: defineError(409, 'already_exists', 'An event with this id exists already.'),
  tooManyCalendars: defineError(
    422,
    'too_many_calendars',
    `A user owns at most ${QUOTAS.user.calendars} calendars.`,
  ),
  unknownGrantee: defineError(
    422,
    'unknown_grantee',
    'At least one user or group of `shares` is not part of this workspace; see details.',
  ),
  unknownUser: defineError(
    422,
    'unknown_user',
    'At least one user is not an active member of this workspace; see details.',
  ),
  /** The body contains the other event. */
  duplicateUid: defineError(409, 'duplicate_uid', 'The calendar contains an event with this uid.', {
    example: { event: exampleOf(CalendarEventResponse) },
    type: DuplicateUidResponse,
  }),
  notOrganizer: defineError(
    403,
    'not_organizer',
    'Only the organizer changes these fields. Your own reminders, color and show_as can be changed.',
  ),
  notAttendee: defineError(403, 'not_attendee', 'You are not an attendee of this event.'),
  eventCancelled: defineError(409, 'event_cancelled', 'The event is cancelled.'),
  proposalsDisabled: defineError(
    403,
    'proposals_disabled',
    'The organizer of this event does not accept proposals.',
  ),
  sameTime: defineError(422, 'same_time', 'The proposed time is the time of the event.'),
  proposalNotFound: defineError(404, 'not_found', 'The event has no such proposal.'),
  proposalClosed: defineError(409, 'proposal_closed', 'The proposal is not pending.'),
  noInstances: defineError(422, 'no_instances', 'The recurrence has no instance.'),
  ruleNotMoved: defineError(
    422,
    'rule_not_moved',
    'A rule of the series names days or hours that do not move with the new start; the request needs the new rule.',
  ),
  notAnInstance: defineError(422, 'not_an_instance', 'The series has no instance at this `recurrence_id`.'),
  /** The body contains the results of all operations. */
  batchFailed: defineError(422, 'batch_failed', 'An operation failed, so no operation was applied.', {
    example: {
      results: [{ index: 0, client_id: null, status: 422, event: null, error: { error: 'invalid_rule' } }],
    },
    type: EventBatchFailedResponse,
  }),
  invalidIcs: defineError(422, 'invalid_ics', 'The file is not valid iCalendar (RFC 5545); see details.'),
  tooManyEvents: defineError(422, 'too_many_events', 'A file has at most 20,000 events.'),
  windowTooLarge: defineError(422, 'window_too_large', 'A window has at most 400 days and 10,000 instances.'),
} as const;
