import type { Reminder } from '../calendar.entity.js';
import { responseAt } from '../model/event-policy.js';
import type { EventRecord } from '../model/event-record.js';
import { contentOf, isSeries, type Occurrence, occurrencesIn } from '../model/event-series.js';

/** A reminder that is due. */
export interface DueReminder {
  /** Null: a single event. */
  key: string | null;
  /** Instants in seconds. */
  start: number;
  end: number;
  minutes: number;
  methods: Reminder['method'][];
}

export interface ReminderQuery {
  record: EventRecord;
  reminders: readonly Reminder[];
  /** The owner of the placement. */
  userId: string;
  /** Zone in which floating times and days are read. */
  readerZone: string;
}

const DAY = 86_400;
/** Maximum number of instances of one event that a check reports for each lead time. */
const MAX_DUE = 100;
/** Longest pause before the next check of a placement with an instance in the search windows. */
const MAX_AHEAD = 14 * DAY;
/** Windows in which the next instance is searched, seconds. */
const SEARCH_WINDOWS = [32 * DAY, 400 * DAY];

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
      if (isInside && one.end >= until && isActive(query, one))
        found.push({ key: one.key, start: one.start, end: one.end, minutes, methods });
    }
  }
  return found.toSorted((a, b) => a.start - a.minutes * 60 - (b.start - b.minutes * 60));
}

/**
 * The instant in seconds at which the clock checks the placement again; null: it has no further reminder. At most two weeks ahead,
 * because zone rules may change; 200 days for a series without an instance in the next 400 days.
 */
export function nextCheck(query: ReminderQuery, after: number, spanEnd: number | null): number | null {
  const { record, readerZone } = query;
  if (record.deleted_at !== null || query.reminders.length === 0) return null;
  if (spanEnd !== null && spanEnd < after) return null;
  const moments = [...byMinutes(query.reminders).keys()].flatMap((minutes) => {
    const from = after + minutes * 60 + 1;
    for (const ahead of SEARCH_WINDOWS) {
      const starts = occurrencesIn(record, { from, to: from + ahead, readerZone }, 20_000)
        .filter((one) => one.start >= from && isActive(query, one))
        .map(({ start }) => start);
      if (starts.length > 0) return Math.min(...starts) - minutes * 60;
    }
    return [];
  });
  if (moments.length > 0) return Math.min(after + MAX_AHEAD, ...moments);
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

function byMinutes(reminders: readonly Reminder[]): Map<number, Reminder['method'][]> {
  const all = new Map<number, Reminder['method'][]>();
  for (const { minutes, method } of reminders)
    all.set(minutes, [...new Set([...(all.get(minutes) ?? []), method])]);
  return all;
}
