import { isDeepStrictEqual } from 'node:util';
import { formatRule, parseRule } from '../../../lib/recurrence/index.js';
import type {
  EventContent,
  EventRecord,
  EventRow,
  EventTimes,
  OverrideRow,
  ParticipantRow,
} from '../model/event-record.js';
import { contentOf, instanceAt, isSeries, occurrenceOf } from '../model/event-series.js';
import { isDay, wallOf, wallText } from '../model/event-times.js';
import { FOLLOWING } from '../model/event-policy.js';
import type { Recurrence } from '../input/event-patch.js';

/** The new values of a request. */
export interface Changes {
  content: Partial<EventContent>;
  times?: EventTimes;
  recurrence?: Recurrence;
  proposals_allowed?: boolean;
  /** The attendees of the whole event, responses of the remaining ones included. */
  participants?: ParticipantRow[];
}

/** An event after a change. */
export interface Changed {
  record: EventRecord;
  fields: string[];
  /** Times of instances have changed: proposals are outdated. */
  moved: boolean;
}

const TIME_FIELDS = ['starts', 'ends', 'time_zone', 'end_time_zone', 'exact_duration'] as const;

const sameTimes = (a: EventTimes, b: EventTimes): boolean =>
  TIME_FIELDS.every((field) => a[field] === b[field]);

/** The pattern of rules without their ends. */
const pattern = (rules: readonly string[]): string[] =>
  rules.map((text) => formatRule({ ...parseRule(text), count: null, until: null }));

/** Names of the members of `after` that differ from `before`. */
function differences(before: object, after: object): string[] {
  const old = before as Record<string, unknown>;
  return Object.entries(after)
    .filter(([name, value]) => value !== undefined && !isDeepStrictEqual(value, old[name]))
    .map(([name]) => name);
}

/** Responses to an event whose times have changed: everyone but the organizer is asked again. */
export function askedAgain(rows: readonly ParticipantRow[], organizerEmail: string): ParticipantRow[] {
  return rows
    .filter(({ recurrence_key }) => recurrence_key === '')
    .map((row) =>
      row.email === organizerEmail
        ? row
        : { ...row, response: 'needs_action', responded_at: null, comment: '' },
    );
}

/** Moves the key of an instance with the start of its series. */
function keyMover(before: EventTimes, after: EventTimes): (key: string) => string {
  const [wasDay, becomesDay] = [isDay(before.starts), isDay(after.starts)];
  if (wasDay && !becomesDay) return (key) => `${key}${after.starts.slice(10)}`;
  if (!wasDay && becomesDay) return (key) => key.slice(0, 10);
  const shift = wallOf(after.starts) - wallOf(before.starts);
  return shift === 0 ? (key) => key : (key) => wallText(wallOf(key) + shift, becomesDay);
}

/** Overrides of a series after its times or rules have changed; those without an instance are dropped. */
function carriedOver(
  overrides: readonly OverrideRow[],
  move: (key: string) => string,
  series: EventRow,
): OverrideRow[] {
  return overrides
    .map((override) => ({ ...override, recurrence_key: move(override.recurrence_key) }))
    .filter(({ recurrence_key, patch }) => {
      const fits = patch.starts === undefined || isDay(patch.starts) === isDay(series.starts);
      return fits && instanceAt(series, recurrence_key) !== null;
    });
}

