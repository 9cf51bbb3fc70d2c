import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsString, IsUUID, ValidateBy, ValidateIf } from 'class-validator';
import {
  PastedAddress,
  HttpUrl,
  IntegerFrom,
  Moment,
  Nullable,
  OneOf,
  Optional,
  Text,
  VisibleOrEmpty,
} from '../../platform/http/input.decorators.js';
import { EXAMPLE_ID } from '../../platform/field-docs/field-docs.js';
import { isCalendarDay } from './model/todo-values.js';
import { isTimeZone } from '../../lib/recurrence/index.js';
import { canonicalRule } from './model/task-recurrence.js';

const rule = (name: string, validate: (value: unknown) => boolean, message: string) => () =>
  ValidateBy({ name, validator: { validate, defaultMessage: () => `$property must ${message}` } });

export const CalendarDay = rule('isCalendarDay', isCalendarDay, 'be a calendar day, YYYY-MM-DD');

export const TimeZone = rule(
  'isTimeZone',
  isTimeZone,
  'be a time zone of the IANA database, e.g. Europe/Paris',
);

const RecurrenceRule = rule(
  'isRecurrenceRule',
  (value) => typeof value === 'string' && canonicalRule(value) !== null,
  'be a rule of RFC 5545 of at most 500 characters whose FREQ is DAILY, WEEKLY, MONTHLY or YEARLY',
);

/** Converts text to lower case. */
export const LowerCase = () =>
  Transform(({ value }) => (typeof value === 'string' ? value.toLowerCase() : value));

export const MAX_TITLE = 512;
const YEAR_MINUTES = 366 * 24 * 60;

/** Schema of a position in manual order. */
export const POSITION: ApiPropertyOptions = {
  anyOf: [
    { type: 'string', maxLength: 200 },
    { type: 'object', properties: { before: { type: 'string', format: 'uuid' } }, required: ['before'] },
    { type: 'object', properties: { after: { type: 'string', format: 'uuid' } }, required: ['after'] },
  ],
};

/** A member of the workspace, named by `id` (or `user_id`) or by `email`. */
export class NamedUser {
  @ApiPropertyOptional({ example: EXAMPLE_ID })
  @Nullable()
  @IsUUID('all', { message: 'id must be a UUID' })
  id?: string | null;

  @ApiPropertyOptional({ example: EXAMPLE_ID })
  @Nullable()
  @IsUUID('all', { message: 'user_id must be a UUID' })
  user_id?: string | null;

  @Nullable() @PastedAddress() @Text(320, { example: 'bob@demo.example' }) email?: string | null;
}

export class ReferenceInput {
  @LowerCase() @OneOf(['note', 'task', 'url'], { example: 'url' }) type!: 'note' | 'task' | 'url';

  /** Of the note or task. */
  @ApiPropertyOptional({ example: null })
  @Nullable()
  @IsUUID('all', { message: 'id must be a UUID' })
  id?: string | null;

  /** For `url`: http or https. */
  @ApiPropertyOptional({ type: String, nullable: true, example: 'https://example.com/hotel' })
  // Responses contain a path here for notes and tasks: clients send it back.
  @ValidateIf(({ type }: ReferenceInput, value) => type === 'url' && value !== undefined && value !== null)
  @HttpUrl()
  url?: string | null;

  /** Stored for `url` only. */
  @Nullable() @VisibleOrEmpty() @Text(512, { example: 'The hotel' }) title?: string | null;
}

/** A moment, or minutes before the task is due (before the start of the day when it has no hour). */
export class ReminderInput {
  @Optional() @Moment({ example: '2026-12-01T08:00:00Z' }) at?: Date;

  @Optional() @IntegerFrom(0, YEAR_MINUTES, { example: 30 }) minutes_before?: number;
}

export class Recurrence {
  /**
   * RRULE of RFC 5545 with FREQ=DAILY, WEEKLY, MONTHLY or YEARLY. The hour is that of `due_at`; UNTIL is read in the time
   * zone of the task. `RSCALE=GREGORIAN;...;SKIP=BACKWARD` (RFC 7529) takes the last day of months that lack the day, `FORWARD` the
   * first day after them.
   */
  @ApiProperty({ maxLength: 500, example: 'FREQ=WEEKLY;BYDAY=MO' })
  @RecurrenceRule()
  @IsString()
  rrule!: string;

  /**
   * The next date follows the current date (`schedule`), or also the day of completion, from which the interval counts
   * (`completion`): every three days, completed late, is due three days after the completion.
   */
  @Optional() @OneOf(['schedule', 'completion']) from: 'schedule' | 'completion' = 'schedule';
}
