import { isDeepStrictEqual } from 'node:util';
import {
  formatRule,
  movedRule,
  parseRule,
  type SeriesStart,
  withMovedUntil,
} from '../../../lib/recurrence/index.js';
import type { Recurrence } from '../input/event-patch.js';
import { attendeesAt, isOwnInvitation, wholeOf } from '../model/attendance.js';
import { customAfter } from '../model/dependent-properties.js';
import { FOLLOWING } from '../model/event-policy.js';
import {
  type EventContent,
  type EventRecord,
  type EventRow,
  type EventTimes,
  type OverrideRow,
  type ParticipantRow,
  type ProposalRow,
  TIME_FIELDS,
  UNANSWERED,
} from '../model/event-record.js';
import { contentOf, instanceAt, isSeries, occurrenceOf } from '../model/event-series.js';
import { instantOf, isDay, keyMover, wallOf } from '../model/event-times.js';

/** The new values of a request. */
export interface Changes {
  content: Partial<EventContent>;
  times?: EventTimes;
  recurrence?: Recurrence;
  proposals_allowed?: boolean;
  /** All rows of the attendees after the change, responses of the remaining ones included. */
  participants?: ParticipantRow[];
}

/** An event after a change. */
export interface Changed {
  record: EventRecord;
  fields: string[];
  /** Times of instances have changed: proposals are outdated. */
  moved: boolean;
}

export const sameTimes = (a: EventTimes, b: EventTimes): boolean =>
  TIME_FIELDS.every((field) => a[field] === b[field]);

/** The rules without COUNT and UNTIL. */
export const pattern = (rules: readonly string[]): string[] =>
  rules.map((text) => formatRule({ ...parseRule(text), count: null, until: null }));

/** Names of the members of `after` that differ from `before`. */
function differences(before: object, after: object): string[] {
  const old = before as Record<string, unknown>;
  return Object.entries(after)
    .filter(([name, value]) => value !== undefined && !isDeepStrictEqual(value, old[name]))
    .map(([name]) => name);
}

/**
 * Resets the responses of all attendees but the organizer after a change of the times. Invitations to single instances, and
 * absences from them, stay.
 */
export function resetResponses(rows: readonly ParticipantRow[], organizerEmail: string): ParticipantRow[] {
  return rows
    .filter((row) => row.recurrence_key === '' || isOwnInvitation(row, wholeOf(rows, row.email)))
    .map((row) => (row.email === organizerEmail ? row : { ...row, ...UNANSWERED }));
}

/**
 * The recurrence of a series whose start has changed: its dates, the days that its rules name, and UNTIL move with it. A rule that
 * `findUnmovableRule` finds keeps its days.
 */
export function movedRecurrence(record: EventTimes & Recurrence, times: EventTimes): Recurrence {
  const move = keyMover(record, times);
  const [before, after] = [startOfSeries(record), startOfSeries(times)];
  const isSame = isDeepStrictEqual(before, after);
  const moveRule = (text: string): string => {
    const rule = parseRule(text);
    return formatRule(movedRule(rule, before, after) ?? withMovedUntil(rule, before, after));
  };
  return {
    rules: isSame ? record.rules : record.rules.map(moveRule),
    added: record.added.map(move),
    excluded: record.excluded.map(move),
  };
}

/** The rule of a series whose days or hours cannot move with its start; undefined: all rules move. */
export const findUnmovableRule = (
  record: EventTimes & Pick<Recurrence, 'rules'>,
  times: EventTimes,
): string | undefined =>
  record.rules.find(
    (text) => movedRule(parseRule(text), startOfSeries(record), startOfSeries(times)) === null,
  );

const startOfSeries = ({ starts, time_zone: zone }: EventTimes): SeriesStart => ({
  start: wallOf(starts),
  zone,
  isDate: isDay(starts),
});

const timeFieldsOf = (times: EventTimes) =>
  Object.fromEntries(TIME_FIELDS.map((field) => [field, times[field]])) as unknown as EventTimes;

/** Overrides of a series after its times or rules have changed. An instance with times of its own keeps them. Drops overrides without an instance. */
function movedOverrides(before: EventRecord, move: (key: string) => string, series: EventRow): OverrideRow[] {
  return before.overrides
    .map(({ recurrence_key, patch, ...override }) => ({
      ...override,
      recurrence_key: move(recurrence_key),
      patch: patch.starts === undefined ? patch : { ...timeFieldsOf(before), ...patch },
    }))
    .filter(({ recurrence_key }) => instanceAt(series, recurrence_key) !== null);
}

