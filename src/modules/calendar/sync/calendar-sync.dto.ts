import {
  Entries,
  IntegerFrom,
  Nullable,
  OneOf,
  Optional,
  Text,
} from '../../../platform/http/input.decorators.js';
import { ClientChangeFields } from '../input/client-change.dto.js';

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
