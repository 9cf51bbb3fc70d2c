import { Injectable } from '@nestjs/common';
import { HeadWatch } from '../../platform/sync/head-watch.js';
import { SyncState } from '../../platform/sync/state/sync-state.service.js';

/** The counters of the calendars that a user sees. The trigger `calendars_grown` reports their changes to `HeadChanges`. */
const HEADS = `SELECT coalesce(json_object_agg(calendar.id, calendar.change_seq), '{}') FROM calendars calendar
      WHERE calendar.tenant_id = $1 AND calendar.id IN (
        SELECT access.calendar_id FROM calendar_access access WHERE access.tenant_id = $1 AND access.user_id = $2)`;

/** Adds the counters of calendars to the synchronisation state, and so to the socket message `changed`. */
@Injectable()
export class CalendarHeads {
  constructor(state: SyncState, watch: HeadWatch) {
    state.addObjects('calendars', HEADS);
    watch.addCounters('SELECT tenant_id, id, change_seq AS head FROM calendars');
  }
}
