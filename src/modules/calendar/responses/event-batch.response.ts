import {
  ApiExtraModels,
  ApiProperty,
  ApiPropertyOptional,
  IntersectionType,
  PartialType,
  PickType,
} from '@nestjs/swagger';
import { ErrorResponse } from '../../../platform/http/error.response.js';
import { orNull } from '../../../platform/field-docs/field-docs.js';
import { QuotaExceededResponse } from '../../../platform/quotas/quotas.response.js';
import { WARNINGS } from '../model/vevent-time-parts.js';
import { CalendarEventResponse } from './event.response.js';

/** The error of one operation, with the same members as for the single request. */
export class OperationErrorResponse extends IntersectionType(
  ErrorResponse,
  PartialType(PickType(QuotaExceededResponse, ['quota', 'scope', 'limit'])),
) {
  /** With `conflict`: the revision of the event. */
  @ApiPropertyOptional({ type: 'integer', minimum: 1, example: 4 }) revision?: number;
  /** With `conflict` and `duplicate_uid`: the event. */
  @ApiPropertyOptional(orNull(CalendarEventResponse)) event?: CalendarEventResponse | null;
}

/** What an import assumed, or could not keep. */
export class ImportWarningResponse {
  /**
   * `time_zone_assumed`: a zone without a usable name. `time_zone_replaced`: no IANA zone has the rules of the file; the nearest one
   * stands for them. `invalid_duration`: the duration was ignored. `rule_repaired`: a rule was read without a part that RFC 5545 does not
   * allow. `exceptions_cut`: EXRULE excludes more dates than an event keeps. `value_too_large`: the named properties were shortened, or left out.
   * `older_version`: the file has another event with this UID, which is taken, or the stored event was changed later and stays.
   */
  @ApiProperty({
    enum: WARNINGS,
    example: 'time_zone_assumed',
  })
  code!: string;
  @ApiProperty({ example: 'The time zone Custom is unknown; its times are read in Europe/Oslo.' })
  message!: string;
}

/** The result of one operation of a batch. */
@ApiExtraModels(CalendarEventResponse, OperationErrorResponse)
export class EventBatchResultResponse {
  /** Position in the request. */
  @ApiProperty({ type: 'integer', minimum: 0, example: 0 }) index!: number;
  /** The `client_id` of the operation; in an import the UID of the event. */
  @ApiProperty({ example: null }) client_id!: string | null;
  /** In an import: the id of the event. */
  @ApiProperty({ format: 'uuid', example: null }) event_id?: string | null;
  /** HTTP status that the single request would have. */
  @ApiProperty({ type: 'integer', example: 201 }) status!: number;
  @ApiProperty(orNull(CalendarEventResponse)) event!: CalendarEventResponse | null;
  @ApiProperty(orNull(OperationErrorResponse)) error!: OperationErrorResponse | null;
  /** In an import: what it assumed, or could not keep. */
  @ApiProperty({ type: [ImportWarningResponse], required: false }) warnings?: ImportWarningResponse[];
}

/** 422 `batch_failed`. */
export class EventBatchFailedResponse extends ErrorResponse {
  @ApiProperty({ enum: ['batch_failed'], example: 'batch_failed' }) override error!: 'batch_failed';
  results!: EventBatchResultResponse[];
}
