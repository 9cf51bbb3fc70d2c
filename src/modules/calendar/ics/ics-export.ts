import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import {
  type Component,
  component,
  escapeText,
  formatComponent,
  openComponent,
  property,
  vtimezoneText,
} from '../../../lib/icalendar/index.js';
import { fitsPage, jsonBytes, PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { CalendarFeed, InstanceAlarms, Reminder } from '../calendar.schema.js';
import { contextOf, type ContextRow, EVENT_BYTES, OVERRIDES_BYTES } from '../events.repository.js';
import { recordIn } from '../model/attendance.js';
import { ownAlarms } from '../model/dependent-properties.js';
import { permissionsOf } from '../model/event-policy.js';
import {
  type CalendarContext,
  type EventJson,
  type EventRecord,
  recordOf,
  type Visibility,
} from '../model/event-record.js';
import { PRODUCT } from '../model/ics/product.js';
import { colorProperties, veventsOf } from '../model/vevent.js';

/** An event of a calendar with the settings of its placement. */
export interface PlacedEvent {
  record: EventRecord;
  reminders: Reminder[] | null;
  /** VALARMs of an attendee that are no reminders. */
  alarms: Component[] | null;
  /** The alarms of instances where they differ, by key. */
  instance_alarms: Record<string, InstanceAlarms> | null;
}

/** A feed with its calendar, as its creator may read it now. */
export interface OpenFeed {
  feed: Pick<CalendarFeed, 'id' | 'user_id' | 'details'>;
  calendar: CalendarContext;
}

// The primary key of calendar_entries. Events beyond the bytes of the page are not read.
const readPage = workspace.statement<
  { [key in keyof EventJson]: EventJson[key] | null } & Omit<PlacedEvent, 'record'> & { fits: boolean }
>(
  'calendar.export_page',
  `WITH page AS MATERIALIZED (
     SELECT entry.event_id, entry.reminders, entry.alarms, entry.instance_alarms,
            ${EVENT_BYTES} + ${OVERRIDES_BYTES} + ${jsonBytes('entry.reminders')} + ${jsonBytes('entry.alarms')}
            + ${jsonBytes('entry.instance_alarms')} AS bytes
       FROM calendar_entries entry
       JOIN calendar_events event ON event.tenant_id = $1 AND event.id = entry.event_id
      WHERE entry.tenant_id = $1 AND entry.calendar_id = $2 AND NOT entry.hidden
        AND ($3::uuid IS NULL OR entry.event_id > $3)
      ORDER BY entry.event_id LIMIT $4),
   sized AS MATERIALIZED (
     SELECT event_id, reminders, alarms, instance_alarms, ${fitsPage('bytes', '$4', '$5')} AS fits
       FROM page WINDOW page_order AS (ORDER BY event_id ROWS UNBOUNDED PRECEDING))
   SELECT record.event, record.participants, record.overrides, sized.reminders, sized.alarms,
          sized.instance_alarms, sized.fits
     FROM sized
     LEFT JOIN LATERAL (
       SELECT shown.event, shown.participants, shown.overrides FROM event_records shown
        WHERE sized.fits AND shown.tenant_id = $1 AND shown.id = sized.event_id OFFSET 0) record ON true
    ORDER BY sized.event_id`,
  { onReplica: true },
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

const openFeed = workspace.statement<ContextRow & { feed: OpenFeed['feed'] }>(
  'calendar.open_feed',
  `SELECT json_build_object('id', feed.id, 'user_id', feed.user_id, 'details', feed.details) AS feed,
          row_to_json(calendar) AS calendar, calendar_role_of($1, calendar.id, calendar.owner_id, feed.user_id) AS role,
          NULL AS locale
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

  /**
   * The events of a calendar after an id, in the order of their ids: as many as fit a page.
   * @returns `hasMore`: further events follow
   */
  async page(
    tenantId: string,
    calendarId: string,
    after: string | null,
    limit: number,
  ): Promise<{ events: PlacedEvent[]; hasMore: boolean }> {
    const rows = await this.db.query(readPage, [tenantId, calendarId, after, limit, PAGE_BYTES]);
    const events = rows.flatMap((row) => (row.event ? [{ ...row, record: recordOf(row as EventJson) }] : []));
    return { events, hasMore: rows.length === limit || rows.some(({ fits }) => !fits) };
  }

  /** The zones of the events of a calendar, with the first year in which each is used. */
  async zones(tenantId: string, calendarId: string): Promise<{ zone: string; first_year: number }[]> {
    return this.db.query(readZones, [tenantId, calendarId]);
  }

  /** The feed with this token; null for an unknown one, and where its creator no longer reads the calendar. */
  async open(tenantId: string, tokenHash: Buffer): Promise<OpenFeed | null> {
    const [row] = await this.db.query(openFeed, [tenantId, tokenHash]);
    const calendar = contextOf(row);
    return row && calendar ? { feed: row.feed, calendar } : null;
  }
}

export const ICS_TYPE = 'text/calendar; charset=utf-8';
/** Events that one query reads. */
const PAGE = 200;

/** Writes whole calendars as iCalendar. */
@Injectable()
export class IcsExport {
  constructor(private readonly repository: IcsRepository) {}

  /**
   * A calendar as its reader sees it: private events of others are `Busy` without details.
   * @param details busy: no details of any event
   */
  stream(
    tenantId: string,
    userId: string,
    calendar: CalendarContext,
    details: 'full' | 'busy' = 'full',
  ): Readable {
    return Readable.from(this.parts(tenantId, userId, calendar, details));
  }

  private async *parts(
    tenantId: string,
    userId: string,
    calendar: CalendarContext,
    details: 'full' | 'busy',
  ): AsyncGenerator<string> {
    yield heading(calendar);
    for (const { zone, first_year: year } of await this.repository.zones(tenantId, calendar.id))
      if (zone !== 'UTC') yield vtimezoneText(zone, year);
    let after: string | null = null;
    for (;;) {
      const { events, hasMore } = await this.repository.page(tenantId, calendar.id, after, PAGE);
      let text = '';
      for (const { record: event, reminders, alarms, instance_alarms: instanceAlarms } of events) {
        after = event.id;
        const record = recordIn(event, calendar);
        const sees = (visibility: Visibility): boolean =>
          details === 'full' &&
          permissionsOf(record, calendar, userId, { key: null, visibility }).see_details;
        const view = {
          seesDetails: sees(record.visibility),
          seesPrivate: sees('private'),
          reminders: reminders ?? [],
          alarms: ownAlarms(event, calendar.id, alarms),
          instanceAlarms,
          ownerEmail: calendar.owner_email,
        };
        for (const vevent of veventsOf(record, view)) text += formatComponent(vevent);
      }
      if (text) yield text;
      if (!hasMore) break;
    }
    yield 'END:VCALENDAR\r\n';
  }
}

/** BEGIN:VCALENDAR and the properties of the calendar. */
function heading({ name, time_zone: zone, color }: CalendarContext): string {
  const calendar = component('VCALENDAR', [
    property('VERSION', '2.0'),
    property('PRODID', PRODUCT),
    property('CALSCALE', 'GREGORIAN'),
    property('METHOD', 'PUBLISH'),
    property('NAME', escapeText(name)),
    property('X-WR-CALNAME', escapeText(name)),
    property('X-WR-TIMEZONE', zone),
    ...colorProperties(color),
    property('REFRESH-INTERVAL', 'PT1H', { VALUE: 'DURATION' }),
  ]);
  return openComponent(calendar);
}
