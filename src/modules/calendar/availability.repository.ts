import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import type { Reader } from '../../platform/database/tx.js';
import { CalendarErrors } from './calendar.errors.js';
import type { BusySource } from './model/busy-expansion.js';
import { TIME_FIELDS } from './model/event-record.js';

/** A placement in a calendar that counts for availability. */
export interface BusyPlacement extends BusySource {
  event_id: string;
  calendar_id: string;
  owner_id: string;
}

type PlacementRow = Omit<BusyPlacement, 'responses' | 'overrides'> & {
  [key in 'responses' | 'overrides']: BusyPlacement[key] | null;
} & { is_read: boolean };

/** The columns of an instance that decide about busy times. */
const BUSY_FIELDS = [...TIME_FIELDS, 'status', 'show_as'].map((name) => `'${name}'`).join(', ');

/** The most placements of a query, and the most dates and instances with fields of their own in them. */
const MAX_PLACEMENTS = 40_000;
const MAX_PARTS = 200_000;

// Indexes calendar_entries_start and calendar_entries_wide, once for each calendar. Reads only the columns that decide
// about busy times: whole events would take ten times as long to transfer and parse. The parts of events beyond $8 are not read.
const readPlacements = workspace.statement<PlacementRow>(
  'calendar.free_busy',
  `WITH placed AS MATERIALIZED (
     SELECT calendar.id AS calendar_id, calendar.owner_id, calendar.time_zone AS zone, event.id AS event_id, entry.show_as AS own_show_as,
            event.starts, event.ends, event.time_zone, event.end_time_zone, event.exact_duration, event.rules, event.added,
            event.excluded, event.status, event.show_as, event.participants_count, event.overrides_count,
            extract(epoch FROM entry.span_start)::float8 AS span_start,
            CASE WHEN entry.span_end < 'infinity' THEN extract(epoch FROM entry.span_end)::float8 ELSE 'infinity' END AS span_end,
            sum(event.overrides_count + (pg_column_size(event.added) + pg_column_size(event.excluded)) / 16)
              OVER (ROWS UNBOUNDED PRECEDING) <= $8 AS is_read
       FROM calendars calendar
      CROSS JOIN LATERAL (
         SELECT * FROM calendar_entries
          WHERE tenant_id = $1 AND calendar_id = calendar.id AND NOT wide AND NOT hidden
            AND span_start >= $6 AND span_start < $5 AND span_end > $4
         UNION ALL
         SELECT * FROM calendar_entries
          WHERE tenant_id = $1 AND calendar_id = calendar.id AND wide AND NOT hidden
            AND span_start < $5 AND span_end > $4) entry
       JOIN calendar_events event ON event.tenant_id = $1 AND event.id = entry.event_id
      WHERE calendar.tenant_id = $1 AND event.deleted_at IS NULL
        AND ((calendar.owner_id = ANY ($2) AND calendar.affects_free_busy) OR calendar.id = ANY ($3))
      LIMIT $7)
   SELECT calendar_id, owner_id, zone, event_id, own_show_as, span_start AS "spanStart", span_end AS "spanEnd", is_read,
          starts, ends, time_zone, end_time_zone, exact_duration, rules, status, show_as,
          CASE WHEN is_read THEN added END AS added, CASE WHEN is_read THEN excluded END AS excluded,
          CASE WHEN is_read AND participants_count > 0 THEN (
            SELECT json_agg(json_build_object('recurrence_key', recurrence_key, 'response', response, 'uninvited', uninvited))
              FROM event_participants
             WHERE tenant_id = $1 AND event_id = placed.event_id AND user_id = placed.owner_id) END AS responses,
          CASE WHEN is_read AND overrides_count > 0 THEN (
            SELECT json_agg(json_build_object('recurrence_key', recurrence_key, 'patch', (
                     SELECT coalesce(json_object_agg(key, value), '{}') FROM jsonb_each(patch) WHERE key IN (${BUSY_FIELDS}))))
              FROM event_overrides WHERE tenant_id = $1 AND event_id = placed.event_id) END AS overrides
     FROM placed`,
  { onReplica: true },
);

const readZones = workspace.statement<{ user_id: string; time_zone: string }>(
  'calendar.free_busy_zones',
  `SELECT member.user_id, coalesce(zone.time_zone, calendar.time_zone, 'UTC') AS time_zone
     FROM member_profiles member
     LEFT JOIN member_locales zone ON zone.tenant_id = $1 AND zone.user_id = member.user_id
     LEFT JOIN calendars calendar
       ON calendar.tenant_id = $1 AND calendar.owner_id = member.user_id AND calendar.is_default
    WHERE member.tenant_id = $1 AND member.user_id = ANY ($2)`,
);

const TOO_MANY = 'The window contains too many events. Choose a shorter window or fewer attendees.';

/** Events of several members and calendars at once. */
@Injectable()
export class AvailabilityRepository {
  /**
   * @param users owners of calendars with `affects_free_busy`
   * @param calendars ids of further calendars
   * @param window instants, RFC 3339; `reach` is `from` less the reach of events that are not wide
   * @throws ApiError 422 `window_too_large` for too many events
   */
  async placements(
    reader: Reader,
    tenantId: string,
    users: readonly string[],
    calendars: readonly string[],
    { from, to, reach }: { from: string; to: string; reach: string },
  ): Promise<BusyPlacement[]> {
    const limits = [MAX_PLACEMENTS + 1, MAX_PARTS];
    const rows = await reader.query(readPlacements, [tenantId, users, calendars, from, to, reach, ...limits]);
    if (rows.length > MAX_PLACEMENTS || rows.some((row) => !row.is_read))
      throw CalendarErrors.windowTooLarge.with({ message: TOO_MANY });
    // The rows are changed in place: copies of thousands of rows would double the memory of a request.
    for (const row of rows) {
      row.responses ??= [];
      row.overrides ??= [];
    }
    return rows as BusyPlacement[];
  }

  /** The time zone of each member: the zone of the profile, else of the default calendar. */
  async zones(reader: Reader, tenantId: string, users: readonly string[]): Promise<Map<string, string>> {
    const rows = await reader.query(readZones, [tenantId, users]);
    return new Map(rows.map((row) => [row.user_id, row.time_zone]));
  }
}
