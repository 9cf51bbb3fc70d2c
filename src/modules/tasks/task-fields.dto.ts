import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsString, IsUUID, IsUrl, Max, MaxLength, Min, ValidateIf } from 'class-validator';
import { MayBeAbsent, Nullable, Timestamp } from '../../platform/http/input.decorators.js';
import { LowerCase, Moment } from './task-decorators.js';
import { RecurrenceRule } from './task-recurrence.js';

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
