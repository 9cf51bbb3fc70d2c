import { eventResponse, instanceResponse, type Viewer } from '../event.presenter.js';
import type { CalendarEventResponse } from '../event.response.js';
import { occurrenceOf } from '../event-series.js';
import type { FoundEvent } from '../events.repository.js';

/** An event, or its instance with this key. */
export function shown(
  { record, entry }: Pick<FoundEvent, 'record' | 'entry'>,
  viewer: Viewer,
  key: string | null,
): CalendarEventResponse {
  const occurrence = key === null ? null : occurrenceOf(record, key, viewer.readerZone);
  return occurrence
    ? instanceResponse(record, entry, viewer, occurrence)
    : eventResponse(record, entry, viewer);
}
