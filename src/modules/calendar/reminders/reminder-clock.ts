import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { CalendarEvents, type ReminderDue } from '../calendar.events.js';
import type { Reminder } from '../calendar.entity.js';
import { type EventJson, recordOf } from '../model/event-record.js';
import { formatInstant } from '../model/event-times.js';
import { type DueReminder, dueReminders, nextCheck } from './reminder-times.js';

/** Placements of one transaction. */
const BATCH = 100;
/** Pause after a failure, seconds. */
const RETRY_SECONDS = 3_600;

interface DueRow extends EventJson {
  tenant_id: string;
  calendar_id: string;
  event_id: string;
  owner_id: string;
  time_zone: string;
  reminders: Reminder[];
  /** Seconds; null: an endless series. */
  span_end: number | null;
  reminded_until: number;
}

// Index calendar_entries_reminders. Skips placements that another process handles or a request writes.
const due = workspace.statement<DueRow>(
  'calendar.reminders_due',
  `SELECT entry.tenant_id, entry.calendar_id, entry.event_id, calendar.owner_id, calendar.time_zone,
          coalesce(entry.reminders, calendar.default_reminders) AS reminders,
          CASE WHEN isfinite(entry.span_end) THEN extract(epoch FROM entry.span_end)::float8 END AS span_end,
          extract(epoch FROM entry.reminded_until)::float8 AS reminded_until,
          record.event, record.participants, record.overrides
     FROM (SELECT * FROM calendar_entries WHERE next_reminder_at <= $1
            ORDER BY next_reminder_at LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED) entry
     JOIN calendars calendar ON calendar.tenant_id = entry.tenant_id AND calendar.id = entry.calendar_id
     JOIN event_records record ON record.tenant_id = entry.tenant_id AND record.id = entry.event_id`,
  { reach: 'cell' },
);

const saveChecks = workspace.statement<never>(
  'calendar.reminders_looked',
  `UPDATE calendar_entries entry SET next_reminder_at = checked.next, reminded_until = coalesce(checked.until, entry.reminded_until)
     FROM jsonb_to_recordset($1) AS checked (tenant_id uuid, calendar_id uuid, event_id uuid, next timestamptz, until timestamptz)
    WHERE entry.tenant_id = checked.tenant_id AND entry.calendar_id = checked.calendar_id
      AND entry.event_id = checked.event_id`,
  { reach: 'cell' },
);

/** The result of a check. */
interface Check {
  found: DueReminder[];
  /** The next check, an instant in seconds; null: no further one. */
  next: number | null;
  /** The instant up to which reminders are reported; null after a failure, so that the next check reports them. */
  until: number | null;
}

const instantOf = (seconds: number | null) => (seconds === null ? null : formatInstant(seconds));

/**
 * Reports reminders that are due. The transaction that appends an event to the outbox also updates `reminded_until` of its placement,
 * so each reminder is reported exactly once, also with several processes and after a crash.
 */
@Injectable()
export class ReminderClock implements OnModuleInit {
  private readonly logger = new Logger(ReminderClock.name);

  constructor(
    private readonly db: Db,
    private readonly outbox: Outbox,
    private readonly jobs: PeriodicJobs,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'remind-of-events', everySeconds: 10, run: () => this.tick() });
  }

  /** @returns the number of reminders */
  async tick(now = new Date()): Promise<number> {
    for (let total = 0; ;) {
      const { placements, reminders } = await this.db.tx((tx) => this.batch(tx, now));
      total += reminders;
      if (placements < BATCH) return total;
    }
  }

  private async batch(tx: Tx, now: Date): Promise<{ placements: number; reminders: number }> {
    const rows = await tx.query(due, [now, BATCH]);
    const at = Math.floor(now.getTime() / 1000);
    const marks: object[] = [];
    let reminders = 0;
    for (const row of rows) {
      const { tenant_id, calendar_id, event_id, owner_id: userId } = row;
      const { found, next, until } = this.check(row, at);
      for (const { key, start, end, minutes, methods } of found)
        await this.outbox.append(tx, {
          tenantId: tenant_id,
          type: CalendarEvents.reminderDue,
          payload: {
            event_id,
            calendar_id,
            user_id: userId,
            recurrence_key: key,
            start: formatInstant(start),
            end: formatInstant(end),
            event_starts: row.event.starts,
            minutes,
            methods,
          } satisfies ReminderDue,
        });
      reminders += found.length;
      marks.push({ tenant_id, calendar_id, event_id, next: instantOf(next), until: instantOf(until) });
    }
    if (marks.length > 0) await tx.query(saveChecks, [JSON.stringify(marks)]);
    return { placements: rows.length, reminders };
  }

  /** Checks a placement. A failure of one event does not stop the others. */
  private check(row: DueRow, at: number): Check {
    const { owner_id: userId, time_zone: readerZone, reminders, reminded_until: after, span_end } = row;
    try {
      const query = { record: recordOf(row), reminders, userId, readerZone };
      const found = query.record.deleted_at === null ? dueReminders(query, after, at) : [];
      return { found, next: nextCheck(query, at, span_end), until: at };
    } catch (error) {
      const { tenant_id: tenant, event_id: event } = row;
      this.logger.error({ err: error, tenant, event }, 'reminders of an event failed; retried in an hour');
      return { found: [], next: at + RETRY_SECONDS, until: null };
    }
  }
}
