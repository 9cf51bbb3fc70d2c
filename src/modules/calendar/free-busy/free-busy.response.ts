import { ApiProperty } from '@nestjs/swagger';
import { NO_UUID, UUID } from '../../../platform/field-docs/field-docs.js';
import { BUSY_TYPES, type BusyType } from '../model/busy-times.js';

const START = '2026-03-02T08:00:00Z';
const END = '2026-03-02T09:00:00Z';

export class BusyTimeResponse {
  @ApiProperty({ format: 'date-time', example: START }) start!: string;
  @ApiProperty({ format: 'date-time', example: END }) end!: string;
  @ApiProperty({ enum: BUSY_TYPES, example: 'busy' }) type!: BusyType;
}

export class WorkingHoursResponse {
  /** @example "Europe/Berlin" */ time_zone!: string;
  /** 1 Monday to 7 Sunday. */
  @ApiProperty({ type: [Number], example: [1, 2, 3, 4, 5] }) days!: number[];
  /** @example "09:00" */ start!: string;
  /** @example "17:00" */ end!: string;
}

export class FreeBusyResponse {
  /** @example "bob@demo.example" */ email!: string | null;
  @ApiProperty(UUID) user_id!: string | null;
  @ApiProperty(NO_UUID) calendar_id!: string | null;
  /** unknown: not of this workspace, or not readable. */
  @ApiProperty({ enum: ['ok', 'unknown'], example: 'ok' }) status!: 'ok' | 'unknown';
  /** A series has more instances than a query expands. The rest of it is one busy time, so times shown as free are free. */
  @ApiProperty({ example: false }) approximate!: boolean;
  /** In order, without overlaps. */
  @ApiProperty({ type: [BusyTimeResponse] }) busy!: BusyTimeResponse[];
  @ApiProperty({
    type: WorkingHoursResponse,
    nullable: true,
    example: { time_zone: 'Europe/Berlin', days: [1, 2, 3, 4, 5], start: '09:00', end: '17:00' },
  })
  working_hours!: WorkingHoursResponse | null;
  /** One digit for each slot: 0 free, 1 tentative, 2 busy, 3 out of office, 4 working elsewhere. @example "0022" */
  view!: string;
}

export class SuggestionResponse {
  @ApiProperty({ format: 'date-time', example: START }) start!: string;
  @ApiProperty({ format: 'date-time', example: END }) end!: string;
  /** Optional attendees who are not free. @example ["bob@demo.example"] */ conflicts!: string[];
  /** From 0 to 1; 1: all attendees are free. @example 1 */ score!: number;
  /** @example "All attendees are free." */ reason!: string;
}

export class FreeBusyEnvelope {
  /** In the order of the request. */
  @ApiProperty({ type: [FreeBusyResponse] }) free_busy!: FreeBusyResponse[];
  /** Best first. Empty without `suggest`. */
  @ApiProperty({ type: [SuggestionResponse] }) suggestions!: SuggestionResponse[];
  @ApiProperty({ format: 'date-time', example: '2026-03-02T00:00:00Z' }) from!: string;
  @ApiProperty({ format: 'date-time', example: '2026-03-07T00:00:00Z' }) to!: string;
}
