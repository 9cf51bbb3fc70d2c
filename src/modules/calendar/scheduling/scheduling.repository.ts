import { Injectable } from '@nestjs/common';
import { boundedPage, jsonBytes, PAGE_BYTES, textBytes } from '../../../platform/bounded-pages/page-bytes.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { deletion, type Sweep } from '../../../platform/jobs/sweep.js';
import { type EventJson, type EventRecord, type OwnedEntry, recordOf } from '../model/event-record.js';
import type { FullSchedulingMessageResponse, SchedulingMessageResponse } from './scheduling.dto.js';
import type { DeliveryStatus, SchedulingDelivery, SchedulingMessage } from './scheduling.entity.js';
import type { CalendarEvent } from '../calendar.schema.js';

/** A message to store. */
export interface NewMessage extends Pick<
  SchedulingMessage,
  | 'id'
  | 'calendar_id'
  | 'user_id'
  | 'event_id'
  | 'direction'
  | 'method'
  | 'uid'
  | 'recurrence_key'
  | 'sequence'
  | 'sender'
  | 'result'
  | 'reason'
  | 'ics'
  | 'dedupe_key'
> {
  dtstamp: string | null;
  parsed: object | null;
  /** Subject and texts of a message to send. */
  mail: object | null;
}

/** A message of a list; beyond the bytes of the page it has only its id. */
export type ListedSchedulingMessage = SchedulingMessageResponse & { fits: boolean };

/** A delivery to attempt now. */
export interface DueDelivery extends Pick<
  SchedulingDelivery,
  'tenant_id' | 'message_id' | 'recipient' | 'attempts'
> {
  /** An earlier message of the sender about the event to this recipient is not delivered. */
  waits: boolean;
  user_id: string;
  event_id: string | null;
  method: string;
  ics: string;
  mail: { subject: string; text: string; html: string; from_name: string };
  created_at: Date;
}

/** An event with all its placements. */
export interface PlacedRecord {
  record: EventRecord;
  entries: OwnedEntry[];
}

const lockUid = workspace.statement<never>(
  'scheduling.lock_uid',
  `SELECT pg_advisory_xact_lock(hashtextextended('scheduling ' || $1::uuid || ' ' || $2::text, 0))`,
);

// Index calendar_events_uid.
const lockEvents = workspace.statement<
  Pick<CalendarEvent, 'id' | 'origin' | 'organizer_id' | 'origin_calendar_id'>
>(
  'scheduling.lock_events',
  `SELECT id, origin, organizer_id, origin_calendar_id FROM calendar_events
    WHERE tenant_id = $1 AND uid = $2 ORDER BY deleted_at IS NOT NULL, id FOR NO KEY UPDATE`,
);

const readPlaced = workspace.statement<EventJson & { entries: OwnedEntry[] | null }>(
  'scheduling.event',
  `SELECT record.event, record.participants, record.overrides,
          (SELECT json_agg(json_build_object(
                    'calendar_id', entry.calendar_id, 'event_id', entry.event_id, 'uid', entry.uid,
                    'span_start', entry.span_start, 'span_end', entry.span_end, 'wide', entry.wide,
                    'response', entry.response, 'show_as', entry.show_as, 'color', entry.color,
                    'reminders', entry.reminders, 'instance_alarms', entry.instance_alarms,
                    'hidden', entry.hidden, 'owner_id', owned.owner_id))
             FROM calendar_entries entry
             JOIN calendars owned ON owned.tenant_id = entry.tenant_id AND owned.id = entry.calendar_id
            WHERE entry.tenant_id = $1 AND entry.event_id = $2) AS entries
     FROM event_records record WHERE record.tenant_id = $1 AND record.id = $2`,
);

const localeOf = workspace.statement<{ locale: string | null }>(
  'scheduling.locale',
  `SELECT locale FROM member_locales WHERE tenant_id = $1 AND user_id = $2`,
);

const insert = workspace.statement<Pick<SchedulingMessage, 'id'>>(
  'scheduling.insert',
  `INSERT INTO scheduling_messages (tenant_id, id, calendar_id, user_id, event_id, direction, method, uid, recurrence_key,
          sequence, dtstamp, sender, result, reason, parsed, ics, mail, dedupe_key, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, clock_timestamp())
   ON CONFLICT (tenant_id, dedupe_key) DO NOTHING RETURNING id`,
);

const insertDeliveries = workspace.statement<never>(
  'scheduling.insert_deliveries',
  `INSERT INTO scheduling_deliveries (tenant_id, message_id, recipient, status, error, attempts, due_at, event_id, user_id)
   SELECT $1, $2, recipient, $4, $5, 0, clock_timestamp(), $6, $7 FROM unnest($3::text[]) AS recipient ON CONFLICT DO NOTHING`,
);

