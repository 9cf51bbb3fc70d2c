import { ApiProperty } from '@nestjs/swagger';
import { EXAMPLE_ID, NO_DATE_TIME, NO_UUID, orNull, UUID } from '../../../platform/field-docs/field-docs.js';
import { BUSY_TYPES, type BusyType } from '../model/busy-times.js';
import { CalendarEventResponse } from '../responses/event.response.js';
import { type Answer, ANSWERS, type PollStatus } from './poll-record.js';

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
