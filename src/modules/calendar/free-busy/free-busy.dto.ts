import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsEmail, ValidateIf, ValidateNested } from 'class-validator';
import { Transform } from 'class-transformer';
import {
  asInstance,
  EachAs,
  Flag,
  IntegerFrom,
  Optional,
  Nested,
  PastedAddress,
} from '../../../platform/http/input.decorators.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';
import { mailAddress } from '../../../lib/text/index.js';
import { IsEventTime, IsZone, timeSchema, OptionalId } from '../input/event-parts.dto.js';
import type { TimeInput } from '../input/event-input-times.js';

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
