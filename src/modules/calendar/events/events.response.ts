import { ApiExtraModels, ApiProperty } from '@nestjs/swagger';
import { orNull } from '../../../platform/field-docs/field-docs.js';
import { EventBatchResultResponse } from '../responses/event-batch.response.js';
import {
  CalendarEventResponse,
  EventChangeResponse,
  EventProposalResponse,
} from '../responses/event.response.js';

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
}
