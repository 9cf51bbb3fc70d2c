import { ApiExtraModels, ApiProperty } from '@nestjs/swagger';
import { orNull, UUID } from '../../../platform/field-docs/field-docs.js';
import { EventBatchResultResponse } from '../responses/event-batch.response.js';
import { CalendarEventResponse } from '../responses/event.response.js';

/** The result of one change of the client. */
@ApiExtraModels(CalendarEventResponse)
export class SyncResultResponse extends EventBatchResultResponse {
  /** The current event, if the change was rejected because of a newer revision. */
  @ApiProperty(orNull(CalendarEventResponse)) current!: CalendarEventResponse | null;
}

/** A change of the calendar. */
export class SyncChangeResponse {
  @ApiProperty({ enum: ['upsert', 'delete'], example: 'upsert' }) op!: 'upsert' | 'delete';
  /** The event, with `upsert`. */
  event?: CalendarEventResponse;
  /** With `upsert`: the instances that differ from their series. */
  @ApiProperty({ type: [CalendarEventResponse], example: [] }) overrides?: CalendarEventResponse[];
  /** The id of the deleted event, with `delete`. */
  @ApiProperty(UUID) event_id?: string;
  /** The UID of the deleted event, with `delete`; empty if you see times only. @example "01890a5d-ac96-774b-bcce-b302099a8057" */
  uid?: string;
}

export class SyncCalendarEnvelope {
  results!: SyncResultResponse[];
  changes!: SyncChangeResponse[];
  /** For the next request. Valid as long as removals are kept (FEED_RETENTION_DAYS). */
  @ApiProperty({ example: 'c1.WzAsNDIsMF0.d2VsbCBzaWduZWQhMTIz' }) sync_token!: string;
  /** There are more changes: repeat the request with the new token. */
  @ApiProperty({ example: false }) more!: boolean;
}
