import { resourceIn, withoutRemovals } from '../../model/attendance.js';
import { withoutDates } from '../../changes/event-change.js';
import { isOrphaned } from '../../model/dependent-properties.js';
import { participantOf } from '../../model/event-policy.js';
import type { CalendarContext, EventRecord } from '../../model/event-record.js';
import { occurrenceOf } from '../../model/event-series.js';
import type { ReadEvent } from '../../model/vevent-reader.js';
import { asExported, compareEvents, mergeValues } from '../imported-event.js';
import { concernsAttendees } from './resource-changes.js';

/** Dates that the text of an attendee removes, takes back, or excludes although the series lacks them. Keys of instances. */
export interface DatesOfAttendee {
  removed: ReadonlySet<string>;
  restored: ReadonlySet<string>;
  unknown: ReadonlySet<string>;
}

/** Dates that one text may exclude: an organizer outside of the workspace gets a mail about each. */
const MAX_EXCLUDED = 50;

export const NO_DATES: DatesOfAttendee = { removed: new Set(), restored: new Set(), unknown: new Set() };

/**
 * The dates in which the text of an attendee differs from the calendar; none where the text excludes more than 50 at once. An attendee of
 * a series removes a date by EXDATE (RFC 6638, 3.2.2.1), one of some instances by leaving out the instance.
 * @param own the event as the calendar has it
 */
export function datesOf(
  record: EventRecord,
  own: EventRecord,
  userId: string,
  read: ReadEvent,
): DatesOfAttendee {
  const stored = asExported(own).recurrence;
  const isGuest = isOrphaned(own);
  const [before, after] = isGuest
    ? [read.recurrence.added, stored.added]
    : [stored.excluded, read.recurrence.excluded];
  const known = new Set(before);
  // The text has the series, or none of the instances.
  if (isGuest && !(isOrphaned(read.content) && stored.added.some((key) => known.has(key)))) return NO_DATES;
  const named = new Set(after);
  const excluded = after.filter((key) => !known.has(key));
  if (excluded.length > MAX_EXCLUDED) return NO_DATES;
  const removed = excluded.filter((key) => isGuest || occurrenceOf(own, key, 'UTC') !== null);
  const isRemoved = new Set(
    record.participants.flatMap((row) => (row.user_id === userId && row.removed ? [row.recurrence_key] : [])),
  );
  const there = new Set(removed);
  return {
    removed: there,
    restored: new Set(before.filter((key) => !named.has(key) && isRemoved.has(key))),
    unknown: new Set(excluded.filter((key) => !there.has(key))),
  };
}

/** Whether the text of an attendee changes what its organizer states, apart from these dates. */
export function differsBeyond(
  { removed, restored, unknown }: DatesOfAttendee,
  record: EventRecord,
  calendar: CalendarContext,
  own: EventRecord,
  read: ReadEvent,
): boolean {
  const email = participantOf(record, calendar.owner_id)?.email ?? '';
  const expected =
    removed.size + restored.size > 0
      ? resourceIn(
          withoutDates(withoutRemovals(record, calendar.owner_id, restored), email, removed, record.dtstamp),
          calendar,
        )
      : own;
  // Programs may keep the instance beside its EXDATE, or take back the EXDATE without the instance.
  const ignored = new Set(isOrphaned(own) ? [] : [...expected.excluded, ...restored]);
  const withoutThese = <Event extends Pick<EventRecord, 'overrides'>>(event: Event): Event => ({
    ...event,
    overrides: event.overrides.filter(({ recurrence_key: key }) => !ignored.has(key)),
  });
  const excluded = read.recurrence.excluded.filter((key) => !unknown.has(key));
  const given = { ...read, recurrence: { ...read.recurrence, excluded } };
  const before = withoutThese(expected);
  const next = mergeValues(before, withoutThese(given));
  return concernsAttendees(before, next, compareEvents(before, next));
}
