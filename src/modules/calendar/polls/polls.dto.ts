import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsEmail, IsOptional, ValidateIf, ValidateNested } from 'class-validator';
import { EXAMPLE_ID, NO_DATE_TIME, NO_UUID, orNull, UUID } from '../../../platform/field-docs/field-docs.js';
import { defineError } from '../../../platform/http/errors.js';
import {
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
  PastedAddress,
  Text,
  Time,
  Uuid,
} from '../../../platform/http/input.decorators.js';
import { IsEventTime, IsZone, OptionalId, timeSchema } from '../input/event-fields.dto.js';
import type { TimeInput } from '../input/event-input-times.js';
import { SendUpdatesField } from '../input/event.dto.js';
import { BUSY_TYPES, type BusyType } from '../model/busy-times.js';
import { CalendarEventResponse } from '../responses/event.response.js';
import { type Answer, ANSWERS, type PollStatus } from './poll-record.js';

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
  /** Replaces all your votes. Different answers to one option are rejected. */
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

const TIME = '2026-03-02T08:00:00Z';

export class PollCountsResponse {
  /** @example 3 */ yes!: number;
  /** @example 1 */ if_needed!: number;
  /** @example 0 */ no!: number;
  /** Participants without a vote. @example 2 */ pending!: number;
}

export class OptionVoteResponse {
  @ApiProperty(UUID) participant_id!: string;
  /** @example "Bob Stone" */ name!: string;
  @ApiProperty({ enum: ANSWERS, example: 'yes' }) answer!: Answer;
}

export class PollOptionResponse {
  @ApiProperty(UUID) id!: string;
  /** Id of the tentative event; only for the owner of the poll. */
  @ApiProperty(NO_UUID) hold_event_id!: string | null;
  /** Null for a day. */
  @ApiProperty({ format: 'date-time', example: TIME }) start!: string | null;
  @ApiProperty({ format: 'date-time', example: '2026-03-02T09:00:00Z' }) end!: string | null;
  /** A day, instead of `start` and `end`. */
  @ApiProperty({ format: 'date', example: null }) date!: string | null;
  /** In the requested zone. @example "2026-03-02T09:00:00" */ local_start!: string;
  /** In the requested zone; for a day the same day. @example "2026-03-02T10:00:00" */ local_end!: string;
  counts!: PollCountsResponse;
  /** Empty for an anonymous poll. */
  @ApiProperty({ type: [OptionVoteResponse] }) votes!: OptionVoteResponse[];
  /** What your calendars contain at this time. */
  @ApiProperty({ type: String, enum: [...BUSY_TYPES, null], nullable: true, example: null })
  my_conflict!: BusyType | null;
}

export class PollParticipantResponse {
  @ApiProperty(UUID) id!: string;
  /** @example "bob@demo.example" */ email!: string;
  /** @example "Bob Stone" */ name!: string;
  @ApiProperty(UUID) user_id!: string | null;
  /** @example true */ required!: boolean;
  /** @example "After lunch is better" */ comment!: string;
  @ApiProperty({ format: 'date-time', example: TIME }) responded_at!: string | null;
}

export class MyVoteResponse {
  @ApiProperty(UUID) option_id!: string;
  @ApiProperty({ enum: ANSWERS, example: 'yes' }) answer!: Answer;
}

export class PollResponse {
  @ApiProperty(UUID) id!: string;
  @ApiProperty(UUID) owner_id!: string;
  @ApiProperty(NO_UUID) calendar_id!: string | null;
  /** @example "Planning" */ title!: string;
  /** @example "Goals of the next quarter" */ description!: string;
  /** @example "Room 3" */ location!: string;
  /** @example "Europe/Berlin" */ time_zone!: string;
  @ApiProperty({ enum: ['time', 'date'], example: 'time' }) kind!: 'time' | 'date';
  @ApiProperty(NO_DATE_TIME) deadline!: string | null;
  @ApiProperty(NO_DATE_TIME) cancelled_at!: string | null;
  /** @example true */ allow_if_needed!: boolean;
  /** @example false */ anonymous!: boolean;
  /** closed: after the deadline. */
  @ApiProperty({ enum: ['open', 'closed', 'finalized', 'cancelled'], example: 'open' }) status!: PollStatus;
  @ApiProperty({ type: [PollOptionResponse] }) options!: PollOptionResponse[];
  @ApiProperty({ type: [PollParticipantResponse] }) participants!: PollParticipantResponse[];
  @ApiProperty({ type: [MyVoteResponse] }) my_votes!: MyVoteResponse[];
  /** Options that the most participants can attend. Empty without votes. */
  @ApiProperty({ type: [String], example: [EXAMPLE_ID] }) best_option_ids!: string[];
  /** The chosen option. */
  @ApiProperty(NO_UUID) option_id!: string | null;
  /** The event of the chosen option. */
  @ApiProperty(NO_UUID) event_id!: string | null;
  /** @example 1 */ revision!: number;
  @ApiProperty({ format: 'date-time', example: TIME }) created_at!: string;
  @ApiProperty({ format: 'date-time', example: TIME }) updated_at!: string;
}

export class PollEnvelope {
  poll!: PollResponse;
}

export class FinalizedPollEnvelope extends PollEnvelope {
  /** Null after its deletion, and without access to its calendar. */
  @ApiProperty(orNull(CalendarEventResponse)) event!: CalendarEventResponse | null;
}

export const PollErrors = {
  pollNotFound: defineError(404, 'not_found', 'The poll does not exist, or you do not take part in it.'),
  pollClosed: defineError(409, 'poll_closed', 'The poll is closed, finalized or cancelled.'),
  alreadyFinalized: defineError(409, 'already_finalized', 'Another option of the poll has been chosen.'),
  unknownOption: defineError(422, 'unknown_option', 'The poll has no such option.'),
} as const;
