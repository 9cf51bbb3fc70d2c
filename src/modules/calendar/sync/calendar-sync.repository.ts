import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { fitsPage, PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import { EVENT_BYTES, OVERRIDES_BYTES } from '../event-bytes.js';
import type { CalendarPosition } from '../calendar-tokens.js';
import type { CalendarContext, EventJson } from '../model/event-record.js';
import { CONTEXT, type ContextRow, contextOf, type FoundEvent, visible } from '../events.repository.js';

interface ChangeRow extends ContextRow {
  /** Null: no changes. */
  seq: number | null;
  event_id: string;
  uid: string;
  is_gone: boolean;
  /** False: the change does not fit the page; its event is not read. */
  fits: boolean;
  event: EventJson['event'] | null;
  participants: EventJson['participants'];
  overrides: EventJson['overrides'];
  entry: FoundEvent['entry'];
}

export type CalendarChange = Omit<ChangeRow, keyof ContextRow | 'seq'> & { seq: number };

// Indexes calendar_entries_changes and entry_tombstones_changes. One statement reads one snapshot, so the counter of the calendar is
// at least as high as the number of each returned change. $5: removals up to this number do not concern the client.
const changes = workspace.statement<ChangeRow>(
  'calendar.changes',
  `SELECT ${CONTEXT},
          change.seq::float8 AS seq, change.event_id, change.uid, change.is_gone,
          change.fits, record.event, record.participants, record.overrides,
          json_build_object('show_as', change.show_as, 'color', change.color, 'reminders', change.reminders,
                            'response', change.response) AS entry
     FROM calendar_contexts calendar
     LEFT JOIN LATERAL (
       SELECT listed.*, ${fitsPage('bytes', '$6', '$7')} AS fits FROM (
       SELECT named.*, CASE WHEN event.id IS NULL THEN 1024 ELSE ${EVENT_BYTES} + ${OVERRIDES_BYTES} END AS bytes FROM (
       (SELECT change_seq AS seq, event_id, uid, hidden AS is_gone, show_as, color, reminders, response
          FROM calendar_entries
         WHERE tenant_id = $1 AND calendar_id = $2 AND change_seq > $4 AND NOT (hidden AND change_seq <= $5)
         ORDER BY change_seq LIMIT $6)
       UNION ALL
       (SELECT change_seq, event_id, uid, true, NULL, NULL, NULL, NULL FROM entry_tombstones
         WHERE tenant_id = $1 AND calendar_id = $2 AND change_seq > greatest($4, $5)
         ORDER BY change_seq LIMIT $6)
       ORDER BY seq LIMIT $6) named
       LEFT JOIN calendar_events event ON event.tenant_id = $1 AND event.id = named.event_id AND NOT named.is_gone) listed
       WINDOW page_order AS (ORDER BY seq ROWS UNBOUNDED PRECEDING)) change ON true
     LEFT JOIN LATERAL (
       SELECT shown.event, shown.participants, shown.overrides FROM event_records shown
        WHERE change.fits AND NOT change.is_gone AND shown.tenant_id = $1 AND shown.id = change.event_id OFFSET 0) record ON true
    WHERE calendar.tenant_id = $1 AND calendar.id = $2
    ORDER BY change.seq`,
);

/** The changes of a calendar. */
@Injectable()
export class CalendarSyncRepository {
  constructor(private readonly db: Db) {}

  /**
   * Changes after a number, in their order. Those that do not fit the page by their bytes come last.
   * @param position null: the client has no data
   * @throws ApiError 404
   */
  async changes(
    ctx: RequestContext,
    calendarId: string,
    position: Pick<CalendarPosition, 'seq' | 'since'> | null,
    limit: number,
  ): Promise<{ calendar: CalendarContext; changes: CalendarChange[] }> {
    const { seq, since } = position ?? { seq: 0, since: Number.MAX_SAFE_INTEGER };
    const values = [ctx.tenantId, calendarId, ctx.userId, seq, since, limit, PAGE_BYTES];
    const rows = await this.db.query(changes, values);
    const calendar = visible(contextOf(rows[0]));
    return { calendar, changes: rows.flatMap((row) => (row.seq === null ? [] : [{ ...row, seq: row.seq }])) };
  }
}
