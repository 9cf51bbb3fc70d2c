import { ApiExtraModels, ApiProperty, ApiPropertyOptional, IntersectionType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  Allow,
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsObject,
  IsOptional,
  IsString,
  ValidateIf,
} from 'class-validator';
import { orNull } from '../../../platform/field-docs/field-docs.js';
import {
  EachOf,
  Entries,
  Flag,
  IntegerFrom,
  Nested,
  Nullable,
  OneOf,
  Optional,
  PastedAddress,
  Text,
  Uuid,
  WholeNumber,
} from '../../../platform/http/input.decorators.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { IsEventTime, IsZone, OptionalId, QueryTime, timeSchema } from '../input/event-fields.dto.js';
import type { TimeInput } from '../input/event-input-times.js';
import { ClientChangeFields, CommentField, ScopeFields } from '../input/event.dto.js';
import { type AttendeeResponse, type EventStatus, STATUSES } from '../model/event-record.js';
import {
  CalendarEventResponse,
  EventBatchResultResponse,
  EventChangeResponse,
  EventProposalResponse,
  ImportWarningResponse,
} from '../responses/event.response.js';

const flag = ({ value }: { value: unknown }): unknown =>
  value === 'true' ? true : value === 'false' ? false : value;

/** Filters of events and instances. */
class TitleFilter {
  /** Text in the title, without regard to case and accents. */
  @IsOptional() @Text(200, { minLength: 1, example: 'planning' }) q?: string;
  /** Includes cancelled ones. */
  @IsOptional() @Transform(flag) @Flag({ type: 'boolean', example: true }) show_cancelled?: boolean;
}

export class ListEvents extends IntersectionType(PageQuery, TitleFilter) {
  /** Only events that end after this time; of a series, its last instance. A page may have fewer events than `limit`. */
  @QueryTime() from?: string;
  /** Only events that start before this time; of a series, its first instance. */
  @QueryTime('2026-04-01') to?: string;
  /** RFC 3339. */
  @QueryTime('2026-03-01T00:00:00Z') updated_after?: string;
  /** UID of iCalendar. */
  @IsOptional() @Text(500, { minLength: 1, example: 'planning-2026@example.com' }) uid?: string;
  /** Address of an attendee. */
  @IsOptional() @PastedAddress() @Text(320, { minLength: 1, example: 'ann@demo.example' }) attendee?: string;
  /** Only events with this status. */
  @IsOptional() @OneOf(STATUSES, { example: 'confirmed' }) status?: EventStatus;
  /** By start, or by the time of the last change. */
  @IsOptional() @OneOf(['start', 'updated'], { required: false }) order: 'start' | 'updated' = 'start';

  /**
   * `overrides`: each series is followed by the instances that differ from it. They count towards `limit`; a series with more of them is
   * a page of its own.
   */
  @EachOf(['overrides']) include?: 'overrides'[];
}

export class ListInstances extends TitleFilter {
  /** Instances that end after this time: RFC 3339, or a day or wall time in `time_zone`. Default: now. */
  @QueryTime() from?: string;
  /** Instances that start before this time, at most 400 days after `from`. Default: 31 days after `from`. */
  @QueryTime('2026-04-01') to?: string;

  /** The zone of floating times and days; default: that of the calendar. */
  @ApiPropertyOptional({ example: 'Europe/Berlin' })
  @IsOptional()
  @IsZone()
  @IsString()
  time_zone?: string;

  /** Only instances of this event. */
  @IsOptional() @Uuid() event_id?: string;
  /** Maximum number of instances. */
  @IsOptional() @WholeNumber() @IntegerFrom(1, 1000, { required: false }) limit: number = 200;
  /** The `next` of the previous page. */
  @IsOptional() @Text(1000, { message: 'cursor must be given once' }) cursor?: string;
}

export class ReadEvent {
  /** An instance, by its nominal start. */
  @QueryTime('2026-03-09T09:00:00') recurrence_id?: string;

  /** `overrides`: the instances that differ from their series. `history`: the last 100 changes. `proposals`: proposed times. */
  @ArrayMaxSize(3)
  @EachOf(['overrides', 'history', 'proposals'])
  include?: ('overrides' | 'history' | 'proposals')[];
}

/** Another time. */
export class ProposedTime {
  @ApiProperty(timeSchema({ date_time: '2026-03-02T11:00:00', time_zone: 'Europe/Berlin' }))
  @IsEventTime()
  start!: TimeInput;

  @ApiProperty(timeSchema({ date_time: '2026-03-02T12:00:00', time_zone: 'Europe/Berlin' }))
  @IsEventTime()
  end!: TimeInput;
}

const ANSWERS = ['accepted', 'declined', 'tentative', 'needs_action'] as const;

export class RespondToEvent extends IntersectionType(ScopeFields, CommentField) {
  @OneOf(ANSWERS, { example: 'accepted' }) response!: Exclude<AttendeeResponse, 'delegated'>;
  /** Sends the response to an organizer outside the workspace; default true. */
  @Optional() @Flag({ example: true }) send_reply?: boolean;

  /** Also proposes another time. */
  @Nullable()
  @Nested(ProposedTime, { required: false, nullable: true, example: null })
  proposed?: ProposedTime | null;
}