/** Rows of attendees after times or rules have changed. Drops rows of instances that no longer exist. */
function movedParticipants(
  rows: readonly ParticipantRow[],
  move: (key: string) => string,
  series: EventRow,
): ParticipantRow[] {
  return rows.flatMap((row) => {
    if (row.recurrence_key === '' || row.recurrence_key.startsWith(FOLLOWING)) return [row];
    const key = move(row.recurrence_key);
    return isSeries(series) && instanceAt(series, key) !== null ? [{ ...row, recurrence_key: key }] : [];
  });
}

/** Changes the whole event. Null means that nothing differs. */
export function changeAll(record: EventRecord, changes: Changes, now: string): Changed | null {
  const { content, times = record, recurrence, proposals_allowed = record.proposals_allowed } = changes;
  const move = keyMover(record, times);
  const { rules, added, excluded } = recurrence ?? movedRecurrence(record, times);
  const dates = { ...timeFieldsOf(times), rules, added, excluded };
  const wanted = { ...withPlaces(record, content), ...dates, proposals_allowed };
  const { participants = record.participants } = changes;
  const fields = [
    ...differences(record, wanted),
    ...(isDeepStrictEqual(participants, record.participants) ? [] : ['attendees']),
  ];
  if (fields.length === 0) return null;
  const custom = customAfter(record, fields, times.starts);
  const next: EventRecord = { ...record, ...wanted, custom, dtstamp: now };
  const isMoved = !sameTimes(record, next) || !isDeepStrictEqual(pattern(record.rules), pattern(rules));
  const isRescheduled = fields.some((field) =>
    [...TIME_FIELDS, 'rules', 'added', 'excluded', 'status'].includes(field),
  );
  // CANCEL to a removed attendee is a new version (RFC 5546, 3.2.5).
  if (isRescheduled || removesOutside(record.participants, participants)) next.sequence += 1;
  if (isMoved) next.participants = resetResponses(participants, record.organizer_email);
  else if (fields.includes('attendees')) next.participants = participants;
  if (isRescheduled && next.participants.some(({ recurrence_key }) => recurrence_key !== ''))
    next.participants = movedParticipants(next.participants, move, next);
  if (isRescheduled && record.overrides.length > 0)
    next.overrides = isSeries(next) ? movedOverrides(record, move, next) : [];
  return { record: next, fields, moved: isMoved };
}

/** A new location ends the places that only repeat the old one, such as the position of an imported event. */
function withPlaces(
  before: Pick<EventContent, 'location' | 'locations'>,
  content: Partial<EventContent> = {},
): Partial<EventContent> {
  const { location, locations } = content;
  if (location === undefined || location === before.location || locations !== undefined) return content;
  const repeats = before.locations.filter(({ name }) => name === before.location).length;
  return repeats > 0 && repeats === before.locations.length ? { ...content, locations: [] } : content;
}

/** Changes one instance. Null means that nothing differs. */
export function changeOne(record: EventRecord, key: string, changes: Changes, now: string): Changed | null {
  const occurrence = occurrenceOf(record, key, 'UTC');
  if (!occurrence) return null;
  const before = contentOf(record, occurrence);
  const wanted: Partial<EventContent> = { ...withPlaces(before, changes.content), ...changes.times };
  const invited = { ...record, participants: changes.participants ?? record.participants };
  const fields = [
    ...differences(before, wanted),
    ...(isDeepStrictEqual(invited.participants, record.participants) ? [] : ['attendees']),
  ];
  if (fields.length === 0) return null;
  const moved = fields.some((field) => (TIME_FIELDS as readonly string[]).includes(field));
  const isRescheduled = moved || fields.includes('status');
  const isRemoval = removesOutside(attendeesAt(record, key), attendeesAt(invited, key));
  const sequence = record.sequence + (isRescheduled || isRemoval ? 1 : 0);
  const patch = { ...occurrence.override?.patch, ...wanted };
  const custom = customAfter(before, fields, patch.starts ?? before.starts);
  if (custom !== before.custom) patch.custom = custom;
  const override = { recurrence_key: key, patch, sequence, dtstamp: now };
  const others = record.overrides.filter(({ recurrence_key }) => recurrence_key !== key);
  const participants = moved ? resetResponsesAt(invited, new Set([key])) : invited.participants;
  const overrides = [...others, override];
  return { record: { ...record, sequence, dtstamp: now, overrides, participants }, fields, moved };
}

/** True when an attendee outside of the workspace is no longer invited. */
function removesOutside(before: readonly ParticipantRow[], after: readonly ParticipantRow[]): boolean {
  const invited = new Set(after.filter(({ uninvited }) => !uninvited).map(({ email }) => email));
  return before.some(
    ({ user_id, uninvited, email }) => user_id === null && !uninvited && !invited.has(email),
  );
}

