import {
  ApiExtraModels,
  ApiProperty,
  ApiPropertyOptional,
  IntersectionType,
  OmitType,
  PartialType,
  PickType,
} from '@nestjs/swagger';
import { DATE_TIME, NO_DATE_TIME, NO_UUID, orNull, UUID } from '../../../platform/field-docs/field-docs.js';
import { ErrorResponse } from '../../../platform/http/error.response.js';
import { QuotaExceededResponse } from '../../../platform/quotas/quotas.dto.js';
import { ItemFields, RevisionedFields } from '../../../platform/resources/item.response.js';
import { CALENDAR_ROLES, type CalendarRole } from '../calendar.schema.js';
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
  VISIBILITIES,
  type Visibility,
} from '../model/event-record.js';
import { WARNINGS } from '../model/vevent-time-parts.js';

export class CalendarReminderResponse {
  @ApiProperty({ enum: ['popup', 'email'], example: 'popup' }) method!: 'popup' | 'email';
  /** Minutes before the start. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 10 }) minutes!: number;
}

export class CalendarOwnerResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "Bob Okafor" */ name!: string;
  /** @example "bob@example.com" */ email!: string;
}

/** A user or a group that the calendar is shared with. */
export class CalendarShareResponse {
  @ApiProperty(UUID) user_id!: string | null;
  @ApiProperty(NO_UUID) group_id!: string | null;
  /** @example "Bob Okafor" */ name!: string;
  @ApiProperty({ enum: CALENDAR_ROLES, example: 'reader' }) role!: CalendarRole;
}

/** A calendar as the caller sees it. */
@ApiExtraModels(CalendarShareResponse)
export class CalendarResponse extends RevisionedFields {
  /** @example "Team" */ name!: string;
  /** @example "Meetings of the team" */ description!: string;
  /** As #rrggbb. Each user may have a colour of their own. */
  @ApiProperty({ example: '#2f80ed' }) color!: string;
  /** The zone of times without a zone, of floating times and of days. */
  @ApiProperty({ example: 'Europe/Berlin' }) time_zone!: string;
  /** `own`: you are its owner. `shared`: it is shared with you. */
  @ApiProperty({ enum: ['own', 'shared'], example: 'own' }) kind!: 'own' | 'shared';
  /** Receives the meetings that its owner is invited to. */
  @ApiProperty({ example: false }) is_default!: boolean;
  /** free_busy: times only. reader: events, except private ones. writer: changes events. owner: shares the calendar. */
  @ApiProperty({ enum: CALENDAR_ROLES, example: 'owner' }) role!: CalendarRole;
  owner!: CalendarOwnerResponse;
  /** Your own setting. */
  @ApiProperty({ example: false }) hidden!: boolean;
  /** Your own order. @example 1 */ order!: number | null;
  default_reminders!: CalendarReminderResponse[];
  /** Empty unless your role is owner. */
  shares!: CalendarShareResponse[];
  /** Its events make the owner busy. */
  @ApiProperty({ example: true }) affects_free_busy!: boolean;
  /** Continues with POST /calendar/{id}/sync from the current state. */
  @ApiProperty({ example: 'c1.WzAsNDIsMF0.d2VsbCBzaWduZWQhMTIz' }) sync_token!: string;
}

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
  @ApiProperty(DATE_TIME) created_at!: Date;
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

/** The error of one operation, with the same members as for the single request. */
export class OperationErrorResponse extends IntersectionType(
  ErrorResponse,
  PartialType(PickType(QuotaExceededResponse, ['quota', 'scope', 'limit'])),
) {
  /** With `conflict`: the revision of the event. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, example: 4 }) revision?: number;
  /** With `conflict` and `duplicate_uid`: the event. */
  @ApiPropertyOptional(orNull(CalendarEventResponse)) event?: CalendarEventResponse | null;
}

/** What an import assumed, or could not keep. */
export class ImportWarningResponse {
  /**
   * `time_zone_assumed`: a zone without a usable name. `time_zone_replaced`: no IANA zone has the rules of the file; the nearest one
   * stands for them. `invalid_duration`: the duration, or the end, was ignored. `invalid_date`: dates of RDATE or EXDATE, or instances,
   * were ignored. `rule_repaired`: a rule was read without a part that RFC 5545 does not allow. `exceptions_cut`: EXRULE excludes more dates
   * than an event keeps. `value_too_large`: the named properties were shortened, or left out. `older_version`: the import takes another
   * event of the file with this UID, or keeps an edit that is later than the file. `not_an_event`, of the whole file: its tasks, journals or
   * busy times were left out.
   */
  @ApiProperty({
    enum: WARNINGS,
    example: 'time_zone_assumed',
  })
  code!: string;
  @ApiProperty({ example: 'The time zone Custom is unknown; its times are read in Europe/Oslo.' })
  message!: string;
}

/** The result of one operation of a batch. */
@ApiExtraModels(CalendarEventResponse, OperationErrorResponse)
export class EventBatchResultResponse {
  /** Position in the request. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 0 }) index!: number;
  /** The `client_id` of the operation; in an import the UID of the event. */
  @ApiProperty({ example: null }) client_id!: string | null;
  /** In an import: the id of the event. */
  @ApiProperty({ format: 'uuid', example: null }) event_id?: string | null;
  /** HTTP status that the single request would have. */
  @ApiProperty({ type: 'integer', example: 201 }) status!: number;
  @ApiProperty(orNull(CalendarEventResponse)) event!: CalendarEventResponse | null;
  @ApiProperty(orNull(OperationErrorResponse)) error!: OperationErrorResponse | null;
  /** In an import: what it assumed, or could not keep. */
  @ApiProperty({ type: [ImportWarningResponse], required: false }) warnings?: ImportWarningResponse[];
}

/** 422 `batch_failed`. */
export class EventBatchFailedResponse extends ErrorResponse {
  @ApiProperty({ enum: ['batch_failed'], example: 'batch_failed' }) override error!: 'batch_failed';
  results!: EventBatchResultResponse[];
}
