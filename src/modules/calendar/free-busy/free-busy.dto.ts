import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsEmail, ValidateIf, ValidateNested } from 'class-validator';
import { mailAddress } from '../../../lib/text/index.js';
import { EXAMPLE_ID, NO_UUID, UUID } from '../../../platform/field-docs/field-docs.js';
import {
  asInstance,
  EachAs,
  Flag,
  IntegerFrom,
  Nested,
  Optional,
  PastedAddress,
} from '../../../platform/http/input.decorators.js';
import { IsEventTime, IsZone, OptionalId, timeSchema } from '../input/event-fields.dto.js';
import type { TimeInput } from '../input/event-input-times.js';
import { BUSY_TYPES, type BusyType } from '../model/busy-times.js';

const MAX_ATTENDEES = 100;

/** One of: an address, a user, a calendar. */
export class FreeBusyAttendee {
  @ApiPropertyOptional({ example: 'bob@demo.example' })
  @ValidateIf(
    ({ user_id, calendar_id }: FreeBusyAttendee, value) => value !== undefined || (!user_id && !calendar_id),
  )
  @IsEmail({}, { message: 'email must be an e-mail address' })
  @PastedAddress()
  email?: string;

  @OptionalId() user_id?: string;
  @OptionalId() calendar_id?: string;
}

export class SuggestFields {
  /** Length of the meeting. */
  @IntegerFrom(5, 1440, { example: 60 }) duration_minutes!: number;
  @Optional() @IntegerFrom(1, 50, { default: 10 }) count?: number;

  /** Addresses or ids of the attendees who must be free. Default: all. */
  @ApiPropertyOptional({ type: [String], example: ['bob@demo.example'] })
  @Optional()
  @Transform(({ value }) =>
    Array.isArray(value) ? value.map((each) => mailAddress(String(each)).toLowerCase()) : value,
  )
  @ArrayMaxSize(MAX_ATTENDEES)
  @IsArray()
  required?: string[];

  /** Only within the working hours of each attendee: a setting, by default Monday to Friday, 09:00 to 17:00. Default: true. */
  @Optional() @Flag({ example: true }) working_hours?: boolean;
  /** Time before and after the meeting in which required attendees are free too. */
  @Optional() @IntegerFrom(0, 240, { default: 0 }) buffer_minutes?: number;
}

export class FreeBusyQuery {
  @ApiProperty(timeSchema('2026-03-02T00:00:00Z')) @IsEventTime() from!: TimeInput;
  /** Exclusive; a day is included. At most 62 days after `from`. */
  @ApiProperty(timeSchema('2026-03-07T00:00:00Z')) @IsEventTime() to!: TimeInput;
  /** Zone of `from` and `to` without an offset. Default: UTC. */
  @ApiPropertyOptional({ example: 'Europe/Berlin' }) @Optional() @IsZone() time_zone?: string;

  /** Addresses, users or calendars. */
  @ApiProperty({
    type: 'array',
    minItems: 1,
    maxItems: MAX_ATTENDEES,
    items: {
      oneOf: [{ type: 'string', format: 'email' }, { $ref: '#/components/schemas/FreeBusyAttendee' }],
    },
    example: ['bob@demo.example', { user_id: EXAMPLE_ID }],
  })
  @EachAs(
    (entry) => asInstance(FreeBusyAttendee, typeof entry === 'string' ? { email: entry } : entry),
    MAX_ATTENDEES,
  )
  @ValidateNested({ each: true })
  @ArrayMaxSize(MAX_ATTENDEES)
  @ArrayMinSize(1)
  @IsArray()
  attendees!: FreeBusyAttendee[];

  /** Length of a slot of `view`, and of the steps of suggestions. */
  @Optional() @IntegerFrom(5, 1440, { default: 30 }) interval_minutes?: number;
  /** Ignores this event, to find another time for it. */
  @OptionalId() exclude_event_id?: string;

  @Optional() @Nested(SuggestFields) suggest?: SuggestFields;
}

const START = '2026-03-02T08:00:00Z';
const END = '2026-03-02T09:00:00Z';

export class BusyTimeResponse {
  @ApiProperty({ format: 'date-time', example: START }) start!: string;
  @ApiProperty({ format: 'date-time', example: END }) end!: string;
  @ApiProperty({ enum: BUSY_TYPES, example: 'busy' }) type!: BusyType;
}

export class WorkingHoursResponse {
  /** @example "Europe/Berlin" */ time_zone!: string;
  /** 1 Monday to 7 Sunday. */
  @ApiProperty({ type: [Number], example: [1, 2, 3, 4, 5] }) days!: number[];
  /** @example "09:00" */ start!: string;
  /** @example "17:00" */ end!: string;
}

export class FreeBusyResponse {
  /** @example "bob@demo.example" */ email!: string | null;
  @ApiProperty(UUID) user_id!: string | null;
  @ApiProperty(NO_UUID) calendar_id!: string | null;
  /** unknown: not of this workspace, or not readable. */
  @ApiProperty({ enum: ['ok', 'unknown'], example: 'ok' }) status!: 'ok' | 'unknown';
  /** A series has more instances than a query expands. The rest of it is one busy time, so times shown as free are free. */
  @ApiProperty({ example: false }) approximate!: boolean;
  /** In order, without overlaps. */
  @ApiProperty({ type: [BusyTimeResponse] }) busy!: BusyTimeResponse[];
  @ApiProperty({
    type: WorkingHoursResponse,
    nullable: true,
    example: { time_zone: 'Europe/Berlin', days: [1, 2, 3, 4, 5], start: '09:00', end: '17:00' },
  })
  working_hours!: WorkingHoursResponse | null;
  /** One digit for each slot: 0 free, 1 tentative, 2 busy, 3 out of office, 4 working elsewhere. @example "0022" */
  view!: string;
}

export class SuggestionResponse {
  @ApiProperty({ format: 'date-time', example: START }) start!: string;
  @ApiProperty({ format: 'date-time', example: END }) end!: string;
  /** Optional attendees who are not free. @example ["bob@demo.example"] */ conflicts!: string[];
  /** From 0 to 1; 1: all attendees are free. @example 1 */ score!: number;
  /** @example "All attendees are free." */ reason!: string;
}

export class FreeBusyEnvelope {
  /** In the order of the request. */
  @ApiProperty({ type: [FreeBusyResponse] }) free_busy!: FreeBusyResponse[];
  /** Best first. Empty without `suggest`. */
  @ApiProperty({ type: [SuggestionResponse] }) suggestions!: SuggestionResponse[];
  @ApiProperty({ format: 'date-time', example: '2026-03-02T00:00:00Z' }) from!: string;
  @ApiProperty({ format: 'date-time', example: '2026-03-07T00:00:00Z' }) to!: string;
}
