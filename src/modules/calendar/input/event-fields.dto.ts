import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  IsArray,
  IsEmail,
  IsLatitude,
  IsLongitude,
  IsNumber,
  IsOptional,
  IsString,
  IsUUID,
  Matches,
  MaxLength,
  ValidateBy,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { RULE_LIMITS } from '../../../lib/recurrence/index.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';
import {
  asInstance,
  asNamedUser,
  EachAs,
  Entries,
  Flag,
  HttpUrl,
  IntegerFrom,
  Labels,
  Line,
  Nested,
  Nullable,
  OneOf,
  Optional,
  PastedAddress,
  Text,
  VisibleOrEmpty,
} from '../../../platform/http/input.decorators.js';
import type { Reminder } from '../calendar.schema.js';
import {
  ATTENDEE_KINDS,
  ATTENDEE_ROLES,
  type AttendeeKind,
  type AttendeeRole,
  type EventLink,
  type EventStatus,
  SHOW_AS,
  type ShowAs,
  STATUSES,
  VISIBILITIES,
  type Visibility,
} from '../model/event-record.js';
import { parseDuration, zoneNamed } from '../model/event-times.js';
import { isTimeInput, type TimeInput } from './event-input-times.js';

const MAX_REMINDERS = 10;
const MAX_REMINDER_MINUTES = 60 * 24 * 40;
export const MAX_ATTENDEES = 500;
const MAX_DATES = 1_000;
const MAX_RULES = 4;

const rule = (name: string, validate: (value: unknown) => boolean, message: string) => () =>
  ValidateBy({ name, validator: { validate, defaultMessage: () => `$property must ${message}` } });

const TIME_FORM =
  'be a day 2026-03-02, a time 2026-03-02T09:00:00 with or without an offset, {date}, or {date_time, time_zone}, from 1900 to 9989';
export const IsEventTime = rule('isEventTime', isTimeInput, TIME_FORM);
const AreEventTimes = rule(
  'areEventTimes',
  (value) => Array.isArray(value) && value.length <= MAX_DATES && value.every(isTimeInput),
  `be a list of at most ${MAX_DATES} times; each must ${TIME_FORM}`,
);
export const IsDuration = rule(
  'isDuration',
  (value) => typeof value === 'string' && parseDuration(value) !== null,
  'be a duration of RFC 5545, e.g. PT1H30M or P1D',
);
export const IsZone = rule(
  'isTimeZone',
  (value) => typeof value === 'string' && zoneNamed(value) !== null,
  'be a time zone of the IANA database, e.g. Europe/Berlin',
);

const TIME_FORMS: ApiPropertyOptions = {
  anyOf: [
    { type: 'string' },
    { type: 'object', properties: { date: { type: 'string', format: 'date' } }, required: ['date'] },
    {
      type: 'object',
      properties: { date_time: { type: 'string' }, time_zone: { type: 'string', nullable: true } },
      required: ['date_time'],
    },
  ],
};

/** Schema of a time in requests. */
export const timeSchema = (example: unknown): ApiPropertyOptions => ({ ...TIME_FORMS, example });

/** An optional id. */
export const OptionalId = (): PropertyDecorator => (target, key) => {
  ApiPropertyOptional({ format: 'uuid', example: EXAMPLE_ID })(target, key);
  Optional()(target, key);
  IsUUID('all', { message: `${String(key)} must be a UUID` })(target, key);
};

/** An optional moment of a query: RFC 3339, a wall time, or a day. */
export const QueryTime = (example = '2026-03-01'): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ type: String, example }), IsOptional(), IsEventTime(), IsString());

export const START = timeSchema({ date_time: '2026-03-02T09:00:00', time_zone: 'Europe/Berlin' });
export const END = timeSchema({ date_time: '2026-03-02T10:00:00', time_zone: 'Europe/Berlin' });

