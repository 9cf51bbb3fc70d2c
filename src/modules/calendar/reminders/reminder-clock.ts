import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { cutText } from '../../../lib/text/index.js';
import { Turns } from '../../../lib/turns/index.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { CalendarEvents, type ReminderDue } from '../calendar.events.js';
import type { InstanceAlarms, Reminder } from '../calendar.schema.js';
import { responseAt } from '../model/event-policy.js';
import { type EventJson, type EventRecord, recordOf } from '../model/event-record.js';
import { contentOf, isSeries, type Occurrence, occurrencesIn } from '../model/event-series.js';
import { formatInstant, isDay, wallOf } from '../model/event-times.js';
import { occurrenceFinder } from '../model/known-instances.js';

/** A reminder that is due. */
export interface DueReminder {
  /** Null means a single event. */
  key: string | null;
  /** Instants in seconds. */
  start: number;
  end: number;
  minutes: number;
  methods: Reminder['method'][];
  /** Of an instance that takes days: the first one, and the one after the last; null for one with times. */
  first_day: string | null;
  end_day: string | null;
  location: string;
}

/** Characters of the place in a reminder. */
const MAX_LOCATION = 200;

export interface ReminderQuery {
  record: EventRecord;
  reminders: readonly Reminder[];
  /** The reminders of instances that differ, by key; null: those of the calendar. */
  instances?: Readonly<Record<string, Pick<InstanceAlarms, 'reminders'>>>;
  /** The reminders of the calendar. */
  defaults?: readonly Reminder[];
  /** The owner of the placement. */
  userId: string;
  /** Zone in which floating times and days are read. */
  readerZone: string;
}

const DAY = 86_400;
/** The difference of two clocks of the earth. */
const CLOCKS = 26 * 3600;
/** Maximum number of instances of one event that a check reports for each lead time. */
const MAX_DUE = 100;
/** Longest pause before the next check of a placement with an instance in the search windows. */
const MAX_AHEAD = 14 * DAY;
/** How long an event is reminded of at least after its start: the clock, which checks later, would take a short one for over. */
const MIN_CURRENT = 5 * 60;
/** Windows in which the next instance is searched, seconds. */
const SEARCH_WINDOWS = [DAY, 32 * DAY, 400 * DAY];

/**
 * The reminders between two moments, in order. Instances that are cancelled, declined or over have none.
 * @param after,until instants in seconds: reminders after the first one, up to the second one
 */
export function dueReminders(query: ReminderQuery, after: number, until: number): DueReminder[] {
  const { record, readerZone } = query;
  const found: DueReminder[] = [];
  for (const [minutes, methods] of byMinutes(query.reminders)) {
    const lead = minutes * 60;
    const window = { from: after + lead + 1, to: until + lead + 1, readerZone };
    for (const one of occurrencesIn(record, window, MAX_DUE)) {
      const isInside = one.start - lead > after && one.start - lead <= until;
      const isCurrent = Math.max(one.end, one.start + MIN_CURRENT) >= until;
      if (isInside && isCurrent && !hasOwn(query, one) && isActive(query, one))
        found.push(reminderOf(record, one, minutes, methods));
    }
  }
  for (const { one, reminders } of ownInstances(query, after, until))
    for (const [minutes, methods] of byMinutes(reminders)) {
      const moment = one.start - minutes * 60;
      if (moment > after && moment <= until && one.end >= until)
        found.push(reminderOf(record, one, minutes, methods));
    }
  return found.toSorted((a, b) => a.start - a.minutes * 60 - (b.start - b.minutes * 60));
}

function reminderOf(
  record: EventRecord,
  one: Occurrence,
  minutes: number,
  methods: Reminder['method'][],
): DueReminder {
  const { key, start, end } = one;
  const { starts, ends, location } = contentOf(record, one);
  const [first_day, end_day] = isDay(starts) ? [starts, ends] : [null, null];
  return { key, start, end, minutes, methods, first_day, end_day, location: cutText(location, MAX_LOCATION) };
}

/**
 * The instant in seconds at which the clock checks the placement again; null: it has no further reminder. At most two weeks ahead,
 * because zone rules may change; 200 days for a series without an instance in the next 400 days.
 */
export function nextCheck(query: ReminderQuery, after: number, spanEnd: number | null): number | null {
  const { record, readerZone } = query;
  const hasLater = ownReminders(query).some(
    ({ wall, reminders }) => reminders.length > 0 && wall > after - CLOCKS,
  );
  if (record.deleted_at !== null || (query.reminders.length === 0 && !hasLater)) return null;
  if (spanEnd !== null && spanEnd < after) return null;
  const moments = [...byMinutes(query.reminders).keys()].flatMap((minutes) => {
    const from = after + minutes * 60 + 1;
    for (const ahead of SEARCH_WINDOWS) {
      const starts = occurrencesIn(record, { from, to: from + ahead, readerZone }, 20_000)
        .filter((one) => one.start >= from && !hasOwn(query, one) && isActive(query, one))
        .map(({ start }) => start);
      if (starts.length > 0) return Math.min(...starts) - minutes * 60;
    }
    return [];
  });
  for (const { one, reminders } of ownInstances(query, after, after + MAX_AHEAD))
    for (const { minutes } of reminders)
      if (one.start - minutes * 60 > after) moments.push(one.start - minutes * 60);
  if (moments.length > 0) return Math.min(after + MAX_AHEAD, ...moments);
  // An instance with reminders of its own may come later, in a series without others.
  if (hasLater) return after + MAX_AHEAD;
  // Series may have years between their instances.
  const horizon = after + (SEARCH_WINDOWS.at(-1) as number) / 2;
  return isSeries(record) || spanEnd === null || spanEnd > horizon ? horizon : null;
}

