import type { Component } from '../../../lib/icalendar/index.js';
import type {
  CalendarRole,
  InstanceAlarms,
  PlacedReminder,
  Reminder,
  CalendarEvent,
  EventOverride,
  EventParticipant,
  EventProposal,
} from '../calendar.schema.js';

// Rows as PostgreSQL writes them as JSON: names of columns, times as text.

export const STATUSES = ['confirmed', 'tentative', 'cancelled'] as const;
export const SHOW_AS = ['busy', 'free', 'tentative', 'out_of_office', 'working_elsewhere'] as const;
export const VISIBILITIES = ['default', 'public', 'private'] as const;
export const ATTENDEE_ROLES = ['required', 'optional', 'chair', 'none'] as const;
export const ATTENDEE_KINDS = ['person', 'group', 'room', 'resource'] as const;
export const RESPONSES = ['needs_action', 'accepted', 'declined', 'tentative', 'delegated'] as const;

export type EventStatus = (typeof STATUSES)[number];
export type ShowAs = (typeof SHOW_AS)[number];
export type Visibility = (typeof VISIBILITIES)[number];
export type AttendeeRole = (typeof ATTENDEE_ROLES)[number];
export type AttendeeKind = (typeof ATTENDEE_KINDS)[number];
export type AttendeeResponse = (typeof RESPONSES)[number];

/** When an event takes place. Wall times are `2026-03-02T09:00:00`, days `2026-03-02`; the end of days is exclusive. */
export type EventTimes = Pick<
  CalendarEvent,
  'starts' | 'ends' | 'time_zone' | 'end_time_zone' | 'exact_duration'
>;

export interface EventLink {
  type: 'note' | 'task' | 'room' | 'message' | 'url';
  id: string | null;
  url: string | null;
  title: string;
}

interface EventPlace {
  name: string;
  address: string;
  geo: { latitude: number; longitude: number } | null;
}

interface Conference {
  kind: string;
  url: string | null;
  room_id: string | null;
}

/** Fields that an instance may have of its own. */
export interface EventContent extends EventTimes {
  title: string;
  description: string;
  location: string;
  locations: EventPlace[];
  status: EventStatus;
  show_as: ShowAs;
  visibility: Visibility;
  color: string | null;
  categories: string[];
  conference: Conference | null;
  links: EventLink[];
  custom: Record<string, unknown>;
}

export const TIME_FIELDS = [
  'starts',
  'ends',
  'time_zone',
  'end_time_zone',
  'exact_duration',
] as const satisfies (keyof EventTimes)[];

/** The fields that an instance may have of its own. */
export const CONTENT_FIELDS = [
  'title',
  'description',
  'location',
  'locations',
  'status',
  'show_as',
  'visibility',
  'color',
  'categories',
  'conference',
  'links',
  'custom',
  ...TIME_FIELDS,
] as const satisfies (keyof EventContent)[];

/** What the last import of an event took from its file. */
export interface ImportedVersion {
  /** Digests of the components of the file: of the event, and of the instances that differ. */
  parts: string[];
  /** Digest of the stored event after the import; empty where the file had a part of the event only. */
  stored: string;
}

/** A row of `calendar_events`. */
export interface EventRow
  extends
    EventContent,
    Pick<
      CalendarEvent,
      | 'id'
      | 'uid'
      | 'origin_calendar_id'
      | 'organizer_id'
      | 'organizer_email'
      | 'organizer_name'
      | 'rules'
      | 'added'
      | 'excluded'
      | 'proposals_allowed'
      | 'sequence'
      | 'split_from'
      | 'participants_count'
      | 'overrides_count'
      | 'title_key'
      | 'revision'
      | 'created_by'
      | 'updated_by'
    > {
  origin: 'internal' | 'external' | 'published';
  imported?: ImportedVersion | null;
  dtstamp: string;
  created_at: string;
  updated_at: string;
  deleted_at: string | null;
}

/** A row of `event_participants`. */
export interface ParticipantRow extends Pick<
  EventParticipant,
  | 'recurrence_key'
  | 'email'
  | 'user_id'
  | 'name'
  | 'rsvp'
  | 'comment'
  | 'reply_sequence'
  | 'delegated_to'
  | 'delegated_from'
  | 'schedule_status'
  | 'uninvited'
  | 'removed'
> {
  role: AttendeeRole;
  kind: AttendeeKind;
  response: AttendeeResponse;
  responded_at: string | null;
  reply_dtstamp: string | null;
}

/** The response of an attendee who has not responded. */
export const UNANSWERED = {
  response: 'needs_action',
  responded_at: null,
  comment: '',
  removed: false,
} as const;

/** An attendee of whom only the address is known. */
export const NEW_PARTICIPANT: Omit<ParticipantRow, 'email'> = {
  recurrence_key: '',
  user_id: null,
  name: '',
  role: 'required',
  kind: 'person',
  rsvp: true,
  ...UNANSWERED,
  reply_sequence: null,
  reply_dtstamp: null,
  delegated_to: null,
  delegated_from: null,
  schedule_status: null,
  uninvited: false,
};

export interface OverrideRow extends Pick<EventOverride, 'recurrence_key' | 'sequence'> {
  patch: Partial<EventContent>;
  dtstamp: string;
}

/** An event with all its parts. */
export interface EventRecord extends EventRow {
  participants: ParticipantRow[];
  overrides: OverrideRow[];
}

/** A row of `calendar_entries`. */
export interface EntryRow {
  calendar_id: string;
  event_id: string;
  uid: string;
  span_start: string;
  span_end: string;
  wide: boolean;
  response: AttendeeResponse | null;
  show_as: ShowAs | null;
  color: string | null;
  reminders: PlacedReminder[] | null;
  /** VALARMs of an attendee that are no reminders. Null and undefined in a write: they stay. */
  alarms?: Component[] | null;
  /** The alarms of instances that differ, by key. Null and undefined in a write: they stay. */
  instance_alarms?: Record<string, InstanceAlarms> | null;
  hidden: boolean;
}

/** A placement with the owner of its calendar. */
export interface OwnedEntry extends EntryRow {
  owner_id: string;
}

/** A row of `event_proposals`. */
export interface ProposalRow
  extends
    EventTimes,
    Pick<
      EventProposal,
      'id' | 'recurrence_key' | 'by_email' | 'by_name' | 'by_user_id' | 'comment' | 'base_sequence'
    > {
  status: 'pending' | 'accepted' | 'declined' | 'outdated' | 'withdrawn';
  created_at: string;
}

/** The calendar of a request and the role of the caller in it. */
export interface CalendarContext {
  id: string;
  owner_id: string;
  owner_email: string;
  owner_name: string;
  name: string;
  color: string;
  time_zone: string;
  default_reminders: Reminder[];
  change_seq: number;
  floor_seq: number;
  role: CalendarRole;
  /** The locale of the caller. */
  locale: string | null;
}

/** JSON columns of the view `event_records`. */
export interface EventJson {
  event: EventRow;
  participants: ParticipantRow[] | null;
  overrides: OverrideRow[] | null;
}

export const recordOf = ({ event, participants, overrides }: EventJson): EventRecord => ({
  ...event,
  participants: participants ?? [],
  overrides: overrides ?? [],
});
