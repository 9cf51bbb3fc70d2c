import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import type { Reader } from '../../platform/database/tx.js';
import type { BusyEvent } from './model/busy-times.js';

/** A placement in a calendar that counts for availability. */
export interface BusyPlacement extends BusyEvent {
  event_id: string;
  calendar_id: string;
  owner_id: string;
}

type PlacementRow = Omit<BusyPlacement, 'responses' | 'overrides'> & {
  [key in 'responses' | 'overrides']: BusyPlacement[key] | null;
};

// Indexes calendar_entries_start and calendar_entries_wide, once for each calendar. Reads only the columns that decide
// about busy times: whole events would take ten times as long to transfer and parse.
const readPlacements = workspace.statement<PlacementRow>(
  'calendar.free_busy',
  `SELECT calendar.id AS calendar_id, calendar.owner_id, event.id AS event_id, entry.show_as AS own_show_as,
          event.starts, event.ends, event.time_zone, event.end_time_zone, event.exact_duration, event.rules, event.added,
          event.excluded, event.status, event.show_as,
          CASE WHEN event.participants_count > 0 THEN (
            SELECT json_agg(json_build_object('recurrence_key', recurrence_key, 'response', response, 'uninvited', uninvited))
              FROM event_participants
             WHERE tenant_id = $1 AND event_id = event.id AND user_id = calendar.owner_id) END AS responses,
          CASE WHEN event.overrides_count > 0 THEN (
            SELECT json_agg(json_build_object('recurrence_key', recurrence_key, 'patch', patch))
              FROM event_overrides WHERE tenant_id = $1 AND event_id = event.id) END AS overrides
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
      AND ((calendar.owner_id = ANY ($2) AND calendar.affects_free_busy) OR calendar.id = ANY ($3))`,
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

/** Events of several members and calendars at once. */
@Injectable()
export class AvailabilityRepository {
  /**
   * @param users owners of calendars with `affects_free_busy`
   * @param calendars ids of further calendars
   * @param window instants, RFC 3339; `reach` is `from` less the reach of events that are not wide
   */
  async placements(
    reader: Reader,
    tenantId: string,
    users: readonly string[],
    calendars: readonly string[],
    { from, to, reach }: { from: string; to: string; reach: string },
  ): Promise<BusyPlacement[]> {
    const rows = await reader.query(readPlacements, [tenantId, users, calendars, from, to, reach]);
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
