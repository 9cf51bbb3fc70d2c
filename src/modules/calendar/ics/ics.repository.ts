import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import type { CalendarRole, Reminder } from '../calendar.entity.js';
import { type CalendarContext, type EventJson, type EventRecord, recordOf } from '../model/event-record.js';

/** An event of a calendar with the settings of its placement. */
export interface PlacedEvent {
  record: EventRecord;
  reminders: Reminder[] | null;
}

export interface FeedRow {
  id: string;
  calendar_id: string;
  user_id: string;
  details: 'full' | 'busy';
  created_at: string;
}

/** A feed with its calendar, as its creator may read it now. */
export interface OpenFeed {
  feed: FeedRow;
  calendar: CalendarContext;
}

// The primary key of calendar_entries.
const readPage = workspace.statement<EventJson & { id: string; reminders: Reminder[] | null }>(
  'calendar.export_page',
  `SELECT record.id, record.event, record.participants, record.overrides, entry.reminders
     FROM calendar_entries entry
     JOIN event_records record ON record.tenant_id = $1 AND record.id = entry.event_id
    WHERE entry.tenant_id = $1 AND entry.calendar_id = $2 AND NOT entry.hidden
      AND ($3::uuid IS NULL OR entry.event_id > $3)
    ORDER BY entry.event_id LIMIT $4`,
);

const readZones = workspace.statement<{ zone: string; first_year: number }>(
  'calendar.export_zones',
  `SELECT named.zone, min(left(event.starts, 4))::int AS first_year
     FROM calendar_entries entry
     JOIN calendar_events event ON event.tenant_id = $1 AND event.id = entry.event_id
     LEFT JOIN event_overrides override ON override.tenant_id = $1 AND override.event_id = event.id
    CROSS JOIN LATERAL (VALUES (event.time_zone), (event.end_time_zone), (override.patch->>'time_zone'),
                               (override.patch->>'end_time_zone')) AS named (zone)
    WHERE entry.tenant_id = $1 AND entry.calendar_id = $2 AND NOT entry.hidden AND named.zone IS NOT NULL
    GROUP BY named.zone ORDER BY named.zone`,
);

const insertFeed = workspace.statement<{ feed: FeedRow }>(
  'calendar.insert_feed',
  `INSERT INTO calendar_feeds (tenant_id, id, calendar_id, user_id, token_hash, details, created_at)
   SELECT $1, $2, calendar.id, $4, $5, $6, now() FROM calendars calendar
    WHERE calendar.tenant_id = $1 AND calendar.id = $3 FOR KEY SHARE
   RETURNING json_build_object('id', id, 'calendar_id', calendar_id, 'user_id', user_id, 'details', details,
                               'created_at', created_at) AS feed`,
);

const FEED = `json_build_object('id', feed.id, 'calendar_id', feed.calendar_id, 'user_id', feed.user_id,
  'details', feed.details, 'created_at', feed.created_at) AS feed`;

const listFeeds = workspace.statement<{ feed: FeedRow }>(
  'calendar.list_feeds',
  `SELECT ${FEED} FROM calendar_feeds feed
    WHERE feed.tenant_id = $1 AND feed.calendar_id = $2 AND feed.user_id = $3 ORDER BY feed.id`,
);

const lockFeeds = workspace.lock('calendar.lock_feeds', 'calendar feeds', 3);

const deleteFeed = workspace.statement<{ feed: FeedRow }>(
  'calendar.delete_feed',
  `DELETE FROM calendar_feeds feed
    WHERE feed.tenant_id = $1 AND feed.calendar_id = $2 AND feed.user_id = $3 AND feed.id = $4 RETURNING ${FEED}`,
);

const openFeed = workspace.statement<{
  feed: FeedRow;
  calendar: Omit<CalendarContext, 'role'>;
  role: CalendarRole | null;
}>(
  'calendar.open_feed',
  `SELECT ${FEED}, row_to_json(calendar) AS calendar,
          calendar_role_of($1, calendar.id, calendar.owner_id, feed.user_id) AS role
     FROM calendar_feeds feed
     JOIN calendar_contexts calendar ON calendar.tenant_id = $1 AND calendar.id = feed.calendar_id
     JOIN member_profiles member
       ON member.tenant_id = $1 AND member.user_id = feed.user_id AND member.status = 'active'
    WHERE feed.tenant_id = $1 AND feed.token_hash = $2`,
);

/** Whole calendars, and the secret addresses at which they are published. */
@Injectable()
export class IcsRepository {
  constructor(private readonly db: Db) {}

  /** The events of a calendar after an id, in the order of their ids. */
  async page(
    tenantId: string,
    calendarId: string,
    after: string | null,
    limit: number,
  ): Promise<PlacedEvent[]> {
    const rows = await this.db.query(readPage, [tenantId, calendarId, after, limit]);
    return rows.map((row) => ({ record: recordOf(row), reminders: row.reminders }));
  }

  /** The zones of the events of a calendar, with the first year in which each is used. */
  async zones(tenantId: string, calendarId: string): Promise<{ zone: string; first_year: number }[]> {
    return this.db.query(readZones, [tenantId, calendarId]);
  }

  /** Null when the calendar is being deleted. */
  async insert(
    tx: Tx,
    ctx: RequestContext,
    feed: { id: string; calendarId: string; tokenHash: Buffer; details: FeedRow['details'] },
  ): Promise<FeedRow | null> {
    const values = [ctx.tenantId, feed.id, feed.calendarId, ctx.userId, feed.tokenHash, feed.details];
    return (await tx.query(insertFeed, values))[0]?.feed ?? null;
  }

  /** Serialises the creation of the caller's feeds of a calendar, until the end of the transaction. */
  async lockFeeds(tx: Tx, ctx: RequestContext, calendarId: string): Promise<void> {
    await tx.query(lockFeeds, [ctx.tenantId, calendarId, ctx.userId]);
  }

  /** The feeds that the caller made of a calendar, oldest first. */
  async feeds(reader: Reader, ctx: RequestContext, calendarId: string): Promise<FeedRow[]> {
    const rows = await reader.query(listFeeds, [ctx.tenantId, calendarId, ctx.userId]);
    return rows.map(({ feed }) => feed);
  }

  async delete(tx: Tx, ctx: RequestContext, calendarId: string, id: string): Promise<FeedRow | null> {
    const [row] = await tx.query(deleteFeed, [ctx.tenantId, calendarId, ctx.userId, id]);
    return row?.feed ?? null;
  }

  /** The feed with this token; null for an unknown one, and where its creator no longer reads the calendar. */
  async open(tenantId: string, tokenHash: Buffer): Promise<OpenFeed | null> {
    const [row] = await this.db.query(openFeed, [tenantId, tokenHash]);
    return row?.role ? { feed: row.feed, calendar: { ...row.calendar, role: row.role } } : null;
  }
}
