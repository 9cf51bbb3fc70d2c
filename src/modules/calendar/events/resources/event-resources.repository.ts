import { Injectable } from '@nestjs/common';
import { Db } from '../../../../platform/database/db.js';
import type { Component } from '../../../../lib/icalendar/index.js';
import { workspace } from '../../../../platform/database/statement.js';
import type { Reader } from '../../../../platform/database/tx.js';
import { fitsPage, jsonBytes, PAGE_BYTES } from '../../../../platform/bounded-pages/page-bytes.js';
import type { InstanceAlarms, PlacedReminder } from '../../calendar.schema.js';
import { EVENT_BYTES, OVERRIDES_BYTES } from '../../events.repository.js';
import { type EventJson, type EventRecord, recordOf } from '../../model/event-record.js';

/** The placement of an event in a calendar, without its content. */
export interface EventName {
  id: string;
  uid: string;
  /** The number of its last change in the calendar. */
  version: number;
  /** The number of its last change that is no response of others; null: it has no attendees. */
  tag: number | null;
}

export interface PlacedRecord extends EventName {
  record: EventRecord;
  /** Null means those of the calendar. */
  reminders: PlacedReminder[] | null;
  /** VALARMs of an attendee that are no reminders. */
  alarms: Component[] | null;
  /** The alarms of instances where they differ, by key. */
  instance_alarms: Record<string, InstanceAlarms> | null;
}

/** A change of a calendar. `isGone`: the calendar no longer contains the event. */
export interface NamedChange extends EventName {
  isGone: boolean;
}

/** Instants, RFC 3339; null: unbounded. */
export interface SpanWindow {
  from: string | null;
  to: string | null;
}

type ContentRow = EventName &
  Pick<PlacedRecord, 'reminders' | 'alarms' | 'instance_alarms'> & { fits: boolean } & {
    [key in keyof EventJson]: EventJson[key] | null;
  };

const TAG = `CASE WHEN schedule_seq IS NULL THEN change_seq ELSE nullif(schedule_seq, 0) END::float8 AS tag`;

// $3 limit, $4 bytes. Content beyond the bytes of the page is not read.
const content = (name: string, where: string) =>
  workspace.statement<ContentRow>(
    `calendar.${name}`,
    `WITH page AS MATERIALIZED (
       SELECT entry.event_id, entry.uid, entry.change_seq, entry.schedule_seq, entry.reminders, entry.alarms,
              entry.instance_alarms,
              ${EVENT_BYTES} + ${OVERRIDES_BYTES} + ${jsonBytes('entry.reminders')} + ${jsonBytes('entry.alarms')}
                + ${jsonBytes('entry.instance_alarms')} AS bytes
         FROM calendar_entries entry
         JOIN calendar_events event ON event.tenant_id = $1 AND event.id = entry.event_id
        WHERE entry.tenant_id = $1 AND entry.calendar_id = $2 AND NOT entry.hidden AND ${where}
        ORDER BY entry.event_id LIMIT $3),
     sized AS MATERIALIZED (
       SELECT page.*, ${fitsPage('bytes', '$3', '$4')} AS fits
         FROM page WINDOW page_order AS (ORDER BY event_id ROWS UNBOUNDED PRECEDING))
     SELECT sized.event_id AS id, sized.uid, sized.change_seq::float8 AS version, ${TAG}, sized.reminders, sized.alarms,
            sized.instance_alarms, sized.fits,
            record.event, record.participants, record.overrides
       FROM sized
       LEFT JOIN LATERAL (
         SELECT shown.event, shown.participants, shown.overrides FROM event_records shown
          WHERE sized.fits AND shown.tenant_id = $1 AND shown.id = sized.event_id OFFSET 0) record ON true
      ORDER BY sized.event_id`,
  );

const readUids = content('resources_of_uids', 'entry.uid = ANY ($5::text[])');
// The primary key of calendar_entries.
const readPage = content(
  'resource_page',
  `($5::uuid IS NULL OR entry.event_id > $5) AND ($6::timestamptz IS NULL OR entry.span_end > $6)
   AND ($7::timestamptz IS NULL OR entry.span_start < $7)`,
);

