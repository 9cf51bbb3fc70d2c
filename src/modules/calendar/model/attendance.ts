import type { Property } from '../../../lib/icalendar/index.js';
import {
  CONTENT_FIELDS,
  type EventContent,
  type EventRecord,
  type OverrideRow,
  type ParticipantRow,
} from './event-record.js';
import { asOrphans, keptOf } from './dependent-properties.js';
import { FOLLOWING, responseAt } from './event-policy.js';
import { contentOf, firstFrom, hasInstances, isSeries, occurrenceOf, seriesOf } from './event-series.js';
import { instantOf, isDay, timesAt, wallOf } from './event-times.js';
import { formatRule, parseRule } from '../../../lib/recurrence/index.js';

// Attendees of instances. A row of `event_participants` with the key of an instance states, in this order: that an attendee of the
// series is not invited to the instance (`uninvited`); that the attendee is invited to the instance, without a row of the series or
// with another role; or else only a response to the instance, which the attendee may have `removed`.

/** Attendees of an event, or of an instance: each once, with the response that applies. @param key null: the whole event */
export function attendeesAt(record: EventRecord, key: string | null): ParticipantRow[] {
  if (record.participants.length === 0) return [];
  const byEmail = Map.groupBy(record.participants, ({ email }) => email);
  return [...byEmail.values()].flatMap((rows) => {
    const row = responseAt(rows, key);
    return row && !row.uninvited ? [row] : [];
  });
}

/** What programs state of the organizer and the attendees besides their columns. @param key empty: of the whole event */
export function peopleAt({ custom, overrides }: EventRecord, key: string): Property[] {
  const override = key === '' ? undefined : overrides.find(({ recurrence_key }) => recurrence_key === key);
  return keptOf(override?.patch.custom ?? custom).people;
}

/** Addresses outside of the workspace that are invited to an event, or to an instance. @param key empty: the whole event */
export const outsideAttendees = (record: EventRecord, key: string): string[] =>
  attendeesAt(record, key || null).flatMap(({ user_id, email }) => (user_id === null ? [email] : []));

/**
 * Whether a row of an instance has more data than a response.
 * @param whole the row of the same attendee for the series
 */
export function isOwnInvitation(row: ParticipantRow, whole: ParticipantRow | undefined): boolean {
  if (row.recurrence_key === '' || row.recurrence_key.startsWith(FOLLOWING)) return false;
  return whole === undefined || row.uninvited || row.role !== whole.role || row.kind !== whole.kind;
}

/** The row of the attendee for the series. */
export const wholeOf = (rows: readonly ParticipantRow[], email: string): ParticipantRow | undefined =>
  rows.find((row) => row.recurrence_key === '' && row.email === email);

/** The attendees who are invited to some instances only, with the rows of these instances. */
export function instanceAttendees(record: EventRecord): ParticipantRow[] {
  return record.participants.filter(
    (row) => row.recurrence_key !== '' && !row.uninvited && !wholeOf(record.participants, row.email),
  );
}

/**
 * Replaces the attendees of one instance.
 * @param wanted the new attendees. Their responses count only for attendees who had no row before
 * @returns all rows of the event
 */
export function withAttendeesAt(
  record: EventRecord,
  key: string,
  wanted: readonly ParticipantRow[],
): ParticipantRow[] {
  const others = record.participants.filter(({ recurrence_key }) => recurrence_key !== key);
  const before = new Map(attendeesAt(record, key).map((row) => [row.email, row]));
  const invited = wanted.flatMap((row): ParticipantRow[] => {
    const whole = wholeOf(others, row.email);
    const { response, responded_at, comment, removed } = before.get(row.email) ?? whole ?? row;
    const own = { ...row, recurrence_key: key, uninvited: false, response, responded_at, comment, removed };
    return isOwnInvitation(own, whole) || !isImplied(own, others) ? [own] : [];
  });
  return [...others, ...invited, ...absences(others, wanted, key, record.organizer_email)];
}

