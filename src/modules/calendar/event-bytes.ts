import { jsonBytes, textBytes } from '../../platform/bounded-pages/page-bytes.js';

/** SQL over the row `event`: about the bytes of an event without its overrides. */
export const EVENT_BYTES = `2048 + 400 * event.participants_count + ${textBytes('event.title', 'event.description', 'event.location')}
  + ${jsonBytes('event.locations', 'event.links', 'event.conference', 'event.custom')}`;

/** SQL over the row `event`, with the workspace as $1: about the bytes of its overrides. */
export const OVERRIDES_BYTES = `CASE WHEN event.overrides_count > 0 THEN (
    SELECT coalesce(sum(2048 + ${jsonBytes('patch')}), 0) FROM event_overrides
     WHERE tenant_id = $1 AND event_id = event.id) ELSE 0 END`;