/** The fields of a message as the response shows them. */
const CONTENT = `message.direction, message.method, message.uid, message.event_id,
  replace(nullif(message.recurrence_key, ''), '>', '') AS recurrence_id, message.sequence, rfc3339(message.dtstamp) AS dtstamp,
  message.sender AS "from",
  (SELECT coalesce(json_agg(json_build_object('email', delivery.recipient, 'channel', 'mail', 'status', delivery.status,
                                              'error', delivery.error, 'sent_at', rfc3339(delivery.sent_at))
                            ORDER BY delivery.recipient), '[]')
     FROM scheduling_deliveries delivery
    WHERE delivery.tenant_id = message.tenant_id AND delivery.message_id = message.id) AS recipients,
  message.result, message.reason, message.parsed, rfc3339(message.created_at) AS created_at`;
const MESSAGE = `message.id, ${CONTENT}`;

const find = workspace.statement<FullSchedulingMessageResponse>(
  'scheduling.find',
  `SELECT ${MESSAGE}, message.ics FROM scheduling_messages message
    WHERE message.tenant_id = $1 AND message.calendar_id = $2 AND message.id = $3`,
);

const findByKey = workspace.statement<SchedulingMessageResponse>(
  'scheduling.find_by_key',
  `SELECT ${MESSAGE} FROM scheduling_messages message WHERE message.tenant_id = $1 AND message.dedupe_key = $2`,
);

// Index scheduling_messages_list.
const list = workspace.statement<ListedSchedulingMessage>(
  'scheduling.list',
  boundedPage({
    keys: `SELECT message.id, 1024 + ${textBytes('message.uid', 'message.sender', 'message.reason')} + ${jsonBytes('message.parsed')}
                  + 640 * (SELECT count(*) FROM scheduling_deliveries delivery
                            WHERE delivery.tenant_id = message.tenant_id AND delivery.message_id = message.id) AS bytes
             FROM scheduling_messages message
            WHERE message.tenant_id = $1 AND message.calendar_id = $2 AND ($3::uuid IS NULL OR message.id < $3)
              AND ($6::text IS NULL OR message.direction = $6) AND ($7::text IS NULL OR message.method = $7)
              AND ($8::text IS NULL OR message.result = $8) AND ($9::text IS NULL OR message.uid = $9)
              AND ($10::timestamptz IS NULL OR message.created_at >= $10)
            ORDER BY message.id DESC LIMIT $4`,
    order: 'sized.id DESC',
    limit: '$4',
    bytes: '$5',
    columns: 'sized.id, sized.fits, shown.*',
    shown: {
      columns: CONTENT,
      from: 'scheduling_messages message WHERE message.tenant_id = $1 AND message.id = sized.id',
    },
  }),
);

/**
 * Whether a delivery has to wait for an earlier one of its sender: members who respond to one organizer do not wait for each other. The
 * identifiers of messages ascend. Index scheduling_deliveries_order.
 */
const WAITS = `EXISTS (
       SELECT FROM scheduling_deliveries earlier
        WHERE earlier.status = 'queued' AND earlier.tenant_id = delivery.tenant_id AND earlier.event_id = delivery.event_id
          AND earlier.recipient = delivery.recipient AND earlier.user_id = delivery.user_id
          AND earlier.message_id < delivery.message_id)`;

const claim = workspace.statement<DueDelivery>(
  'scheduling.claim',
  `WITH due AS MATERIALIZED (
     SELECT tenant_id, message_id, recipient FROM scheduling_deliveries
      WHERE status = 'queued' AND due_at <= now() ORDER BY due_at, message_id LIMIT 1 FOR UPDATE SKIP LOCKED)
   UPDATE scheduling_deliveries delivery
      SET attempts = delivery.attempts + 1, due_at = now() + make_interval(secs => $1)
     FROM due JOIN scheduling_messages message ON message.tenant_id = due.tenant_id AND message.id = due.message_id
    WHERE delivery.tenant_id = due.tenant_id AND delivery.message_id = due.message_id
      AND delivery.recipient = due.recipient
   RETURNING delivery.tenant_id, delivery.message_id, delivery.recipient, delivery.attempts, message.user_id,
             message.event_id, message.method, message.ics, message.mail, message.created_at, ${WAITS} AS waits`,
  { reach: 'cell' },
);

