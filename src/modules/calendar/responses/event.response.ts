import { ApiExtraModels, ApiProperty, OmitType } from '@nestjs/swagger';
import { ErrorResponse } from '../../../platform/http/error.response.js';
import { DATE_TIME, NO_DATE_TIME, NO_UUID, orNull, UUID } from '../../../platform/field-docs/field-docs.js';
import { ItemFields } from '../../../platform/resources/item.response.js';
import { CalendarReminderResponse } from './calendar.response.js';
import {
  ATTENDEE_KINDS,
  ATTENDEE_ROLES,
  type AttendeeKind,
  type AttendeeResponse,
  type AttendeeRole,
  type EventStatus,
  RESPONSES,
  SHOW_AS,
  type ShowAs,
  STATUSES,
  type Visibility,
  VISIBILITIES,
} from '../model/event-record.js';

const INSTANT = { format: 'date-time', example: '2026-03-02T08:00:00Z' } as const;
const WHOLE = { type: 'integer', minimum: 0, example: 0 } as const;

/** A wall time with its zone, or a day. */
export class EventTimeResponse {
  /** @example "2026-03-02T09:00:00" */ date_time?: string;
  /** IANA name. Null: a floating time, read in the zone of each reader. @example "Europe/Berlin" */
  time_zone?: string | null;
  /** A whole day, instead of `date_time`. */
  @ApiProperty({ format: 'date', example: '2026-03-02' }) date?: string;
}

export class EventGeoResponse {
  /** @example 52.52 */ latitude!: number;
  /** @example 13.405 */ longitude!: number;
}

@ApiExtraModels(EventGeoResponse)
export class EventPlaceResponse {
  /** @example "Headquarters" */ name!: string;
  /** @example "Alexanderplatz 1, Berlin" */ address!: string;
  @ApiProperty(orNull(EventGeoResponse)) geo!: EventGeoResponse | null;
}

export class EventConferenceResponse {
  /** @example "link" */ kind!: string;
  /** @example "https://meet.example.com/team" */ url!: string | null;
  @ApiProperty(NO_UUID) room_id!: string | null;
}

export class EventRecurrenceResponse {
  /** RRULE values of RFC 5545. @example ["FREQ=WEEKLY;BYDAY=MO"] */ rules!: string[];
  /** Further instances (RDATE). */
  @ApiProperty({ type: [EventTimeResponse], example: [] }) added!: EventTimeResponse[];
  /** Instances that do not take place (EXDATE), by their nominal start. */
  @ApiProperty({ type: [EventTimeResponse], example: [] }) excluded!: EventTimeResponse[];
  /** UNTIL of the first rule. @example "20261231T225959Z" */ until!: string | null;
  /** COUNT of the first rule. */
  @ApiProperty({ type: 'integer', example: null }) count!: number | null;
  /** The rules in words, in the language of your profile (en, de, pt, vi). @example "Every week on Monday" */
  text!: string;
}

export class EventOrganizerResponse {
  /** Null: outside the workspace. */
  @ApiProperty(UUID) id!: string | null;
  /** @example "bob@example.com" */ email!: string;
  /** @example "Bob Okafor" */ name!: string;
  /** You are the organizer. */
  @ApiProperty({ example: true }) self!: boolean;
}

export class EventAttendeeResponse {
  /** The address; unique within the event. */
  @ApiProperty({ example: 'ann@example.com' }) id!: string;
  /** @example "ann@example.com" */ email!: string;
  /** @example "Ann Lee" */ name!: string;
  /** Null: outside the workspace. */
  @ApiProperty(UUID) user_id!: string | null;
  @ApiProperty({ enum: ATTENDEE_ROLES, example: 'required' }) role!: AttendeeRole;
  @ApiProperty({ enum: ATTENDEE_KINDS, example: 'person' }) kind!: AttendeeKind;
  @ApiProperty({ enum: RESPONSES, example: 'needs_action' }) response!: AttendeeResponse;
  /** A response is requested. */
  @ApiProperty({ example: true }) rsvp!: boolean;
  /** @example "" */ comment!: string;
  @ApiProperty(NO_DATE_TIME) responded_at!: string | null;
  @ApiProperty({ example: null }) delegated_to!: string | null;
  @ApiProperty({ example: null }) delegated_from!: string | null;
  /**
   * internal: a member of the workspace. mail: outside the workspace. failed: the mail was not delivered. A change of this field
   * makes no new revision of the event, and the synchronisation does not report it.
   */
  @ApiProperty({ enum: ['internal', 'mail', 'failed'], example: 'internal' })
  delivery!: 'internal' | 'mail' | 'failed';
  @ApiProperty({ example: false }) self!: boolean;
  @ApiProperty({ example: false }) organizer!: boolean;
}

export class EventRemindersResponse {
  /** The reminders of the calendar apply. */
  @ApiProperty({ example: true }) use_default!: boolean;
  overrides!: CalendarReminderResponse[];
}

export class EventLinkResponse {
  @ApiProperty({ enum: ['note', 'task', 'room', 'message', 'url'], example: 'url' })
  type!: 'note' | 'task' | 'room' | 'message' | 'url';
  @ApiProperty({ example: null }) id!: string | null;
  /** @example "https://example.com/agenda" */ url!: string | null;
  /** @example "Agenda" */ title!: string;
}

export class EventPermissionsResponse {
  @ApiProperty({ example: true }) edit!: boolean;
  @ApiProperty({ example: false }) rsvp!: boolean;
  @ApiProperty({ example: false }) propose!: boolean;
  /** False: only times are shown. */
  @ApiProperty({ example: true }) see_details!: boolean;
  @ApiProperty({ example: true }) delete!: boolean;
}

