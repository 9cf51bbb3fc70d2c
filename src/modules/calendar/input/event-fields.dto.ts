import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, ValidateNested } from 'class-validator';
import { RULE_LIMITS } from '../../../lib/recurrence/index.js';
import {
  asNamedUser,
  EachAs,
  Entries,
  Flag,
  Line,
  Labels,
  Nullable,
  OneOf,
  Optional,
  Text,
  VisibleOrEmpty,
  Nested,
} from '../../../platform/http/input.decorators.js';
import type { TimeInput } from './event-input-times.js';
import {
  AttendeeFields,
  Color,
  ConferenceFields,
  END,
  EventRemindersFields,
  IsDuration,
  IsEventTime,
  LinkFields,
  MAX_ATTENDEES,
  PlaceFields,
  RecurrenceFields,
  START,
} from './event-parts.dto.js';
import {
  type EventStatus,
  SHOW_AS,
  type ShowAs,
  STATUSES,
  type Visibility,
  VISIBILITIES,
} from '../model/event-record.js';

/** Fields of an event that a request may contain. */
export class EventFields {
  /** At most 1,000 characters; may be empty. */
  @Optional() @Line(1000, { example: 'Planning' }) title?: string;
  /** The same as `title`. */
  @Optional() @Line(1000, { example: 'Planning' }) summary?: string;
  /** Plain text, at most 65,536 characters. */
  @Nullable() @Text(65_536, { example: 'Agenda: budget, rooms' }) description?: string | null;
  @Nullable() @VisibleOrEmpty() @Text(1000, { example: 'Room 1' }) location?: string | null;

  @Optional() @Entries(PlaceFields, 10, { example: [] }) locations?: PlaceFields[];

  /** A time without a zone is in the zone of the calendar, with `time_zone: null` it is floating. A day makes an all-day event. */
  @ApiPropertyOptional(START) @Optional() @IsEventTime() start?: TimeInput;
  /** Exclusive, also of days. Default: an hour after the start, or a day. */
  @ApiPropertyOptional(END) @Nullable() @IsEventTime() end?: TimeInput | null;

  /** Instead of `end`. PT1H is an exact length, P1D a calendar day. */
  @ApiPropertyOptional({ type: String, nullable: true, example: 'PT1H' })
  @Nullable()
  @IsDuration()
  duration?: string | null;

  /** Null: a single event. */
  @Nullable()
  @Nested(RecurrenceFields, { required: false, nullable: true, example: { rules: ['FREQ=WEEKLY;BYDAY=MO'] } })
  recurrence?: RecurrenceFields | null;

  /** The same as the first of `recurrence.rules`. */
  @Nullable() @Text(RULE_LIMITS.length, { example: 'FREQ=WEEKLY;BYDAY=MO' }) rrule?: string | null;
  @Optional() @OneOf(STATUSES, { example: 'confirmed' }) status?: EventStatus;
  @Optional() @OneOf(SHOW_AS, { example: 'busy' }) show_as?: ShowAs;
  /** private: other users see only the times. */
  @Optional() @OneOf(VISIBILITIES, { example: 'default' }) visibility?: Visibility;

  /** Members of the workspace get the event into their default calendar. A text is an address or an id. */
  @ApiPropertyOptional({ type: [AttendeeFields], maxItems: MAX_ATTENDEES, example: [] })
  @Optional()
  @EachAs((entry) => asNamedUser(AttendeeFields, entry), MAX_ATTENDEES)
  @ValidateNested({ each: true })
  @ArrayMaxSize(MAX_ATTENDEES)
  @IsArray()
  attendees?: AttendeeFields[];

  /** Your own reminders. Null: the reminders of the calendar. */
  @Nullable()
  @Nested(EventRemindersFields, { required: false, nullable: true, example: { use_default: true } })
  reminders?: EventRemindersFields | null;

  @ApiPropertyOptional({ type: String, nullable: true, example: '#2f80ed' })
  @Nullable()
  @Color()
  color?: string | null;

  @Optional()
  @Labels(50, 100, { required: false, example: ['planning'] })
  categories?: string[];

  @Optional() @Entries(LinkFields, 50, { example: [] }) links?: LinkFields[];

  @Nullable()
  @Nested(ConferenceFields, { required: false, nullable: true, example: null })
  conference?: ConferenceFields | null;

  /** The attendees may propose other times; default true. */
  @Optional() @Flag({ example: true }) proposals_allowed?: boolean;
}

export const SEND_UPDATES = ['none', 'external', 'all'] as const;
export type SendUpdates = (typeof SEND_UPDATES)[number];
export const SCOPES = ['this', 'this_and_following', 'all'] as const;
export type Scope = (typeof SCOPES)[number];
