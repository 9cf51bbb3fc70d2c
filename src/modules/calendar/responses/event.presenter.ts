import type { RequestContext } from '../../../platform/context/request-context.js';
import { remindersAt } from '../model/instance-alarms.js';
import { describeRule, formatRule, textLocaleOf } from '../../../lib/recurrence/index.js';
import type {
  CalendarEventResponse,
  CalendarReminderResponse,
  EventAttendeeResponse,
  EventProposalResponse,
  EventRecurrenceResponse,
} from './event.response.js';
import type {
  CalendarContext,
  EntryRow,
  EventContent,
  EventRecord,
  ParticipantRow,
  ProposalRow,
} from '../model/event-record.js';
import { attendeesAt, recordIn } from '../model/attendance.js';
import { participantOf, permissionsOf } from '../model/event-policy.js';
import {
  clockTimes,
  contentOf,
  instanceId,
  isSeries,
  type Occurrence,
  occurrenceOf,
  overridden,
  seriesOf,
} from '../model/event-series.js';
import {
  formatDuration,
  formatInstant,
  instantOf,
  isDay,
  lengthAt,
  nominalLength,
  timeValue,
  wallOf,
} from '../model/event-times.js';

/** The reader of events: a user in a calendar. */
export interface Viewer {
  userId: string;
  calendar: CalendarContext;
  /** Zone in which floating times and days are read. */
  readerZone: string;
}

/** The caller as a reader in the zone of the calendar. */
export const viewerOf = ({ userId }: RequestContext, calendar: CalendarContext): Viewer => ({
  userId,
  calendar,
  readerZone: calendar.time_zone,
});

export type OwnEntry = Pick<EntryRow, 'show_as' | 'color' | 'reminders' | 'instance_alarms'>;

/** A stored time, RFC 3339. */
const moment = (text: string): string => new Date(text).toISOString();

/** The series or the single event itself. */
export const eventResponse = (record: EventRecord, entry: OwnEntry, viewer: Viewer): CalendarEventResponse =>
  wholeResponse(recordIn(record, viewer.calendar), entry, viewer);

/** @param record as the owner of the calendar receives it */
function wholeResponse(record: EventRecord, entry: OwnEntry, viewer: Viewer): CalendarEventResponse {
  const wall = wallOf(record.starts);
  const start = instantOf(wall, record.time_zone, viewer.readerZone);
  const end = start + lengthAt(record, wall, start, viewer.readerZone);
  const type = isSeries(record) ? 'series' : 'single';
  return shape(record, entry, viewer, { key: null, wall, start, end, override: null }, type);
}

/** One instance, of an event as the owner of the calendar receives it; a single event is its own instance. */
export function instanceResponse(
  record: EventRecord,
  entry: OwnEntry,
  viewer: Viewer,
  occurrence: Occurrence,
): CalendarEventResponse {
  const type = occurrence.key === null ? 'single' : occurrence.override ? 'exception' : 'instance';
  return shape(record, entry, viewer, occurrence, type);
}

/** The instances of a series that differ from it. */
export function overrideResponses(
  record: EventRecord,
  entry: OwnEntry,
  viewer: Viewer,
): CalendarEventResponse[] {
  const own = recordIn(record, viewer.calendar);
  return own.overrides.map((override) =>
    shape(own, entry, viewer, overridden(own, override, viewer.readerZone), 'exception'),
  );
}

/** An event, or its instance with this key. */
export function presentEvent(
  { record: event, entry }: { record: EventRecord; entry: OwnEntry },
  viewer: Viewer,
  key: string | null,
): CalendarEventResponse {
  const record = recordIn(event, viewer.calendar);
  const occurrence = key === null ? null : occurrenceOf(record, key, viewer.readerZone);
  return occurrence
    ? instanceResponse(record, entry, viewer, occurrence)
    : wholeResponse(record, entry, viewer);
}