export class ProposalAuthorResponse {
  /** @example "ann@example.com" */ email!: string;
  /** @example "Ann Lee" */ name!: string;
  @ApiProperty(UUID) user_id!: string | null;
}

/** Another time that an attendee proposes. */
@ApiExtraModels(EventTimeResponse)
export class EventProposalResponse {
  @ApiProperty(UUID) id!: string;
  @ApiProperty(UUID) event_id!: string;
  @ApiProperty(orNull(EventTimeResponse)) recurrence_id!: EventTimeResponse | null;
  by!: ProposalAuthorResponse;
  start!: EventTimeResponse;
  end!: EventTimeResponse;
  /** @example "An hour later would suit me." */ comment!: string;
  @ApiProperty({ enum: ['pending', 'accepted', 'declined', 'outdated', 'withdrawn'], example: 'pending' })
  status!: 'pending' | 'accepted' | 'declined' | 'outdated' | 'withdrawn';
  /** The sequence of the event when the proposal was made. */
  @ApiProperty(WHOLE) base_sequence!: number;
  @ApiProperty(DATE_TIME) created_at!: string;
}

/** A change of the event. */
export class EventChangeResponse {
  @ApiProperty({ type: 'integer', minimum: 1, example: 2 }) revision!: number;
  @ApiProperty(UUID) actor_id!: string;
  /** @example "updated" */ action!: string;
  /** Nominal start of the changed instance; empty for the whole event. @example "" */
  recurrence_key!: string;
  /** @example ["title"] */ fields!: string[];
  @ApiProperty(DATE_TIME) created_at!: string;
}

/** An event, or an instance of a series, as the caller sees it in a calendar. */
@ApiExtraModels(
  EventTimeResponse,
  EventConferenceResponse,
  EventRecurrenceResponse,
  EventOrganizerResponse,
  EventProposalResponse,
)
export class CalendarEventResponse extends OmitType(ItemFields, ['id']) {
  /**
   * A UUID; of an instance `<id of the series>_<nominal start in UTC>`.
   * @example "01890a5d-ac96-774b-bcce-b302099a8057"
   */
  @ApiProperty({ pattern: '^[0-9a-f-]{36}(?:_\\d{8}(?:T\\d{6}Z?)?)?$' }) id!: string;
  /**
   * The UID of iCalendar; empty where only times are shown.
   * @example "01890a5d-ac96-774b-bcce-b302099a8057"
   */
  uid!: string;
  @ApiProperty(UUID) calendar_id!: string;
  @ApiProperty({ enum: ['single', 'series', 'exception', 'instance'], example: 'single' })
  type!: 'single' | 'series' | 'exception' | 'instance';
  @ApiProperty(NO_UUID) series_id!: string | null;
  /** The nominal start of the instance. */
  @ApiProperty(orNull(EventTimeResponse)) recurrence_id!: EventTimeResponse | null;
  /** @example "Planning" */ title!: string;
  /** Plain text. @example "Agenda: budget, rooms" */ description!: string;
  /** @example "Room 1" */ location!: string;
  @ApiProperty({ type: [EventPlaceResponse], example: [] }) locations!: EventPlaceResponse[];
  @ApiProperty(orNull(EventConferenceResponse)) conference!: EventConferenceResponse | null;
  start!: EventTimeResponse;
  /** Exclusive. */
  end!: EventTimeResponse;
  @ApiProperty(INSTANT) start_utc!: string;
  @ApiProperty({ ...INSTANT, example: '2026-03-02T09:00:00Z' }) end_utc!: string;
  @ApiProperty({ example: false }) all_day!: boolean;
  /** @example "PT1H" */ duration!: string;
  @ApiProperty(orNull(EventRecurrenceResponse)) recurrence!: EventRecurrenceResponse | null;
  /** Instances that differ from the series. */
  @ApiProperty(WHOLE) overrides_count!: number;
  @ApiProperty({ enum: STATUSES, example: 'confirmed' }) status!: EventStatus;
  @ApiProperty({ enum: SHOW_AS, example: 'busy' }) show_as!: ShowAs;
  @ApiProperty({ enum: VISIBILITIES, example: 'default' }) visibility!: Visibility;
  @ApiProperty(orNull(EventOrganizerResponse)) organizer!: EventOrganizerResponse | null;
  @ApiProperty({ type: [EventAttendeeResponse], example: [] }) attendees!: EventAttendeeResponse[];
  /** Your own response; null when you are not an attendee. */
  @ApiProperty({ enum: RESPONSES, nullable: true, type: String, example: null })
  my_response!: AttendeeResponse | null;
  reminders!: EventRemindersResponse;
  /** @example "#2f80ed" */ color!: string | null;
  /** @example ["planning"] */ categories!: string[];
  @ApiProperty({ type: [EventLinkResponse], example: [] }) links!: EventLinkResponse[];
  /** The attendees may propose other times. */
  @ApiProperty({ example: true }) proposals_allowed!: boolean;
  /** The series that this one was split from. */
  @ApiProperty(NO_UUID) split_from!: string | null;
  /** Rises with changes of time and rules (RFC 5546). */
  @ApiProperty(WHOLE) sequence!: number;
  @ApiProperty({ type: 'integer', minimum: 1, example: 1 }) revision!: number;
  @ApiProperty(UUID) created_by!: string | null;
  permissions!: EventPermissionsResponse;
  /** Only with `include=proposals`. */
  proposals?: EventProposalResponse[];
}

/** 409 `duplicate_uid`: the event that has the uid. */
export class DuplicateUidResponse extends ErrorResponse {
  @ApiProperty({ enum: ['duplicate_uid'], example: 'duplicate_uid' }) override error!: 'duplicate_uid';
  /** Null: an invitation that the attendee has removed. */
  @ApiProperty(orNull(CalendarEventResponse)) event!: CalendarEventResponse | null;
}
