import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { likePattern } from '../../../platform/database/like.js';
import { workspace } from '../../../platform/database/statement.js';
import { fitsPage, PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import type { EventChangeResponse } from '../responses/event.response.js';
import type { CalendarContext, EventJson, EventStatus } from '../model/event-record.js';
import { CONTEXT, type ContextRow, contextOf, type FoundEvent, visible } from '../events.repository.js';
import { EVENT_BYTES, OVERRIDES_BYTES } from '../event-bytes.js';
import { recordOf } from '../model/event-record.js';

interface ListRow extends EventJson, ContextRow {
  event_id: string | null;
  entry: FoundEvent['entry'];
  /** Sort key of the row, as text that PostgreSQL reads back exactly. */
  listed: string;
}

// Filters by title, address and uid must not match events whose details the caller may not see.
const SEES_DETAILS = `(role.name >= 'reader' AND (event.visibility <> 'private' OR calendar.owner_id = $3
    OR event.organizer_id = $3 OR EXISTS (SELECT FROM event_participants own
          WHERE own.tenant_id = $1 AND own.event_id = event.id AND own.user_id = $3)))`;

/** Index calendar_entries_start. The order by time of change sorts all events of the calendar. */
const listBy = (name: string, key: string) =>
  workspace.statement<ListRow>(
    name,
    `SELECT ${CONTEXT}, page.event_id, record.event, record.participants, record.overrides,
            json_build_object('show_as', page.show_as, 'color', page.color, 'reminders', page.reminders,
                              'response', page.response) AS entry, page.listed::text AS listed
       FROM calendar_contexts calendar
      CROSS JOIN LATERAL (SELECT calendar_role_of($1, calendar.id, calendar.owner_id, $3) AS name) role
       LEFT JOIN LATERAL (
         SELECT listed.*, ${fitsPage('listed.bytes', '$4', '$15')} AS fits FROM (
         SELECT entry.event_id, entry.show_as, entry.color, entry.reminders, entry.response, ${key} AS listed,
                ${EVENT_BYTES} + ${OVERRIDES_BYTES} AS bytes
           FROM calendar_entries entry
           JOIN calendar_events event ON event.tenant_id = $1 AND event.id = entry.event_id
          WHERE entry.tenant_id = $1 AND entry.calendar_id = $2 AND NOT entry.hidden
            AND ($5::timestamptz IS NULL OR entry.span_end > $5) AND ($6::timestamptz IS NULL OR entry.span_start < $6)
            AND ($7::timestamptz IS NULL OR event.updated_at > $7)
            AND ($8::text IS NULL OR entry.uid = $8) AND ($9::text IS NULL OR event.title_key LIKE $9)
            AND ($10::text IS NULL OR EXISTS (SELECT FROM event_participants attendee
                  WHERE attendee.tenant_id = $1 AND attendee.event_id = event.id AND attendee.email = $10))
            AND (coalesce($8, $9, $10) IS NULL OR ${SEES_DETAILS})
            AND ($11::text IS NULL OR event.status = $11) AND ($12 OR event.status <> 'cancelled')
            AND ($13::timestamptz IS NULL OR (${key}, entry.event_id) > ($13, $14::uuid))
          ORDER BY ${key}, entry.event_id LIMIT $4) listed
          WINDOW page_order AS (ORDER BY listed.listed, listed.event_id ROWS UNBOUNDED PRECEDING)) page ON role.name IS NOT NULL
       LEFT JOIN LATERAL (
         SELECT shown.event, shown.participants, shown.overrides FROM event_records shown
          WHERE page.fits AND shown.tenant_id = $1 AND shown.id = page.event_id OFFSET 0) record ON true
      WHERE calendar.tenant_id = $1 AND calendar.id = $2
      ORDER BY page.listed, page.event_id`,
  );

const LISTS = {
  start: listBy('calendar.list_by_start', 'entry.span_start'),
  updated: listBy('calendar.list_by_update', 'event.updated_at'),
};

const history = workspace.statement<EventChangeResponse>(
  'calendar.history',
  `SELECT revision, actor_id, action, recurrence_key, fields, created_at FROM event_history
    WHERE tenant_id = $1 AND event_id = $2 ORDER BY revision DESC LIMIT 100`,
  { onReplica: true },
);

export interface ListFilters {
  order: 'start' | 'updated';
  limit: number;
  from: string | null;
  to: string | null;
  updatedAfter: string | null;
  uid: string | null;
  /** Text in the title, folded. */
  title: string | null;
  attendee: string | null;
  status: EventStatus | null;
  showCancelled: boolean;
  after: readonly [listed: string, id: string] | null;
}

/** Lists of events. */
@Injectable()
export class EventListRepository {
  constructor(private readonly db: Db) {}

  /**
   * Events that do not fit the page by their bytes come last and are not read.
   * @returns `hasMore`: such events exist
   * @throws ApiError 404
   */
  async list(
    ctx: RequestContext,
    calendarId: string,
    filters: ListFilters,
  ): Promise<{
    calendar: CalendarContext;
    found: (Omit<FoundEvent, 'calendar'> & { listed: string })[];
    hasMore: boolean;
  }> {
    const { order, limit, from, to, updatedAfter, uid, title, attendee, status, showCancelled, after } =
      filters;
    const pattern = title === null ? null : likePattern(title);
    const rows = await this.db.query(LISTS[order], [
      ctx.tenantId,
      calendarId,
      ctx.userId,
      limit,
      from,
      to,
      updatedAfter,
      uid,
      pattern,
      attendee,
      status,
      showCancelled || status === 'cancelled',
      after?.[0] ?? null,
      after?.[1] ?? null,
      PAGE_BYTES,
    ]);
    const calendar = visible(contextOf(rows[0]));
    const found = rows
      .filter((row) => row.event !== null)
      .map((row) => ({ record: recordOf(row), entry: row.entry, listed: row.listed }));
    return { calendar, found, hasMore: rows.some((row) => row.event === null && row.event_id !== null) };
  }

  /** The last 100 changes of an event, newest first. */
  async history(tenantId: string, eventId: string): Promise<EventChangeResponse[]> {
    const rows = await this.db.query(history, [tenantId, eventId]);
    return rows.map((row) => ({ ...row, created_at: (row.created_at as unknown as Date).toISOString() }));
  }
}