// The number of attempts identifies a claim. The earlier delivery may have ended since it.
const defer = workspace.statement<never>(
  'scheduling.defer',
  `UPDATE scheduling_deliveries delivery
      SET attempts = attempts - 1, due_at = now() + CASE WHEN ${WAITS} THEN make_interval(secs => $5) ELSE interval '0' END
    WHERE tenant_id = $1 AND message_id = $2 AND recipient = $3 AND attempts = $4 AND status = 'queued'`,
);

/** Makes the next delivery due that waits. One with attempts is claimed: its claim ends by itself. */
const wake = workspace.statement<never>(
  'scheduling.wake',
  `UPDATE scheduling_deliveries delivery SET due_at = now()
    WHERE tenant_id = $1 AND recipient = $3 AND attempts = 0 AND status = 'queued' AND message_id = (
      SELECT next.message_id FROM scheduling_deliveries next
       WHERE next.status = 'queued' AND next.tenant_id = $1 AND next.event_id = $2 AND next.recipient = $3 AND next.user_id = $4
       ORDER BY next.message_id LIMIT 1)`,
);

// A claim that has expired must not replace the outcome of a later one.
const conclude = workspace.statement<Pick<SchedulingDelivery, 'recipient'>>(
  'scheduling.conclude',
  `UPDATE scheduling_deliveries
      SET status = $4, error = $5, sent_at = CASE WHEN $4 = 'sent' THEN now() END,
          due_at = now() + make_interval(secs => $6)
    WHERE tenant_id = $1 AND message_id = $2 AND recipient = $3 AND attempts = $7 AND status = 'queued'
   RETURNING recipient`,
);

const summarize = workspace.statement<never>(
  'scheduling.summarize',
  `UPDATE scheduling_messages message
      SET result = CASE WHEN state.queued THEN 'queued' WHEN state.failed THEN 'failed' ELSE 'sent' END, reason = state.error
     FROM (SELECT bool_or(status = 'queued') AS queued, bool_or(status = 'failed') AS failed, max(error) AS error
             FROM scheduling_deliveries WHERE tenant_id = $1 AND message_id = $2) AS state
    WHERE message.tenant_id = $1 AND message.id = $2`,
);

const lockEvent = workspace.statement<Pick<CalendarEvent, 'revision'>>(
  'scheduling.lock_event',
  `SELECT revision FROM calendar_events WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE`,
);

const markParticipants = workspace.statement<never>(
  'scheduling.mark_participants',
  `UPDATE event_participants SET schedule_status = $4
    WHERE tenant_id = $1 AND event_id = $2 AND email = ANY ($3)`,
);

export interface MessageFilters {
  direction?: string;
  method?: string;
  result?: string;
  uid?: string;
  since?: Date;
}

/** Scheduling messages and the events that they concern. */
@Injectable()
export class SchedulingRepository {
  constructor(private readonly db: Db) {}

  /** Serialises the messages with this uid until the end of the transaction: a new uid has no row to lock. */
  async lockUid(tx: Tx, tenantId: string, uid: string): Promise<void> {
    await tx.query(lockUid, [tenantId, uid]);
  }

  /** Locks all events with this uid. */
  async lockEvents(tx: Tx, tenantId: string, uid: string) {
    return tx.query(lockEvents, [tenantId, uid]);
  }

  async findPlaced(reader: Reader, tenantId: string, eventId: string): Promise<PlacedRecord | null> {
    const [row] = await reader.query(readPlaced, [tenantId, eventId]);
    return row ? { record: recordOf(row), entries: row.entries ?? [] } : null;
  }

  async localeOf(tenantId: string, userId: string): Promise<string | null> {
    return (await this.db.query(localeOf, [tenantId, userId]))[0]?.locale ?? null;
  }

  /** @returns false for a message that is stored already */
  async insert(tx: Tx, tenantId: string, message: NewMessage): Promise<boolean> {
    const { id, calendar_id, user_id, event_id, direction, method, uid, recurrence_key, sequence } = message;
    const { dtstamp, sender, result, reason, parsed, ics, mail, dedupe_key } = message;
    const identity = [tenantId, id, calendar_id, user_id, event_id, direction, method, uid, recurrence_key];
    const values = [...identity, sequence, dtstamp, sender, result, reason, parsed, ics, mail, dedupe_key];
    return (await tx.query(insert, values)).length > 0;
  }

  async insertDeliveries(
    tx: Tx,
    tenantId: string,
    { id, event_id, user_id }: Pick<NewMessage, 'id' | 'event_id' | 'user_id'>,
    recipients: readonly string[],
    status: DeliveryStatus,
    error: string | null,
  ): Promise<void> {
    await tx.query(insertDeliveries, [tenantId, id, recipients, status, error, event_id, user_id]);
  }

  async find(tenantId: string, calendarId: string, id: string) {
    return (await this.db.query(find, [tenantId, calendarId, id]))[0] ?? null;
  }

