import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import { recordIn } from '../model/attendance.js';
import { permissionsOf } from '../model/event-policy.js';
import { type EventJson, type EventRecord, recordOf } from '../model/event-record.js';

/** Maximum number of events that one query reads. */
const MAX_EVENTS = 200;

interface PlacedJson extends EventJson {
  calendar_id: string;
  owner_id: string;
}

// Placements whose details the caller sees; free_busy calendars and private events of others are left out.
const READABLE = `
     JOIN calendar_events event ON event.tenant_id = $1 AND event.id = entry.event_id AND event.deleted_at IS NULL
     JOIN calendars calendar ON calendar.tenant_id = $1 AND calendar.id = entry.calendar_id
    WHERE entry.tenant_id = $1 AND NOT entry.hidden AND event.status <> 'cancelled'
      AND (event.visibility <> 'private' OR calendar.owner_id = $2 OR event.organizer_id = $2
           OR EXISTS (SELECT FROM event_participants own
                       WHERE own.tenant_id = $1 AND own.event_id = event.id AND own.user_id = $2))`;

const OWN = `SELECT DISTINCT access.calendar_id FROM calendar_access access
              WHERE access.tenant_id = $1 AND access.user_id = $2 AND access.role >= 'reader'`;

/** An event with the calendar in which the caller sees it, own calendars first. */
const PLACED = `entry.event_id, calendar.id AS calendar_id, calendar.owner_id`;
const OWN_FIRST = `calendar.owner_id = $2 DESC, calendar.id`;

const RECORDS = `SELECT found.calendar_id, found.owner_id, record.event, record.participants, record.overrides
     FROM found JOIN event_records record ON record.tenant_id = $1 AND record.id = found.event_id`;

// Index calendar_entries_start, once for each calendar. $5: the window less the reach of events that are not wide.
const inWindow = workspace.statement<PlacedJson>(
  'calendar.related_in_window',
  `WITH found AS (
     SELECT DISTINCT ON (entry.event_id) ${PLACED} FROM (${OWN}) own
      CROSS JOIN LATERAL (
        (SELECT * FROM calendar_entries placed
          WHERE placed.tenant_id = $1 AND placed.calendar_id = own.calendar_id AND NOT placed.wide
            AND placed.span_start >= $5 AND placed.span_start < $4 AND placed.span_end > $3 LIMIT ${MAX_EVENTS})
        UNION ALL
        (SELECT * FROM calendar_entries placed
          WHERE placed.tenant_id = $1 AND placed.calendar_id = own.calendar_id AND placed.wide
            AND placed.span_start < $4 AND placed.span_end > $3 LIMIT ${MAX_EVENTS})) entry
      ${READABLE} ORDER BY entry.event_id, ${OWN_FIRST} LIMIT ${MAX_EVENTS})
   ${RECORDS}`,
);

// Index event_participants_email.
const withAttendees = workspace.statement<PlacedJson>(
  'calendar.related_with_attendees',
  `WITH own AS MATERIALIZED (${OWN}),
   shared AS (
     SELECT DISTINCT participant.event_id FROM event_participants participant
      WHERE participant.tenant_id = $1 AND participant.email = ANY ($3)
      ORDER BY participant.event_id DESC LIMIT 1000),
   found AS (
     SELECT DISTINCT ON (entry.event_id) ${PLACED} FROM shared
       JOIN calendar_entries entry ON entry.tenant_id = $1 AND entry.event_id = shared.event_id
        AND entry.calendar_id IN (SELECT calendar_id FROM own)
      ${READABLE.replace('WHERE entry.tenant_id = $1 AND', 'WHERE')}
      ORDER BY entry.event_id DESC, ${OWN_FIRST} LIMIT ${MAX_EVENTS})
   ${RECORDS}`,
);

// Index calendar_entries_event. The calendar with the highest role of the caller.
const placement = workspace.statement<{ calendar_id: string }>(
  'calendar.related_placement',
  `SELECT entry.calendar_id FROM calendar_entries entry
     JOIN calendar_access access
       ON access.tenant_id = $1 AND access.calendar_id = entry.calendar_id AND access.user_id = $2
    WHERE entry.tenant_id = $1 AND entry.event_id = $3 AND NOT entry.hidden
    ORDER BY access.role DESC, entry.calendar_id LIMIT 1`,
);

/** The event as its calendar receives it; empty if the user does not see its details in this calendar. */
function receivedBy(userId: string, row: PlacedJson): EventRecord[] {
  const calendar = { id: row.calendar_id, owner_id: row.owner_id, role: 'reader' as const };
  const record = recordIn(recordOf(row), calendar);
  return permissionsOf(record, calendar, userId).see_details ? [record] : [];
}

/** Events by time and by attendee. */
@Injectable()
export class RelatedRepository {
  constructor(private readonly db: Db) {}

  /** @param window RFC 3339; `reach` is `from` less the reach of events that are not wide */
  async inWindow(
    { tenantId, userId }: RequestContext,
    { from, to, reach }: { from: string; to: string; reach: string },
  ): Promise<EventRecord[]> {
    const rows = await this.db.query(inWindow, [tenantId, userId, from, to, reach]);
    return rows.flatMap((row) => receivedBy(userId, row));
  }

  /** @param emails lower case */
  async withAttendees(
    { tenantId, userId }: RequestContext,
    emails: readonly string[],
  ): Promise<EventRecord[]> {
    const rows = await this.db.query(withAttendees, [tenantId, userId, emails]);
    return rows.flatMap((row) => receivedBy(userId, row));
  }

  /** The calendar through which the caller reads an event, or undefined. */
  async calendarOf({ tenantId, userId }: RequestContext, eventId: string): Promise<string | undefined> {
    return (await this.db.query(placement, [tenantId, userId, eventId]))[0]?.calendar_id;
  }
}
