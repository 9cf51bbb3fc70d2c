import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsDate,
  IsEmail,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  IsUUID,
  Max,
  MaxLength,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import {
  asInstance,
  asNamedUser,
  EachAs,
  Line,
  Name,
  Nullable,
  Optional,
  Timestamp,
} from '../../../platform/http/input.decorators.js';
import { SendUpdatesField } from '../input/event.dto.js';
import { IsEventTime, IsZone, timeSchema, OptionalId } from '../input/event-parts.dto.js';
import type { TimeInput } from '../input/event-input-times.js';
import { type Answer, ANSWERS } from './poll-record.js';

const MAX_OPTIONS = 100;
const MAX_PARTICIPANTS = 200;
const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

/** A time, or a whole day. */
export class PollOptionFields {
  @ApiPropertyOptional(timeSchema('2026-03-02T09:00:00'))
  @Optional()
  @IsEventTime()
  start?: TimeInput;

  /** Default: `duration_minutes` after the start. */
  @ApiPropertyOptional(timeSchema('2026-03-02T10:00:00'))
  @Optional()
  @IsEventTime()
  end?: TimeInput;

  /** Of a poll about days. */
  @ApiPropertyOptional({ format: 'date', example: '2026-03-02' })
  @Optional()
  @IsEventTime()
  date?: string;
}

/** A member, or an address outside the workspace. */
export class PollParticipantFields {
  @ApiPropertyOptional({ example: 'bob@demo.example' })
  @ValidateIf(({ user_id, id }: PollParticipantFields, value) => value !== undefined || (!user_id && !id))
  @IsEmail({}, { message: 'email must be an e-mail address' })
  email?: string;

  @OptionalId()
  user_id?: string;

  /** The same as `user_id`. */
  @OptionalId()
  id?: string;

  @ApiPropertyOptional({ example: 'Bob Stone' })
  @Optional()
  @Line(200)
  name?: string;

  /** Default: true. */
  @ApiPropertyOptional({ example: true })
  @Optional()
  @IsBoolean()
  required?: boolean;
}

export class CreatePoll extends SendUpdatesField {
  @ApiProperty({ minLength: 1, maxLength: 500, example: 'Planning' })
  @Name(500)
  title!: string;

  /** Plain text. */
  @ApiPropertyOptional({ example: 'Goals of the next quarter' })
  @Optional()
  @MaxLength(8000)
  @IsString()
  description?: string;

  @ApiPropertyOptional({ example: 'Room 3' })
  @Optional()
  @Line(1000)
  location?: string;

  /** Of times without an offset, and of the event. */
  @ApiProperty({ example: 'Europe/Berlin' })
  @IsZone()
  time_zone!: string;

  /** Default: that of the first option. */
  @ApiPropertyOptional({ enum: ['time', 'date'], example: 'time' })
  @Optional()
  @IsIn(['time', 'date'])
  kind?: 'time' | 'date';

  /** Length of options without an end. Default: 60. */
  @ApiPropertyOptional({ type: 'integer', minimum: 5, maximum: 10080, example: 60 })
  @Optional()
  @Max(10_080)
  @Min(5)
  @IsInt()
  duration_minutes?: number;

  @ApiProperty({ type: [PollOptionFields], minItems: 2, maxItems: MAX_OPTIONS })
  @EachAs((entry) => asInstance(PollOptionFields, entry))
  @ValidateNested({ each: true })
  @ArrayMaxSize(MAX_OPTIONS)
  @ArrayMinSize(2)
  @IsArray()
  options!: PollOptionFields[];

  /** Besides you. A bare text is an id or an address. */
  @ApiPropertyOptional({ type: [PollParticipantFields], maxItems: MAX_PARTICIPANTS })
  @Optional()
  @EachAs((entry) => asNamedUser(PollParticipantFields, entry))
  @ValidateNested({ each: true })
  @ArrayMaxSize(MAX_PARTICIPANTS)
  @IsArray()
  participants?: PollParticipantFields[];

  /** The poll closes at this moment. */
  @ApiPropertyOptional({ type: String, format: 'date-time', nullable: true, example: '2026-02-27T17:00:00Z' })
  @Nullable()
  @Timestamp()
  @IsDate({ message: 'deadline must be a time of RFC 3339' })
  deadline?: Date | null;

  /** Default: true. */
  @ApiPropertyOptional({ example: true })
  @Optional()
  @IsBoolean()
  allow_if_needed?: boolean;

  /** Responses contain counts, and votes without names. Default: false. */
  @ApiPropertyOptional({ example: false })
  @Optional()
  @IsBoolean()
  anonymous?: boolean;

  /** Keeps the times of the options free until the poll is finalized or cancelled: a tentative event for each. */
  @ApiPropertyOptional({ default: false })
  @Optional()
  @IsBoolean()
  hold?: boolean;

  /** Where the event and the tentative events are created. Default: your default calendar. */
  @ApiPropertyOptional({ type: String, format: 'uuid', nullable: true, example: ID })
  @Nullable()
  @IsUUID('all', { message: 'calendar_id must be a UUID' })
  calendar_id?: string | null;
}

export class ReadPoll {
  /** Of `local_start` and `local_end`. Default: that of the poll. */
  @ApiPropertyOptional({ type: String, example: 'America/New_York' })
  @IsOptional()
  @IsZone()
  time_zone?: string;
}

export class VoteFields {
  @ApiProperty({ format: 'uuid', example: ID })
  @IsUUID('all', { message: 'option_id must be a UUID' })
  option_id!: string;

  @ApiProperty({ enum: ANSWERS, example: 'yes' })
  @IsIn(ANSWERS)
  answer!: Answer;
}

export class VotePoll {
  /** Replaces all your votes. */
  @ApiProperty({ type: [VoteFields], maxItems: MAX_OPTIONS })
  @EachAs((entry) => asInstance(VoteFields, entry))
  @ValidateNested({ each: true })
  @ArrayMaxSize(MAX_OPTIONS)
  @IsArray()
  votes!: VoteFields[];

  @ApiPropertyOptional({ example: 'After lunch is better' })
  @Optional()
  @MaxLength(2000)
  @IsString()
  comment?: string;
}

export class FinalizePoll extends SendUpdatesField {
  @ApiProperty({ format: 'uuid', example: ID })
  @IsUUID('all', { message: 'option_id must be a UUID' })
  option_id!: string;

  /** Default: that of the poll, else your default calendar. */
  @OptionalId()
  calendar_id?: string;

  /** Title of the event. Default: that of the poll. */
  @ApiPropertyOptional({ minLength: 1, maxLength: 500, example: 'Planning' })
  @Optional()
  @Name(500)
  title?: string;

  /** all: all participants. yes: those who can come. Default: all. */
  @ApiPropertyOptional({ enum: ['all', 'yes'], example: 'all' })
  @Optional()
  @IsIn(['all', 'yes'])
  invite?: 'all' | 'yes';
}
