import { Injectable } from '@nestjs/common';
import { fitsPage, jsonBytes, PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { spelledFor, spelledPattern } from '../../../platform/database/like.js';
import { workspace } from '../../../platform/database/statement.js';
import { CalendarErrors } from '../calendar.errors.js';
import {
  CONTEXT,
  contextOf,
  type ContextRow,
  EVENT_BYTES,
  type FoundEvent,
  OVERRIDES_BYTES,
  assertVisible,
} from '../events.repository.js';
import {
  type CalendarContext,
  type EntryRow,
  type EventJson,
  type EventRecord,
  type EventStatus,
  recordOf,
  TIME_FIELDS,
} from '../model/event-record.js';
import type { EventHistory } from '../calendar.schema.js';
import type { EventChangeResponse } from '../responses/event.response.js';

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
                              'instance_alarms', page.instance_alarms, 'response', page.response) AS entry, page.listed::text AS listed
       FROM calendar_contexts calendar
      CROSS JOIN LATERAL (SELECT calendar_role_of($1, calendar.id, calendar.owner_id, $3) AS name) role
       LEFT JOIN LATERAL (
         SELECT listed.*, ${fitsPage('listed.bytes', '$4', '$15')} AS fits FROM (
         SELECT entry.event_id, entry.show_as, entry.color, entry.reminders, entry.instance_alarms, entry.response, ${key} AS listed,
                ${EVENT_BYTES} + ${OVERRIDES_BYTES} + ${jsonBytes('entry.instance_alarms')} AS bytes
           FROM calendar_entries entry
           JOIN calendar_events event ON event.tenant_id = $1 AND event.id = entry.event_id
          WHERE entry.tenant_id = $1 AND entry.calendar_id = $2 AND NOT entry.hidden
            AND ($5::timestamptz IS NULL OR entry.span_end > $5) AND ($6::timestamptz IS NULL OR entry.span_start < $6)
            AND ($7::timestamptz IS NULL OR event.updated_at > $7)
            AND ($8::text IS NULL OR entry.uid = $8) AND ($9::text IS NULL OR ${spelledFor('$9', 'event.title_key')} LIKE $9)
            AND ($10::text[] IS NULL OR EXISTS (SELECT FROM event_participants attendee
                  WHERE attendee.tenant_id = $1 AND attendee.event_id = event.id AND attendee.email = ANY ($10)))
            AND (coalesce($8, $9) IS NULL AND $10 IS NULL OR ${SEES_DETAILS})
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

const history = workspace.statement<Omit<EventHistory, 'tenant_id' | 'event_id'>>(
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
  attendee: string[] | null;
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
    const pattern = title === null ? null : spelledPattern(title);
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
    const calendar = assertVisible(contextOf(rows[0]));
    const found = rows
      .filter((row) => row.event !== null)
      .map((row) => ({ record: recordOf(row), entry: row.entry, listed: row.listed }));
    return { calendar, found, hasMore: rows.some((row) => row.event === null && row.event_id !== null) };
  }

  /** The last 100 changes of an event, newest first. */
  async history(tenantId: string, eventId: string): Promise<EventChangeResponse[]> {
    return this.db.query(history, [tenantId, eventId]);
  }
}

/** The columns that decide when the instances of an event are, who sees them, and whether they match a search. */
const TIME_COLUMNS = [
  ...TIME_FIELDS,
  'id',
  'status',
  'title',
  'visibility',
  'rules',
  'added',
  'excluded',
  'origin_calendar_id',
  'origin',
  'organizer_id',
  'organizer_email',
  'deleted_at',
  'participants_count',
  'overrides_count',
].map((name) => `'${name}', event.${name}`);
const OVERRIDE_FIELDS = [...TIME_FIELDS, 'status', 'title', 'visibility'].map((name) => `'${name}'`);

/** Bytes of content up to which one statement reads the whole events of a window. */
const SMALL_WINDOW = 1024 * 1024;
/** The most dates, and instances with fields of their own, of the events of a window. */
const MAX_PARTS = 200_000;

type WindowRow = ContextRow & { [key in keyof EventJson]: EventJson[key] | null } & {
  entry: FoundEvent['entry'];
  is_whole: boolean;
  is_read: boolean;
};

// Indexes calendar_entries_start and calendar_entries_wide. $6: the window less the reach of events that are not wide.
const readWindow = workspace.statement<WindowRow>(
  'calendar.window',
  `WITH placed AS MATERIALIZED (
     SELECT entry.*, ${EVENT_BYTES} + ${OVERRIDES_BYTES} + ${jsonBytes('entry.instance_alarms')} AS bytes,
            event.overrides_count + (pg_column_size(event.added) + pg_column_size(event.excluded)) / 16 AS parts
       FROM (
         (SELECT event_id, show_as, color, reminders, instance_alarms, response FROM calendar_entries
           WHERE tenant_id = $1 AND calendar_id = $2 AND NOT wide AND NOT hidden AND ($8::uuid IS NULL OR event_id = $8)
             AND span_start >= $6 AND span_start < $5 AND span_end > $4 LIMIT $7)
         UNION ALL
         (SELECT event_id, show_as, color, reminders, instance_alarms, response FROM calendar_entries
           WHERE tenant_id = $1 AND calendar_id = $2 AND wide AND NOT hidden AND ($8::uuid IS NULL OR event_id = $8)
             AND span_start < $5 AND span_end > $4 LIMIT $7)) entry
       JOIN calendar_events event ON event.tenant_id = $1 AND event.id = entry.event_id),
   sized AS MATERIALIZED (
     SELECT placed.*, sum(bytes) OVER () <= $9 AS is_whole, sum(parts) OVER (ROWS UNBOUNDED PRECEDING) <= $10 AS is_read FROM placed)
   SELECT ${CONTEXT}, coalesce(whole.event, part.event) AS event, coalesce(whole.participants, part.participants) AS participants,
          coalesce(whole.overrides, part.overrides) AS overrides, entry.is_whole, entry.is_read,
          json_build_object('show_as', entry.show_as, 'color', entry.color, 'reminders', entry.reminders,
                            'instance_alarms', CASE WHEN entry.is_whole THEN entry.instance_alarms END,
                            'response', entry.response) AS entry
     FROM calendar_contexts calendar
     LEFT JOIN sized entry ON true
     LEFT JOIN LATERAL (
       SELECT record.event, record.participants, record.overrides FROM event_records record
        WHERE entry.is_whole AND record.tenant_id = $1 AND record.id = entry.event_id OFFSET 0) whole ON true
     LEFT JOIN LATERAL (
       SELECT json_build_object(${TIME_COLUMNS.join(', ')}) AS event,
              CASE WHEN event.participants_count > 0 THEN (
                SELECT json_agg(json_build_object('recurrence_key', recurrence_key, 'email', email, 'user_id', user_id,
                                                  'role', role, 'kind', kind, 'response', response, 'uninvited', uninvited,
                                                  'removed', removed)
                                ORDER BY recurrence_key, email)
                  FROM event_participants
                 WHERE tenant_id = $1 AND event_id = event.id AND user_id IN (calendar.owner_id, $3)) END AS participants,
              CASE WHEN event.overrides_count > 0 THEN (
                SELECT json_agg(json_build_object('recurrence_key', recurrence_key, 'patch', (
                         SELECT coalesce(json_object_agg(key, value), '{}') FROM jsonb_each(patch)
                          WHERE key IN (${OVERRIDE_FIELDS.join(', ')}))) ORDER BY recurrence_key)
                  FROM event_overrides WHERE tenant_id = $1 AND event_id = event.id) END AS overrides
         FROM calendar_events event
        WHERE NOT entry.is_whole AND entry.is_read AND event.tenant_id = $1 AND event.id = entry.event_id OFFSET 0) part ON true
    WHERE calendar.tenant_id = $1 AND calendar.id = $2`,
  { onReplica: true },
);

// $2, $3: the events and keys of the instances of a page, in its order. Reads the overrides and alarms of these instances only.
const readContent = workspace.statement<EventJson & Pick<EntryRow, 'instance_alarms'> & { fitting: number }>(
  'calendar.window_content',
  `WITH listed AS MATERIALIZED (
     SELECT given.n, given.id, ${EVENT_BYTES} + coalesce((
              SELECT ${jsonBytes('patch')} FROM event_overrides
               WHERE tenant_id = $1 AND event_id = given.id AND recurrence_key = given.key), 0) AS bytes
       FROM unnest($2::uuid[], $3::text[]) WITH ORDINALITY AS given (id, key, n)
       JOIN calendar_events event ON event.tenant_id = $1 AND event.id = given.id),
   sized AS MATERIALIZED (
     SELECT n, id, ${fitsPage('bytes', '$4', '$5')} AS fits
       FROM listed WINDOW page_order AS (ORDER BY n ROWS UNBOUNDED PRECEDING))
   SELECT shown.event, shown.participants, shown.overrides, page.fitting, (
            SELECT jsonb_object_agg(own.key, own.value)
              FROM calendar_entries entry CROSS JOIN LATERAL jsonb_each(entry.instance_alarms) own
             WHERE entry.tenant_id = $1 AND entry.calendar_id = $6 AND entry.event_id = page.id
               AND own.key = ANY ($3)) AS instance_alarms
     FROM (SELECT DISTINCT id, max(n) FILTER (WHERE fits) OVER ()::int AS fitting, fits FROM sized) page
     JOIN LATERAL (
       SELECT record.event, record.participants, (
                SELECT json_agg(json_build_object('recurrence_key', recurrence_key, 'patch', patch, 'sequence', sequence,
                                                  'dtstamp', dtstamp) ORDER BY recurrence_key)
                  FROM event_overrides WHERE tenant_id = $1 AND event_id = record.id AND recurrence_key = ANY ($3)) AS overrides
         FROM event_records record WHERE record.tenant_id = $1 AND record.id = page.id OFFSET 0) shown ON true
    WHERE page.fits`,
  { onReplica: true },
);

export interface WindowQuery {
  /** Instants, RFC 3339. */
  from: string;
  to: string;
  /** `from` less the reach of events that are not wide. */
  reach: string;
  /** Maximum number of placements of each kind. */
  limit: number;
  eventId?: string;
}

/** The events of a calendar whose spans overlap a window. */
export interface WindowRead {
  calendar: CalendarContext;
  found: Omit<FoundEvent, 'calendar'>[];
  /** False means that the records have only what decides about the times, the access and the title of their instances. */
  isWhole: boolean;
}

/** The content of an event for the instances of a page. */
interface WindowContent extends Pick<EntryRow, 'instance_alarms'> {
  record: EventRecord;
}

/** Windows of calendars: the times of all instances, and the content of those of one page. */
@Injectable()
export class EventWindowRepository {
  constructor(private readonly db: Db) {}

  /** @throws ApiError 404; 422 `window_too_large` for too many dates of series */
  async window(
    ctx: RequestContext,
    calendarId: string,
    { from, to, reach, limit, eventId }: WindowQuery,
  ): Promise<WindowRead> {
    const values = [ctx.tenantId, calendarId, ctx.userId, from, to, reach, limit, eventId ?? null];
    const rows = await this.db.query(readWindow, [...values, SMALL_WINDOW, MAX_PARTS]);
    const calendar = assertVisible(contextOf(rows[0]));
    const isWhole = rows[0]?.is_whole !== false;
    if (!isWhole && rows.some((row) => !row.is_read)) throw CalendarErrors.windowTooLarge.with();
    const found = rows.flatMap((row) =>
      row.event ? [{ record: recordOf(row as EventJson), entry: row.entry }] : [],
    );
    return { calendar, found, isWhole };
  }

  /**
   * The events of the instances of a page, by id. Their overrides and alarms are those of these instances.
   * @param instances event and key
   * @returns `fitting`: how many of the instances, from the first, fit a page
   */
  async content(
    tenantId: string,
    calendarId: string,
    instances: readonly (readonly [event: string, key: string])[],
  ): Promise<{ events: Map<string, WindowContent>; fitting: number }> {
    const ids = instances.map(([id]) => id);
    const keys = instances.map(([, key]) => key);
    const values = [tenantId, ids, keys, instances.length, PAGE_BYTES, calendarId];
    const rows = await this.db.query(readContent, values);
    const events = rows.map((row) => {
      const { instance_alarms } = row;
      return [row.event.id, { record: recordOf(row), instance_alarms }] as const;
    });
    return { events: new Map(events), fitting: rows[0]?.fitting ?? instances.length };
  }
}