function shape(
  record: EventRecord,
  entry: OwnEntry,
  viewer: Viewer,
  occurrence: Occurrence,
  type: CalendarEventResponse['type'],
): CalendarEventResponse {
  const content = contentOf(record, occurrence);
  const { key } = occurrence;
  const { visibility } = content;
  const permissions = permissionsOf(record, viewer.calendar, viewer.userId, { key, visibility });
  const isPart = key !== null;
  // The start of a series states the time of day of all its instances.
  const isPattern = !isPart && isSeries(record);
  const clock = clockTimes(content, occurrence, viewer.readerZone);
  const endZone = content.end_time_zone ?? content.time_zone;
  const times = {
    id: isPart ? instanceId(record, key) : record.id,
    calendar_id: viewer.calendar.id,
    type,
    series_id: isPart ? record.id : null,
    recurrence_id: isPart ? timeValue(key, record.time_zone) : null,
    start: timeValue(isPattern ? content.starts : clock.starts, content.time_zone),
    end: timeValue(isPattern && !content.exact_duration ? content.ends : clock.ends, endZone),
    start_utc: formatInstant(occurrence.start),
    end_utc: formatInstant(occurrence.end),
    all_day: isDay(content.starts),
    duration: formatDuration(
      content.exact_duration || content.end_time_zone !== null
        ? occurrence.end - occurrence.start
        : Math.max(0, nominalLength(content)),
    ),
    recurrence: isPart ? null : recurrence(record, viewer.calendar.locale),
    overrides_count: isPart ? 0 : record.overrides_count,
    status: content.status,
    sequence: record.sequence,
    revision: record.revision,
    created_at: moment(record.created_at),
    updated_at: moment(record.updated_at),
    permissions,
  };
  return permissions.see_details
    ? { ...times, ...details(record, entry, viewer, content, key) }
    : { ...times, ...busyOnly(content) };
}

/** The fields of an event whose details the viewer may not see. */
function busyOnly({ show_as }: EventContent) {
  return {
    uid: '',
    title: '',
    description: '',
    location: '',
    locations: [],
    conference: null,
    show_as,
    visibility: 'private' as const,
    organizer: null,
    attendees: [],
    my_response: null,
    reminders: { use_default: false, overrides: [] },
    color: null,
    categories: [],
    links: [],
    proposals_allowed: false,
    split_from: null,
    created_by: null,
  };
}

function details(
  record: EventRecord,
  entry: OwnEntry,
  { userId }: Viewer,
  content: EventContent,
  key: string | null,
) {
  const { organizer_id: id, organizer_email: email, organizer_name: name } = record;
  const self = id === userId;
  const reminders = remindersAt(entry, key);
  return {
    uid: record.uid,
    title: content.title,
    description: content.description,
    location: content.location,
    locations: content.locations,
    conference: content.conference,
    show_as: entry.show_as ?? content.show_as,
    visibility: content.visibility,
    organizer: { id, email, name, self },
    attendees: attendees(record, userId, key),
    my_response: participantOf(record, userId, key)?.response ?? null,
    reminders: {
      use_default: reminders === null,
      overrides: (reminders ?? []).map(({ method, minutes }): CalendarReminderResponse => ({
        method,
        minutes,
      })),
    },
    color: entry.color ?? content.color,
    categories: content.categories,
    links: content.links,
    proposals_allowed: record.proposals_allowed,
    split_from: record.split_from,
    created_by: record.created_by,
  };
}

function attendees(record: EventRecord, userId: string, key: string | null): EventAttendeeResponse[] {
  return attendeesAt(record, key).map((row) => attendee(row, record, userId));
}

function attendee(row: ParticipantRow, record: EventRecord, userId: string): EventAttendeeResponse {
  const { email, name, user_id, role, kind, response, rsvp, comment, delegated_to, delegated_from } = row;
  return {
    id: email,
    email,
    name,
    user_id,
    role,
    kind,
    response,
    rsvp,
    comment,
    responded_at: row.responded_at && moment(row.responded_at),
    delegated_to,
    delegated_from,
    delivery: user_id ? 'internal' : row.schedule_status === 'failed' ? 'failed' : 'mail',
    self: user_id === userId,
    organizer: email === record.organizer_email,
  };
}

function recurrence(record: EventRecord, locale: string | null): EventRecurrenceResponse | null {
  if (!isSeries(record)) return null;
  const series = seriesOf(record);
  const [rule = null] = series.rules;
  const language = textLocaleOf(locale);
  const time = (text: string) => timeValue(text, record.time_zone);
  return {
    rules: record.rules,
    added: record.added.map(time),
    excluded: record.excluded.map(time),
    until: rule?.until ? (/UNTIL=([\dTZ]+)/.exec(formatRule(rule))?.[1] ?? null) : null,
    count: rule?.count ?? null,
    text: series.rules.map((each) => describeRule(each, series, language)).join('; '),
  };
}

/** A proposal with the event's id. */
export function proposalResponse(record: EventRecord, proposal: ProposalRow): EventProposalResponse {
  return {
    id: proposal.id,
    event_id: record.id,
    recurrence_id:
      proposal.recurrence_key === '' ? null : timeValue(proposal.recurrence_key, record.time_zone),
    by: { email: proposal.by_email, name: proposal.by_name, user_id: proposal.by_user_id },
    start: timeValue(proposal.starts, proposal.time_zone),
    end: timeValue(proposal.ends, proposal.end_time_zone ?? proposal.time_zone),
    comment: proposal.comment,
    status: proposal.status,
    base_sequence: proposal.base_sequence,
    created_at: moment(proposal.created_at),
  };
}
