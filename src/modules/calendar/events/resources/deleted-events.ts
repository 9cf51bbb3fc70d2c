import { Injectable } from '@nestjs/common';
import { workspace } from '../../../../platform/database/statement.js';
import type { Tx } from '../../../../platform/database/tx.js';
import { type EventJson, type EventRecord, type OwnedEntry, recordOf } from '../../model/event-record.js';

/** An event that its organizer has deleted, with its placements in the calendars of attendees. */
export interface DeletedEvent {
  record: EventRecord;
  entries: OwnedEntry[];
}

// Index calendar_events_uid.
const lock = workspace.statement<{ id: string }>(
  'calendar.lock_deleted_event',
  `SELECT id FROM calendar_events
    WHERE tenant_id = $1 AND origin_calendar_id = $2 AND uid = $3 AND origin <> 'external' AND deleted_at IS NOT NULL
    ORDER BY deleted_at DESC LIMIT 1 FOR NO KEY UPDATE`,
);

const read = workspace.statement<EventJson & { entries: OwnedEntry[] }>(
  'calendar.deleted_event',
  `SELECT record.event, record.participants, record.overrides, coalesce((
            SELECT json_agg(to_jsonb(entry) || jsonb_build_object('owner_id', calendar.owner_id))
              FROM calendar_entries entry JOIN calendars calendar ON calendar.tenant_id = $1 AND calendar.id = entry.calendar_id
             WHERE entry.tenant_id = $1 AND entry.event_id = $2), '[]') AS entries
     FROM event_records record WHERE record.tenant_id = $1 AND record.id = $2`,
);

/** Events that organizers have deleted and that are not purged yet. */
@Injectable()
export class DeletedEvents {
  /** Locks the latest one of a UID. @returns its id; null without one */
  async lock(tx: Tx, tenantId: string, calendarId: string, uid: string): Promise<string | null> {
    return (await tx.query(lock, [tenantId, calendarId, uid]))[0]?.id ?? null;
  }

  async read(tx: Tx, tenantId: string, id: string): Promise<DeletedEvent> {
    const [row] = await tx.query(read, [tenantId, id]);
    const { entries, ...json } = row!;
    return { record: recordOf(json), entries };
  }
}