export const Color = () => Matches(/^#[0-9a-f]{6}$/i, { message: '$property must be #rrggbb' });

/** A reminder before the start. */
export class ReminderFields implements Reminder {
  @OneOf(['popup', 'email'], { example: 'popup' }) method!: 'popup' | 'email';
  /** Minutes before the start, at most 40 days. */
  @IntegerFrom(0, MAX_REMINDER_MINUTES, { example: 10 }) minutes!: number;
}

export const Reminders = (): PropertyDecorator => (target, key) => {
  EachAs((entry) => asInstance(ReminderFields, entry), MAX_REMINDERS)(target, key);
  ValidateNested({ each: true })(target, key);
  ArrayMaxSize(MAX_REMINDERS)(target, key);
  IsArray()(target, key);
};

export class EventRemindersFields {
  /** The reminders of the calendar apply; else `overrides`. */
  @Optional() @Flag({ example: false }) use_default?: boolean;

  @ApiPropertyOptional({ type: [ReminderFields], maxItems: MAX_REMINDERS })
  @Optional()
  @Reminders()
  overrides?: ReminderFields[];
}

/** An attendee: a member by `user_id`, or any user by `email`. */
export class AttendeeFields {
  @ApiPropertyOptional({ example: 'ann@demo.example' })
  @ValidateIf(
    ({ user_id, id }: AttendeeFields, value) =>
      value !== undefined || (user_id === undefined && id === undefined),
  )
  @MaxLength(320)
  @IsEmail({ require_tld: false }, { message: 'email must be an e-mail address' })
  @PastedAddress()
  email?: string;

  @ApiPropertyOptional({ example: EXAMPLE_ID })
  @Nullable()
  @IsUUID('all', { message: 'user_id must be a UUID' })
  user_id?: string | null;

  /** The same as `user_id`, or an address from a response. */
  @Optional() @Text(320, { example: EXAMPLE_ID }) id?: string;
  @Optional() @Line(200, { example: 'Ann Lee' }) name?: string;
  @Optional() @OneOf(ATTENDEE_ROLES, { default: 'required' }) role?: AttendeeRole;
  @Optional() @OneOf(ATTENDEE_KINDS, { default: 'person' }) kind?: AttendeeKind;
  /** A response is requested; default true. */
  @Optional() @Flag({ example: true }) rsvp?: boolean;
}

export class RecurrenceFields {
  /** RRULE values of RFC 5545; HOURLY is the shortest frequency. */
  @ApiPropertyOptional({ type: [String], maxItems: MAX_RULES, example: ['FREQ=WEEKLY;BYDAY=MO'] })
  @Optional()
  @MaxLength(RULE_LIMITS.length, { each: true })
  @IsString({ each: true })
  @ArrayMaxSize(MAX_RULES)
  @IsArray()
  rules?: string[];

  /** Further instances (RDATE). */
  @ApiPropertyOptional({ type: 'array', items: TIME_FORMS as never, maxItems: MAX_DATES, example: [] })
  @Optional()
  @AreEventTimes()
  added?: TimeInput[];

  /** Instances that do not take place (EXDATE). */
  @ApiPropertyOptional({ type: 'array', items: TIME_FORMS as never, maxItems: MAX_DATES, example: [] })
  @Optional()
  @AreEventTimes()
  excluded?: TimeInput[];
}

export class GeoFields {
  @ApiProperty({ example: 52.52 }) @IsLatitude() @IsNumber() latitude!: number;
  @ApiProperty({ example: 13.405 }) @IsLongitude() @IsNumber() longitude!: number;
}

export class PlaceFields {
  @Line(500, { example: 'Headquarters' }) name!: string;
  @Optional() @Line(500, { example: 'Alexanderplatz 1, Berlin' }) address?: string;

  @Nullable() @Nested(GeoFields, { required: false, nullable: true, example: null }) geo?: GeoFields | null;
}

export class LinkFields implements Omit<EventLink, 'id' | 'url' | 'title'> {
  @OneOf(['note', 'task', 'room', 'message', 'url'], { example: 'url' }) type!: EventLink['type'];
  @Nullable() @Text(200, { minLength: 1, example: null }) id?: string | null;

  /** http or https. */
  @ApiPropertyOptional({ type: String, nullable: true, example: 'https://example.com/agenda' })
  @Nullable()
  @HttpUrl()
  url?: string | null;

  @Optional() @Line(512, { example: 'Agenda' }) title?: string;
}

export class ConferenceFields {
  /** Creates a call of this workspace for the attendees. It starts with its first participant, for each instance. */
  @Optional() @Flag({ example: false }) create?: boolean;
  @Optional() @Line(50, { example: 'link' }) kind?: string;

  @ApiPropertyOptional({ type: String, nullable: true, example: 'https://meet.example.com/team' })
  @Nullable()
  @HttpUrl()
  url?: string | null;
}

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

  /** Your own reminders; with the scope `this` those of the instance. Null: the reminders of the calendar. */
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
