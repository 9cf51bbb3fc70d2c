import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsString,
  IsUUID,
  IsUrl,
  Max,
  MaxLength,
  Min,
  ValidateBy,
  ValidateIf,
} from 'class-validator';
import { MayBeAbsent, Nullable, Timestamp } from '../../platform/http/input.decorators.js';
import { RecurrenceRule } from './schedule/task-recurrence.js';

const DAY = /^\d{4}-\d\d-\d\d$/;

/** A day of the calendar as `YYYY-MM-DD`, from 1900 to 9999: `2026-02-30` is none. */
export function isCalendarDay(value: unknown): value is string {
  if (typeof value !== 'string' || !DAY.test(value) || value < '1900') return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

export const CalendarDay = () =>
  ValidateBy({
    name: 'isCalendarDay',
    validator: {
      validate: isCalendarDay,
      defaultMessage: () => '$property must be a day of the calendar, YYYY-MM-DD',
    },
  });

/** A moment from 1900 to 9999, already made a Date by `@Timestamp()`. */
export const Moment = () =>
  ValidateBy({
    name: 'isTimestamp',
    validator: {
      validate: (value) =>
        value instanceof Date && value.getUTCFullYear() >= 1900 && value.getUTCFullYear() <= 9998,
      defaultMessage: () => '$property must be a time, RFC 3339',
    },
  });

const ZONE = /^[A-Za-z_]+(?:\/[A-Za-z0-9_+-]+){0,2}$/;

export function isTimeZone(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > 64 || !ZONE.test(value)) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: value }));
  } catch {
    return false;
  }
}

export const TimeZone = () =>
  ValidateBy({
    name: 'isTimeZone',
    validator: {
      validate: isTimeZone,
      defaultMessage: () => '$property must be a time zone of the IANA database, e.g. Europe/Paris',
    },
  });

/** Text with something in it besides white space. */
export const NotBlank = () =>
  ValidateBy({
    name: 'isNotBlank',
    validator: {
      validate: (value) => typeof value === 'string' && value.trim() !== '',
      defaultMessage: () => '$property must not be blank',
    },
  });

/** Any case in, lower case on. */
export const LowerCase = () =>
  Transform(({ value }) => (typeof value === 'string' ? value.toLowerCase() : value));

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const YEAR_MINUTES = 366 * 24 * 60;

/** Somebody of the workspace: by `id` (or `user_id`) or by `email`. */
export class NamedPerson {
  @ApiPropertyOptional({ type: String, format: 'uuid', nullable: true, example: ID })
  @Nullable()
  @IsUUID('all', { message: 'id must be a UUID' })
  id?: string | null;

  @ApiPropertyOptional({ type: String, format: 'uuid', nullable: true, example: ID })
  @Nullable()
  @IsUUID('all', { message: 'user_id must be a UUID' })
  user_id?: string | null;

  @ApiPropertyOptional({ type: String, nullable: true, example: 'bob@demo.example' })
  @Nullable()
  @MaxLength(320)
  @IsString()
  email?: string | null;
}

export class ReferenceInput {
  @ApiProperty({ enum: ['note', 'task', 'url'], example: 'url' })
  @IsIn(['note', 'task', 'url'])
  @LowerCase()
  type!: 'note' | 'task' | 'url';

  @ApiPropertyOptional({
    type: String,
    format: 'uuid',
    nullable: true,
    example: null,
    description: 'Of the note or task.',
  })
  @Nullable()
  @IsUUID('all', { message: 'id must be a UUID' })
  id?: string | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    example: 'https://example.com/hotel',
    description: 'http or https; for `url`.',
  })
  // What we answer for notes and tasks comes back with a path here.
  @ValidateIf(({ type }: ReferenceInput, value) => type === 'url' && value !== undefined && value !== null)
  @MaxLength(2048)
  @IsUrl({
    protocols: ['http', 'https'],
    require_protocol: true,
    require_tld: false,
    allow_underscores: true,
  })
  @IsString()
  url?: string | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    maxLength: 512,
    example: 'The hotel',
    description: 'Kept for `url` only.',
  })
  @Nullable()
  @MaxLength(512)
  @IsString()
  title?: string | null;
}

/** Either a moment, or minutes before the task is due (before the day begins when it has no hour). */
export class ReminderInput {
  @ApiPropertyOptional({ format: 'date-time', example: '2026-12-01T08:00:00Z' })
  @MayBeAbsent()
  @Moment()
  @Timestamp()
  at?: Date;

  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: YEAR_MINUTES, example: 30 })
  @MayBeAbsent()
  @Max(YEAR_MINUTES)
  @Min(0)
  @IsInt()
  minutes_before?: number;
}

/** A rule of RFC 5545 whose occurrences are days: FREQ is DAILY, WEEKLY, MONTHLY or YEARLY. */
export class Recurrence {
  @ApiProperty({
    maxLength: 500,
    example: 'FREQ=WEEKLY;BYDAY=MO',
    description:
      'RRULE of RFC 5545 with FREQ=DAILY, WEEKLY, MONTHLY or YEARLY; the hour is that of `due_at`.',
  })
  @RecurrenceRule()
  @IsString()
  rrule!: string;

  @ApiPropertyOptional({
    enum: ['schedule', 'completion'],
    default: 'schedule',
    description:
      '`schedule`: the next date follows the one the task had. `completion`: it also lies after the day of completing.',
  })
  @MayBeAbsent()
  @IsIn(['schedule', 'completion'])
  from: 'schedule' | 'completion' = 'schedule';
}