const readNames = workspace.statement<EventName>(
  'calendar.resource_names',
  `SELECT event_id AS id, uid, change_seq::float8 AS version, ${TAG} FROM calendar_entries
    WHERE tenant_id = $1 AND calendar_id = $2 AND NOT hidden AND ($3::uuid IS NULL OR event_id > $3)
    ORDER BY event_id LIMIT $4`,
);

const readVersion = workspace.statement<EventName>(
  'calendar.resource_version',
  `SELECT event_id AS id, uid, change_seq::float8 AS version, ${TAG} FROM calendar_entries
    WHERE tenant_id = $1 AND calendar_id = $2 AND uid = $3 AND NOT hidden`,
);

// Indexes calendar_entries_changes and entry_tombstones_changes. $4: removals up to this number do not concern the client.
const readChanges = workspace.statement<EventName & { is_gone: boolean }>(
  'calendar.resource_changes',
  `(SELECT event_id AS id, uid, change_seq::float8 AS version, ${TAG}, hidden AS is_gone FROM calendar_entries
     WHERE tenant_id = $1 AND calendar_id = $2 AND change_seq > $3 AND NOT (hidden AND change_seq <= $4)
     ORDER BY change_seq LIMIT $5)
   UNION ALL
   (SELECT event_id, uid, change_seq::float8, NULL::float8, true FROM entry_tombstones
     WHERE tenant_id = $1 AND calendar_id = $2 AND change_seq > greatest($3, $4)
     ORDER BY change_seq LIMIT $5)
   ORDER BY version LIMIT $5`,
);

/** The events of a calendar by UID and number of their last change. The caller has checked the access. */
@Injectable()
export class EventResourcesRepository {
  constructor(private readonly db: Db) {}

  /** Names after an id, in the order of their ids. @param after null: from the start */
  names(tenantId: string, calendarId: string, after: string | null, limit: number): Promise<EventName[]> {
    return this.db.query(readNames, [tenantId, calendarId, after, limit]);
  }

  /** Null means that the calendar has no such event. */
  async version(
    reader: Reader,
    tenantId: string,
    calendarId: string,
    uid: string,
  ): Promise<EventName | null> {
    return (await reader.query(readVersion, [tenantId, calendarId, uid]))[0] ?? null;
  }

  /**
   * Events with these UIDs, as many as fit a page.
   * @returns `missing`: UIDs of existing events that did not fit
   */
  async ofUids(
    tenantId: string,
    calendarId: string,
    uids: readonly string[],
  ): Promise<{ found: PlacedRecord[]; missing: string[] }> {
    const rows = await this.db.query(readUids, [tenantId, calendarId, uids.length, PAGE_BYTES, uids]);
    return { found: placed(rows), missing: rows.flatMap(({ fits, uid }) => (fits ? [] : [uid])) };
  }

  /** Events after an id whose spans overlap a window. @returns `next`: the id for the next page; null on the last one */
  async page(
    tenantId: string,
    calendarId: string,
    after: string | null,
    { from, to }: SpanWindow,
    limit: number,
  ): Promise<{ found: PlacedRecord[]; next: string | null }> {
    const rows = await this.db.query(readPage, [tenantId, calendarId, limit, PAGE_BYTES, after, from, to]);
    const found = placed(rows);
    const hasMore = rows.length === limit || found.length < rows.length;
    return { found, next: hasMore ? (found.at(-1)?.id ?? null) : null };
  }

  /** Changes after a number, in their order. @param since removals up to this number are left out */
  async changes(
    tenantId: string,
    calendarId: string,
    { seq, since }: { seq: number; since: number },
    limit: number,
  ): Promise<NamedChange[]> {
    const rows = await this.db.query(readChanges, [tenantId, calendarId, seq, since, limit]);
    return rows.map(({ is_gone: isGone, ...name }) => ({ ...name, isGone }));
  }
}

const placed = (rows: readonly ContentRow[]): PlacedRecord[] =>
  rows.flatMap((row) => {
    const { event, participants: _participants, overrides: _overrides, fits: _fits, ...placed } = row;
    return event ? [{ ...placed, record: recordOf(row as EventJson) }] : [];
  });