/** Resets the responses of all attendees but the organizer to instances. */
export function resetResponsesAt(record: EventRecord, keys: ReadonlySet<string>): ParticipantRow[] {
  const { participants, organizer_email } = record;
  const own = Map.groupBy(participants, ({ recurrence_key: key }) => key);
  // Those of other instances apply to none of them.
  const general = participants.filter(({ recurrence_key: key }) => key === '' || key.startsWith(FOLLOWING));
  const kept = participants.filter((row) => !keys.has(row.recurrence_key) || row.uninvited);
  const again = [...keys].flatMap((key) =>
    attendeesAt({ ...record, participants: [...general, ...(own.get(key) ?? [])] }, key)
      .filter(({ email }) => email !== organizer_email)
      .map((row) => ({ ...row, ...UNANSWERED, recurrence_key: key })),
  );
  return [...kept, ...again];
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

/**
 * Sets the response of a participant to an instance, to it and all later ones, or to the whole event. An attendee of some instances
 * responds to these.
 */
export function withResponse(
  record: EventRecord,
  email: string,
  key: string,
  values: Pick<ParticipantRow, 'response' | 'comment' | 'responded_at'> & { removed?: true },
): EventRecord {
  const whole = wholeOf(record.participants, email);
  const start = key.replace(FOLLOWING, '');
  const applies = (row: ParticipantRow): boolean => {
    if (row.email !== email || row.uninvited) return false;
    if (row.recurrence_key === key) return true;
    // What the attendee removed stays removed.
    if (row.removed) return false;
    if (key === '') return true;
    return (
      key.startsWith(FOLLOWING) &&
      row.recurrence_key !== '' &&
      row.recurrence_key.replace(FOLLOWING, '') >= start
    );
  };
  const responded = (row: ParticipantRow) => ({
    ...row,
    removed: false,
    ...values,
    reply_sequence: record.sequence,
  });
  const participants = record.participants.flatMap((row) => {
    if (!applies(row)) return [row];
    return isOwnInvitation(row, whole) ? [responded(row)] : [];
  });
  const hasRow = participants.some((row) => row.email === email && row.recurrence_key === key);
  if (whole && !hasRow) participants.push(responded({ ...whole, recurrence_key: key }));
  return { ...record, participants };
}

/** Declines and removes instances for a participant. @param keys of few instances to which the participant is invited */
export function withoutDates(
  record: EventRecord,
  email: string,
  keys: ReadonlySet<string>,
  responded_at: string,
): EventRecord {
  const values = { response: 'declined', comment: '', responded_at, removed: true } as const;
  return [...keys].reduce((event, key) => withResponse(event, email, key, values), record);
}

/** Whether a change may move or remove instances. */
export const mayMove = (before: EventRecord, after: EventRecord): boolean =>
  before.overrides !== after.overrides ||
  !sameTimes(before, after) ||
  (['rules', 'added', 'excluded'] as const).some((field) => !isDeepStrictEqual(before[field], after[field]));

/**
 * The pending proposals that a change of an event closes: those about another time than before, and about an instance that no longer
 * exists. They are `accepted` if they propose the new time, else `outdated`.
 */
export function closedProposals(
  proposals: readonly ProposalRow[],
  before: EventRecord,
  after: EventRecord,
): ProposalRow[] {
  const hasSameRules = isDeepStrictEqual(before.rules, after.rules);
  return proposals.flatMap((proposal) => {
    const { recurrence_key: key, status } = proposal;
    const [current, next] = [contentAt(before, key), contentAt(after, key)];
    const isUnchanged = current && next && sameTimes(current, next) && (key !== '' || hasSameRules);
    if (status !== 'pending' || isUnchanged) return [];
    const isAccepted = next !== null && isDeepStrictEqual(instantsOf(proposal), instantsOf(next));
    return [{ ...proposal, status: isAccepted ? 'accepted' : 'outdated' }];
  });
}

/** The content of an event, or of an instance; null without such an instance. @param key empty: the event */
function contentAt(record: EventRecord, key: string): EventContent | null {
  if (key === '') return record;
  const occurrence = occurrenceOf(record, key, 'UTC');
  return occurrence && contentOf(record, occurrence);
}

const instantsOf = ({ starts, ends, time_zone: zone, end_time_zone: endZone }: EventTimes): number[] => [
  instantOf(wallOf(starts), zone),
  instantOf(wallOf(ends), endZone ?? zone),
];
