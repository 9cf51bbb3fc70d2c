import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsEmail, IsOptional, ValidateIf, ValidateNested } from 'class-validator';
import {
  PastedAddress,
  asNamedUser,
  EachAs,
  Entries,
  Flag,
  IntegerFrom,
  Line,
  Name,
  Nullable,
  OneOf,
  Optional,
  Text,
  Time,
  Uuid,
} from '../../../platform/http/input.decorators.js';
import { EXAMPLE_ID } from '../../../platform/field-docs/field-docs.js';
import { SendUpdatesField } from '../input/event.dto.js';
import { IsEventTime, IsZone, timeSchema, OptionalId } from '../input/event-parts.dto.js';
import type { TimeInput } from '../input/event-input-times.js';
import { type Answer, ANSWERS } from './poll-record.js';

const MAX_OPTIONS = 100;
const MAX_PARTICIPANTS = 200;

/** A time, or whole days. */
export class PollOptionFields {
  @ApiPropertyOptional(timeSchema('2026-03-02T09:00:00')) @Optional() @IsEventTime() start?: TimeInput;
  /** Exclusive. Default: `duration_minutes` after the start; in a poll about days, the day after the start. */
  @ApiPropertyOptional(timeSchema('2026-03-02T10:00:00')) @Optional() @IsEventTime() end?: TimeInput;
  /** The day, in a poll about days. */
  @ApiPropertyOptional({ format: 'date', example: '2026-03-02' }) @Optional() @IsEventTime() date?: string;
}

/** A member, or an address outside the workspace. */
export class PollParticipantFields {
  @ApiPropertyOptional({ example: 'bob@demo.example' })
  @ValidateIf(({ user_id, id }: PollParticipantFields, value) => value !== undefined || (!user_id && !id))
  @IsEmail({}, { message: 'email must be an e-mail address' })
  @PastedAddress()
  email?: string;

  @OptionalId() user_id?: string;
  /** The same as `user_id`. */
  @OptionalId() id?: string;
  @Optional() @Line(200, { example: 'Bob Stone' }) name?: string;
  /** Default: true. */
  @Optional() @Flag({ example: true }) required?: boolean;
}

export class CreatePoll extends SendUpdatesField {
  @Name(500, { example: 'Planning' }) title!: string;
  /** Plain text. */
  @Optional() @Text(8000, { example: 'Goals of the next quarter' }) description?: string;
  @Optional() @Line(1000, { example: 'Room 3' }) location?: string;
  /** Zone of the event, and of times without an offset. */
  @ApiProperty({ example: 'Europe/Berlin' }) @IsZone() time_zone!: string;
  /** Default: the kind of the first option. */
  @Optional() @OneOf(['time', 'date'], { example: 'time' }) kind?: 'time' | 'date';
  /** Length of options without an end. Default: 60. */
  @Optional() @IntegerFrom(5, 10_080, { example: 60 }) duration_minutes?: number;

  @Entries(PollOptionFields, MAX_OPTIONS, { minItems: 2 }) options!: PollOptionFields[];

  /** The participants besides you. A text is an id or an address. */
  @ApiPropertyOptional({ type: [PollParticipantFields], maxItems: MAX_PARTICIPANTS })
  @Optional()
  @EachAs((entry) => asNamedUser(PollParticipantFields, entry), MAX_PARTICIPANTS)
  @ValidateNested({ each: true })
  @ArrayMaxSize(MAX_PARTICIPANTS)
  @IsArray()
  participants?: PollParticipantFields[];

  /** The poll closes at this moment. */
  @Nullable()
  @Time({ message: 'deadline must be a time of RFC 3339', example: '2026-02-27T17:00:00Z' })
  deadline?: Date | null;

  /** Default: true. */
  @Optional() @Flag({ example: true }) allow_if_needed?: boolean;
  /** Responses contain counts, and votes without names. Default: false. */
  @Optional() @Flag({ example: false }) anonymous?: boolean;
  /** Keeps the times of the options free until the poll is finalized or cancelled: a tentative event for each. */
  @Optional() @Flag({ default: false }) hold?: boolean;
  /** Where the event and the tentative events are created. Default: your default calendar. */
  @Nullable() @Uuid({ example: EXAMPLE_ID }) calendar_id?: string | null;
}

export class ReadPoll {
  /** Zone of `local_start` and `local_end`. Default: the zone of the poll. */
  @ApiPropertyOptional({ type: String, example: 'America/New_York' })
  @IsOptional()
  @IsZone()
  time_zone?: string;
}

export class VoteFields {
  @Uuid({ example: EXAMPLE_ID }) option_id!: string;
  @OneOf(ANSWERS, { example: 'yes' }) answer!: Answer;
}

export class VotePoll {
  /** Replaces all your votes. */
  @Entries(VoteFields, MAX_OPTIONS) votes!: VoteFields[];

  @Optional() @Text(2000, { example: 'After lunch is better' }) comment?: string;
}

export class FinalizePoll extends SendUpdatesField {
  @Uuid({ example: EXAMPLE_ID }) option_id!: string;
  /** Default: the calendar of the poll, else your default calendar. */
  @OptionalId() calendar_id?: string;
  /** Title of the event. Default: the title of the poll. */
  @Optional() @Name(500, { example: 'Planning' }) title?: string;
  /** all: all participants. yes: participants who can attend. Default: all. */
  @Optional() @OneOf(['all', 'yes'], { example: 'all' }) invite?: 'all' | 'yes';
}