const isDecision = ({ proposal_id }: { proposal_id?: string }): boolean => proposal_id !== undefined;

/** A proposal of an attendee. With `proposal_id` and `action`: a decision about a proposal. */
export class ProposeTime extends CommentField {
  @ApiPropertyOptional(timeSchema({ date_time: '2026-03-02T11:00:00', time_zone: 'Europe/Berlin' }))
  @ValidateIf((fields: ProposeTime, value) => value !== undefined || !isDecision(fields))
  @IsEventTime()
  start?: TimeInput;

  @ApiPropertyOptional(timeSchema({ date_time: '2026-03-02T12:00:00', time_zone: 'Europe/Berlin' }))
  @ValidateIf((fields: ProposeTime, value) => value !== undefined || !isDecision(fields))
  @IsEventTime()
  end?: TimeInput;

  /** The nominal start of the instance. */
  @ApiPropertyOptional(timeSchema('2026-03-09T09:00:00'))
  @Optional()
  @IsEventTime()
  recurrence_id?: TimeInput;

  /** The response to the current time of the event. */
  @Optional() @OneOf(['tentative', 'declined'], { default: 'tentative' }) response?: 'tentative' | 'declined';
  @OptionalId() proposal_id?: string;

  @ValidateIf(isDecision)
  @OneOf(['accept', 'decline', 'withdraw'], { example: 'accept' })
  action?: 'accept' | 'decline' | 'withdraw';
}

const MAX_OPERATIONS = 500;

/** A creation, a change or a deletion. The fields of `event` are those of the single request. */
export class BatchOperationFields extends ClientChangeFields {
  @OneOf(['create', 'update', 'delete'], { example: 'create' }) op!: 'create' | 'update' | 'delete';

  @ApiPropertyOptional({ enum: ['this', 'this_and_following', 'all'], example: 'all' })
  @Allow()
  scope?: string;

  @ApiPropertyOptional({ type: String, example: '2026-03-09T09:00:00' }) @Allow() recurrence_id?: unknown;
}

/** `operations`, or `events` to create. */
export class BatchEvents {
  @ValidateIf(({ events }: BatchEvents, value) => value !== undefined || events === undefined)
  @Entries(BatchOperationFields, MAX_OPERATIONS, { minItems: 1 })
  operations?: BatchOperationFields[];

  /** Events to create, each as in the single request. */
  @ApiPropertyOptional({
    type: 'array',
    maxItems: MAX_OPERATIONS,
    items: { type: 'object', additionalProperties: true },
    example: [{ title: 'Planning', start: '2026-03-02' }],
  })
  @ValidateIf(({ operations }: BatchEvents, value) => value !== undefined || operations === undefined)
  @IsObject({ each: true })
  @ArrayMaxSize(MAX_OPERATIONS)
  @ArrayMinSize(1)
  @IsArray()
  events?: object[];

  /** True: all operations are applied, or none. */
  @Optional() @Flag({ default: false }) atomic?: boolean;
}

const NEXT = {
  type: String,
  nullable: true,
  example: null,
  description: 'The `cursor` of the next page; null on the last page.',
} as const;

export class EventListEnvelope {
  events!: CalendarEventResponse[];
  @ApiProperty(NEXT) next!: string | null;
  /** On the last page of a list without filters: continues with POST /calendar/{id}/sync. */
  @ApiProperty({ example: null }) sync_token!: string | null;
}

export class InstanceListEnvelope {
  instances!: CalendarEventResponse[];
  @ApiProperty(NEXT) next!: string | null;
  @ApiProperty({ format: 'date-time', example: '2026-02-28T23:00:00Z' }) from!: string;
  @ApiProperty({ format: 'date-time', example: '2026-03-31T22:00:00Z' }) to!: string;
  /** @example "Europe/Berlin" */ time_zone!: string;
}

export class EventEnvelope {
  event!: CalendarEventResponse;
  /** With `include=overrides`. */
  @ApiProperty({ type: [CalendarEventResponse], example: [] }) overrides?: CalendarEventResponse[];
  /** With `include=history`. */
  @ApiProperty({ type: [EventChangeResponse], example: [] }) changes?: EventChangeResponse[];
}

@ApiExtraModels(CalendarEventResponse)
export class UpdatedEventEnvelope {
  event!: CalendarEventResponse;
  /** The later part of a series that was split. */
  @ApiProperty(orNull(CalendarEventResponse)) new_event!: CalendarEventResponse | null;
  @ApiProperty({ type: 'integer', minimum: 1, example: 2 }) revision!: number;
}

export class ProposalEnvelope {
  proposal!: EventProposalResponse;
  event!: CalendarEventResponse;
}

export class EventBatchEnvelope {
  results!: EventBatchResultResponse[];
  /** Operations without an error. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 1 }) applied!: number;
  @ApiProperty({ type: 'integer', minimum: 0, example: 0 }) failed!: number;
  /** In an import: what was left out of the file, such as its tasks; missing: nothing. */
  @ApiProperty({ type: [ImportWarningResponse], required: false }) warnings?: ImportWarningResponse[];
}
