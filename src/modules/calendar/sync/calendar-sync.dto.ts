import { ApiExtraModels, ApiProperty } from '@nestjs/swagger';
import { orNull, UUID } from '../../../platform/field-docs/field-docs.js';
import {
  Entries,
  IntegerFrom,
  Nullable,
  OneOf,
  Optional,
  Text,
} from '../../../platform/http/input.decorators.js';
import { ClientChangeFields } from '../input/event.dto.js';
import { CalendarEventResponse, EventBatchResultResponse } from '../responses/event.response.js';

const MAX_CHANGES = 500;

/** A change that the client has made. */
export class SyncChange extends ClientChangeFields {
  @OneOf(['upsert', 'delete'], { example: 'upsert' }) op!: 'upsert' | 'delete';
}

export class SyncCalendar {
  /** The token of the last response. Null: the client has no data. */
  @Nullable() @Text(1000, { example: null }) sync_token?: string | null;

  @Optional() @Entries(SyncChange, MAX_CHANGES, { example: [] }) changes?: SyncChange[];

  /** Maximum number of changes in the response. */
  @Optional() @IntegerFrom(1, MAX_CHANGES, { default: 100 }) limit?: number;

  /**
   * Where the event has a newer revision than `base_revision`: `server` keeps it (the result has the event), `client`
   * overwrites it, `report` rejects the change with 409 and the event as `current`.
   */
  @Optional()
  @OneOf(['server', 'client', 'report'], { default: 'server' })
  conflict?: 'server' | 'client' | 'report';
}

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