/** Changes the whole event. Null: nothing differs. */
export function changeAll(record: EventRecord, changes: Changes, now: string): Changed | null {
  const { content, times = record, recurrence, proposals_allowed = record.proposals_allowed } = changes;
  const move = keyMover(record, times);
  const { rules, added, excluded } = recurrence ?? {
    rules: record.rules,
    added: record.added.map(move),
    excluded: record.excluded.map(move),
  };
  const timeValues = Object.fromEntries(
    TIME_FIELDS.map((field) => [field, times[field]]),
  ) as unknown as EventTimes;
  const wanted = { ...content, ...timeValues, rules, added, excluded, proposals_allowed };
  const { participants = record.participants } = changes;
  const fields = [
    ...differences(record, wanted),
    ...(isDeepStrictEqual(participants, record.participants) ? [] : ['attendees']),
  ];
  if (fields.length === 0) return null;
  const next: EventRecord = { ...record, ...wanted, dtstamp: now };
  const isMoved = !sameTimes(record, next) || !isDeepStrictEqual(pattern(record.rules), pattern(rules));
  const isRescheduled = fields.some((field) =>
    [...TIME_FIELDS, 'rules', 'added', 'excluded', 'status'].includes(field),
  );
  if (isRescheduled) next.sequence += 1;
  if (isMoved) next.participants = askedAgain(participants, record.organizer_email);
  else if (fields.includes('attendees')) next.participants = participants;
  if (isRescheduled && record.overrides.length > 0)
    next.overrides = isSeries(next) ? carriedOver(record.overrides, move, next) : [];
  return { record: next, fields, moved: isMoved };
}

/** Changes one instance. Null: nothing differs. */
export function changeOne(record: EventRecord, key: string, changes: Changes, now: string): Changed | null {
  const occurrence = occurrenceOf(record, key, 'UTC');
  if (!occurrence) return null;
  const before = contentOf(record, occurrence);
  const wanted: Partial<EventContent> = { ...changes.content, ...changes.times };
  const fields = differences(before, wanted);
  if (fields.length === 0) return null;
  const moved = fields.some((field) => (TIME_FIELDS as readonly string[]).includes(field));
  const isRescheduled = moved || fields.includes('status');
  const sequence = record.sequence + (isRescheduled ? 1 : 0);
  const patch = { ...occurrence.override?.patch, ...wanted };
  const override = { recurrence_key: key, patch, sequence, dtstamp: now };
  const others = record.overrides.filter(({ recurrence_key }) => recurrence_key !== key);
  const participants = moved ? askedForOne(record, key) : record.participants;
  const overrides = [...others, override];
  return { record: { ...record, sequence, dtstamp: now, overrides, participants }, fields, moved };
}

/** Asks every attendee but the organizer again for one instance. */
function askedForOne(record: EventRecord, key: string): ParticipantRow[] {
  const others = record.participants.filter(({ recurrence_key }) => recurrence_key !== key);
  const asked = others
    .filter(({ recurrence_key, email }) => recurrence_key === '' && email !== record.organizer_email)
    .map((row): ParticipantRow => ({
      ...row,
      recurrence_key: key,
      response: 'needs_action',
      responded_at: null,
      comment: '',
    }));
  return [...others, ...asked];
}

/** Excludes one instance from a series. */
export function withoutOne(record: EventRecord, key: string, now: string): Changed {
  return {
    record: {
      ...record,
      excluded: [...new Set([...record.excluded, key])].toSorted(),
      overrides: record.overrides.filter(({ recurrence_key }) => recurrence_key !== key),
      participants: record.participants.filter(({ recurrence_key }) => recurrence_key !== key),
      sequence: record.sequence + 1,
      dtstamp: now,
    },
    fields: ['excluded'],
    moved: false,
  };
}

/** Sets the response of a participant to an instance, to it and all later ones, or to the whole event. */
export function withResponse(
  record: EventRecord,
  email: string,
  key: string,
  values: Pick<ParticipantRow, 'response' | 'comment' | 'responded_at'>,
): EventRecord {
  const whole = record.participants.find((row) => row.email === email && row.recurrence_key === '');
  const start = key.replace(FOLLOWING, '');
  const isReplaced = (row: ParticipantRow): boolean => {
    if (row.email !== email) return false;
    if (key === '' || row.recurrence_key === key) return true;
    return (
      key.startsWith(FOLLOWING) &&
      row.recurrence_key !== '' &&
      row.recurrence_key.replace(FOLLOWING, '') >= start
    );
  };
  const row = {
    ...(whole as ParticipantRow),
    ...values,
    recurrence_key: key,
    reply_sequence: record.sequence,
  };
  return { ...record, participants: [...record.participants.filter((other) => !isReplaced(other)), row] };
}
