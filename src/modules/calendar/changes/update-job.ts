import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { LockedEvent } from '../events.repository.js';
import type { UpdateEvent } from '../input/event.dto.js';
import type { CalendarContext } from '../model/event-record.js';
import type { Written } from './event-operations.js';

/** An event after a change. */
export interface Updated extends Written {
  calendar: CalendarContext;
  /** The changed instance; null: the whole event. */
  key: string | null;
  /** The later part of a series that was split. */
  later: Written | null;
}

/** The change of one event in a transaction. */
export interface UpdateJob<Fields = UpdateEvent> {
  tx: Tx;
  ctx: RequestContext;
  locked: LockedEvent;
  fields: Fields;
  now: string;
}