/**
 * The rows of attendees of a series who are not invited to an instance. The organizer always takes part.
 * @param rows of the event
 * @param invited the attendees of the instance
 */
export function absences(
  rows: readonly ParticipantRow[],
  invited: readonly ParticipantRow[],
  key: string,
  organizerEmail: string | undefined,
): ParticipantRow[] {
  const emails = new Set(invited.map(({ email }) => email));
  return rows
    .filter((row) => row.recurrence_key === '' && !emails.has(row.email) && row.email !== organizerEmail)
    .map((row) => ({ ...row, recurrence_key: key, uninvited: true }));
}

/** Whether the response of a row of an instance follows from the other rows of the attendee. */
export function isImplied(row: ParticipantRow, rows: readonly ParticipantRow[]): boolean {
  const others = rows.filter(
    ({ email, recurrence_key }) => email === row.email && recurrence_key !== row.recurrence_key,
  );
  const implied = responseAt(others, row.recurrence_key);
  return implied?.response === row.response && implied.removed === row.removed;
}

/**
 * Keys of the instances of a participant who is not invited to the series. Null means that the participant is invited to the series, or
 * has no row.
 */
export function instanceKeysOf(rows: readonly ParticipantRow[]): string[] | null {
  if (rows.length === 0 || rows.some(({ recurrence_key }) => recurrence_key === '')) return null;
  return rows.flatMap((row) => (row.uninvited || row.removed ? [] : [row.recurrence_key])).toSorted();
}

/**
 * The event as a participant receives it. For a participant of some instances it is a series of these dates without rules, whose
 * content is that of the instances; instances to which a participant of the series is not invited, or which the participant
 * removed, are excluded.
 * @param isOwn the rows of the participant
 */
export function recordFor(record: EventRecord, isOwn: (row: ParticipantRow) => boolean): EventRecord {
  if (record.participants.length === 0 || !isSeries(record)) return record;
  const own = record.participants.filter(isOwn);
  const keys = instanceKeysOf(own);
  if (keys) return onlyInstances(record, keys);
  const absent = own.filter((row) => row.uninvited || row.removed).map((row) => row.recurrence_key);
  const [from] = absent.filter((key) => key.startsWith(FOLLOWING)).toSorted();
  const present = own.filter((row) => !row.uninvited && !row.removed).map((row) => row.recurrence_key);
  const shown = from === undefined ? record : endedBefore(record, from.slice(FOLLOWING.length), present);
  const single = absent.filter((key) => !key.startsWith(FOLLOWING));
  return single.length > 0 ? withoutInstances(shown, single) : shown;
}

/** The event as the owner of a calendar receives it. The calendar of the organizer shows the whole event. */
export const recordIn = (
  record: EventRecord,
  { id, owner_id }: { id: string; owner_id: string },
): EventRecord =>
  record.origin_calendar_id === id && record.origin !== 'external'
    ? record
    : recordFor(record, ({ user_id }) => user_id === owner_id);

/** Whether an event has instances in a calendar. */
export const hasInstancesIn = (record: EventRecord, calendar: { id: string; owner_id: string }): boolean =>
  hasInstances(recordIn(record, calendar));

/** The event without removals of instances by one participant, whose responses stay. @param keys of these instances; by default of all */
export const withoutRemovals = (
  record: EventRecord,
  userId: string,
  keys?: ReadonlySet<string>,
): EventRecord => ({
  ...record,
  participants: record.participants.map((row) =>
    row.user_id === userId && row.removed && (keys?.has(row.recurrence_key) ?? true)
      ? { ...row, removed: false }
      : row,
  ),
});