function isActive({ record, userId }: ReminderQuery, one: Occurrence): boolean {
  if (contentOf(record, one).status === 'cancelled') return false;
  const own = record.participants.filter(({ user_id }) => user_id === userId);
  if (own.length === 0) return true;
  const row = responseAt(own, one.key);
  return row !== undefined && !row.uninvited && row.response !== 'declined' && row.response !== 'delegated';
}

const hasOwn = ({ instances }: ReminderQuery, { key }: Occurrence): boolean =>
  key !== null && instances !== undefined && Object.hasOwn(instances, key);

/** The reminders of instances that have others than their series. */
function ownReminders({ record, instances = {}, defaults = [] }: ReminderQuery) {
  if (!isSeries(record)) return [];
  const overrides = new Map(record.overrides.map((override) => [override.recurrence_key, override]));
  return Object.entries(instances).map(([key, own]) => ({
    key,
    wall: wallOf(overrides.get(key)?.patch.starts ?? key),
    reminders: own.reminders ?? defaults,
  }));
}

/**
 * The instances with reminders of their own, of which one rings between two moments, with a margin.
 * @param from,to instants in seconds
 */
function ownInstances(
  query: ReminderQuery,
  from: number,
  to: number,
): { one: Occurrence; reminders: readonly Reminder[] }[] {
  const { record, readerZone } = query;
  const near = ownReminders(query).filter(({ wall, reminders }) =>
    reminders.some(
      ({ minutes }) => Math.abs(wall - minutes * 60 - (from + to) / 2) <= (to - from) / 2 + CLOCKS,
    ),
  );
  const find = occurrenceFinder(
    record,
    near.map(({ key }) => key),
    readerZone,
  );
  return near.flatMap(({ key, reminders }) => {
    const one = find(key);
    return one && isActive(query, one) ? [{ one, reminders }] : [];
  });
}

function byMinutes(reminders: readonly Reminder[]): Map<number, Reminder['method'][]> {
  const all = new Map<number, Reminder['method'][]>();
  for (const { minutes, method } of reminders)
    all.set(minutes, [...new Set([...(all.get(minutes) ?? []), method])]);
  return all;
}

/** Placements of one transaction. */
const BATCH = 100;
/** Time after which a transaction ends before its batch: edits of these events wait for it, for at most 3 s. */
const BATCH_MS = 500;
/** Pause after a failure, seconds. */
const RETRY_SECONDS = 3_600;

interface DueRow extends EventJson {
  tenant_id: string;
  calendar_id: string;
  event_id: string;
  owner_id: string;
  time_zone: string;
  reminders: Reminder[];
  instance_alarms: Record<string, InstanceAlarms> | null;
  default_reminders: Reminder[];
  /** Seconds; null: an endless series. */
  span_end: number | null;
  reminded_until: number;
}

// Index calendar_entries_reminders. Skips placements that another process handles or a request writes.
const due = workspace.statement<DueRow>(
  'calendar.reminders_due',
  `SELECT entry.tenant_id, entry.calendar_id, entry.event_id, calendar.owner_id, calendar.time_zone,
          coalesce(entry.reminders, calendar.default_reminders) AS reminders, entry.instance_alarms, calendar.default_reminders,
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
      const { isLast, reminders } = await this.db.tx((tx) => this.batch(tx, now));
      total += reminders;
      if (isLast) return total;
    }
  }

  private async batch(tx: Tx, now: Date): Promise<{ isLast: boolean; reminders: number }> {
    const rows = await tx.query(due, [now, BATCH]);
    const at = Math.floor(now.getTime() / 1000);
    const marks: object[] = [];
    const turns = new Turns();
    const begun = performance.now();
    let reminders = 0;
    for (const row of rows) {
      await turns.pause();
      if (marks.length > 0 && performance.now() - begun > BATCH_MS) break;
      const { tenant_id, calendar_id, event_id, owner_id: userId } = row;
      const { found, next, until } = this.check(row, at);
      for (const { key, start, end, minutes, methods, ...shown } of found)
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
            ...shown,
          } satisfies ReminderDue,
        });
      reminders += found.length;
      marks.push({ tenant_id, calendar_id, event_id, next: instantOf(next), until: instantOf(until) });
    }
    if (marks.length > 0) await tx.query(saveChecks, [JSON.stringify(marks)]);
    return { isLast: rows.length < BATCH && marks.length === rows.length, reminders };
  }

  /** Checks a placement. A failure of one event does not stop the others. */
  private check(row: DueRow, at: number): Check {
    const { owner_id: userId, time_zone: readerZone, reminders, reminded_until: after, span_end } = row;
    const { instance_alarms, default_reminders: defaults } = row;
    try {
      const query = {
        record: recordOf(row),
        reminders,
        ...(instance_alarms && { instances: instance_alarms }),
        defaults,
        userId,
        readerZone,
      };
      const found = query.record.deleted_at === null ? dueReminders(query, after, at) : [];
      return { found, next: nextCheck(query, at, span_end), until: at };
    } catch (error) {
      const { tenant_id: tenant, event_id: event } = row;
      this.logger.error({ err: error, tenant, event }, 'reminders of an event failed; retried in an hour');
      return { found: [], next: at + RETRY_SECONDS, until: null };
    }
  }
}