  async findByKey(reader: Reader, tenantId: string, key: string): Promise<SchedulingMessageResponse | null> {
    return (await reader.query(findByKey, [tenantId, key]))[0] ?? null;
  }

  /** Newest first. */
  async list(
    tenantId: string,
    calendarId: string,
    after: string | null,
    limit: number,
    { direction, method, result, uid, since }: MessageFilters,
  ): Promise<ListedSchedulingMessage[]> {
    const filters = [direction, method, result, uid, since].map((value) => value ?? null);
    return this.db.query(list, [tenantId, calendarId, after, limit, PAGE_BYTES, ...filters]);
  }

  /** Leases a delivery for an attempt; a crash ends the lease. */
  async claim(leaseSeconds: number): Promise<DueDelivery | undefined> {
    return (await this.db.single((tx) => tx.query(claim, [leaseSeconds])))[0];
  }

  /** Ends the claim of a delivery that waits for an earlier one, which wakes it. @param pauseSeconds after which it looks itself */
  async defer(delivery: DueDelivery, pauseSeconds: number): Promise<void> {
    const { tenant_id, message_id, recipient, attempts, event_id } = delivery;
    await this.db.tx(async (tx) => {
      // The end of the earlier delivery holds this lock too, so that it does not wake this one before it waits.
      await tx.query(lockEvent, [tenant_id, event_id]);
      await tx.query(defer, [tenant_id, message_id, recipient, attempts, pauseSeconds]);
    });
  }

  /** Locks an event. @returns its revision; undefined when it no longer exists */
  async lockEvent(tx: Tx, tenantId: string, eventId: string): Promise<number | undefined> {
    return (await tx.query(lockEvent, [tenantId, eventId]))[0]?.revision;
  }

  /** Records the outcome of an attempt, for the log and for the attendee. */
  async conclude(
    { tenant_id, message_id, recipient, event_id, user_id, attempts }: DueDelivery,
    status: DeliveryStatus,
    error: string | null,
    pauseSeconds: number,
  ): Promise<void> {
    await this.db.tx(async (tx) => {
      const ended = status === 'queued' ? null : event_id;
      // All writers lock the event before its deliveries.
      if (ended !== null) await tx.query(lockEvent, [tenant_id, ended]);
      const outcome = [status, error, pauseSeconds, attempts];
      const concluded = await tx.query(conclude, [tenant_id, message_id, recipient, ...outcome]);
      if (concluded.length === 0) return;
      await tx.query(summarize, [tenant_id, message_id]);
      if (ended === null) return;
      await tx.query(markParticipants, [tenant_id, ended, [recipient], status]);
      await tx.query(wake, [tenant_id, ended, recipient, user_id]);
    });
  }

  /** Records the state of the last message to attendees. */
  async markParticipants(
    tx: Tx,
    tenantId: string,
    eventId: string,
    recipients: readonly string[],
    status: DeliveryStatus,
  ): Promise<void> {
    await tx.query(lockEvent, [tenantId, eventId]);
    await tx.query(markParticipants, [tenantId, eventId, recipients, status]);
  }
}

// Index scheduling_deliveries_event: of a meeting with hundreds of attendees, only the messages to these recipients are read.
const countInformed = workspace.statement<{ informed: number }>(
  'scheduling.count_informed',
  `SELECT count(*)::int AS informed FROM (SELECT DISTINCT address FROM unnest($4::text[]) AS address) AS recipient
    WHERE EXISTS (
      SELECT FROM scheduling_deliveries delivery
        JOIN scheduling_messages message ON message.tenant_id = $1 AND message.id = delivery.message_id
       WHERE delivery.tenant_id = $1 AND delivery.event_id = $2 AND delivery.recipient = recipient.address
         AND message.direction = 'out' AND message.method = $3 AND (message.sequence < $5 OR message.dtstamp < $6))`,
);

/** True when all recipients have got an earlier version of the event by this method. */
export async function isUpdate(
  reader: Reader,
  tenantId: string,
  eventId: string,
  recipients: readonly string[],
  { method, sequence, dtstamp }: { method: string; sequence: number; dtstamp: string },
): Promise<boolean> {
  const values = [tenantId, eventId, method, recipients, sequence, dtstamp];
  const [row] = await reader.query(countInformed, values);
  return row?.informed === new Set(recipients).size;
}

/** Messages are kept for 180 days. Index scheduling_messages_age. */
export const deleteOld: Sweep = workspace.statement(
  'scheduling.purge',
  deletion('scheduling_messages', `created_at < now() - interval '180 days'`),
  { reach: 'cell' },
);