/** As `recordIn`, for programs: who is invited to some instances only has them without their series (RFC 4791, 4.1), which names no such attendee. */
export function resourceIn(record: EventRecord, calendar: { id: string; owner_id: string }): EventRecord {
  const own = recordIn(record, calendar);
  const rows = record.participants.filter(({ user_id }) => user_id === calendar.owner_id);
  return own !== record && instanceKeysOf(rows) !== null ? asOrphans(own) : own;
}

/** A patch with all fields of an instance. */
const patchOf = (content: EventContent): Partial<EventContent> =>
  Object.fromEntries(CONTENT_FIELDS.map((name) => [name, content[name]]));

function onlyInstances(record: EventRecord, keys: readonly string[]): EventRecord {
  const isOwn = new Set(keys);
  const overrides = keys.flatMap((key): OverrideRow[] => {
    const occurrence = occurrenceOf(record, key, 'UTC');
    if (!occurrence) return [];
    const { sequence, dtstamp } = occurrence.override ?? record;
    return [{ recurrence_key: key, patch: patchOf(contentOf(record, occurrence)), sequence, dtstamp }];
  });
  const [first] = overrides;
  const starts = first?.recurrence_key ?? record.starts;
  return {
    ...record,
    ...first?.patch,
    ...timesAt(record, wallOf(starts)),
    time_zone: record.time_zone,
    end_time_zone: record.end_time_zone,
    exact_duration: record.exact_duration,
    rules: [],
    added: overrides.map(({ recurrence_key }) => recurrence_key),
    // A record without dates is a single event, which takes place unless it is excluded.
    excluded: first ? [] : [starts],
    overrides,
    overrides_count: overrides.length,
    participants: record.participants.filter(
      ({ recurrence_key: key }) => key === '' || key.startsWith(FOLLOWING) || isOwn.has(key),
    ),
  };
}

function withoutInstances(record: EventRecord, keys: readonly string[]): EventRecord {
  const isAbsent = new Set(keys);
  const overrides = record.overrides.filter(({ recurrence_key }) => !isAbsent.has(recurrence_key));
  return {
    ...record,
    excluded: [...new Set([...record.excluded, ...keys])].toSorted(),
    overrides,
    overrides_count: overrides.length,
    participants: record.participants.filter(({ recurrence_key }) => !isAbsent.has(recurrence_key)),
  };
}

/** A series without an instance and the later ones. @param present keys of rows by which the participant takes part: these instances stay */
function endedBefore(record: EventRecord, key: string, present: readonly string[]): EventRecord {
  const kept = new Set(present.filter((other) => other >= key && !other.startsWith(FOLLOWING)));
  const isShown = (other: string): boolean => other < key || kept.has(other);
  const at = wallOf(key);
  const until = isDay(key)
    ? ({ kind: 'date', time: at - 86_400 } as const)
    : record.time_zone === null
      ? ({ kind: 'wall', time: at - 1 } as const)
      : ({ kind: 'utc', time: instantOf(at, record.time_zone) - 1 } as const);
  const series = { ...seriesOf(record), added: [], excluded: undefined };
  const rules = record.rules.map((text) => {
    const rule = parseRule(text);
    // A rule with an earlier end keeps it.
    return firstFrom({ ...series, rules: [rule] }, at) === null
      ? text
      : formatRule({ ...rule, count: null, until });
  });
  const dates = [...new Set([...record.added, ...kept])].filter(
    (other) => isShown(other) && other !== record.starts,
  );
  const overrides = record.overrides.filter(({ recurrence_key }) => isShown(recurrence_key));
  return {
    ...record,
    rules,
    // Without other dates, the start is still the date of a series.
    added: rules.length + dates.length > 0 ? dates.toSorted() : [record.starts],
    // The start is an instance also of rules that end before it.
    excluded: [...record.excluded.filter(isShown), ...(isShown(record.starts) ? [] : [record.starts])],
    overrides,
    overrides_count: overrides.length,
    participants: record.participants.filter(
      ({ recurrence_key: other }) => other === '' || other.startsWith(FOLLOWING) || isShown(other),
    ),
  };
}
