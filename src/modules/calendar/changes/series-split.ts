import { formatRule, instancesOf, parseRule, type Rule } from '../../../lib/recurrence/index.js';
import type { EventRecord, ParticipantRow } from '../model/event-record.js';
import { FOLLOWING, responseAt } from '../model/event-policy.js';
import { firstFrom, hasInstances, seriesOf } from '../model/event-series.js';
import { instantOf, isDay, timesAt, wallOf } from '../model/event-times.js';

/** The part of a series before an instance, and the part from it on. */
export interface Split {
  /** Null means that no earlier instance takes place. */
  earlier: EventRecord | null;
  /** Has the id, uid and revision of the series, which the caller replaces. */
  later: EventRecord;
}

/**
 * Splits a series before an instance. Rules of the earlier part end by UNTIL; COUNT is divided; overrides, added and excluded
 * instances and responses go to the part that they belong to.
 * @param key of the instance
 */
export function split(record: EventRecord, key: string, now: string): Split {
  const series = seriesOf({ ...record, excluded: [] });
  const at = wallOf(key);
  const from = instantOf(wallOf(record.starts), record.time_zone);
  const byRules = { ...series, added: [] };
  const all = instancesOf(byRules, { from, to: instantOf(at, record.time_zone) });
  const before = all.filter((instance) => instance.key < at);
  const isEarlier = (other: string): boolean => other < key;
  const later: EventRecord = {
    ...record,
    ...laterPattern(record, firstFrom(byRules, at), key, before.length),
    excluded: record.excluded.filter((other) => !isEarlier(other)),
    overrides: record.overrides.filter(({ recurrence_key }) => !isEarlier(recurrence_key)),
    participants: laterResponses(record.participants, key),
  };
  const last = before.at(-1);
  const addedBefore = record.added.filter(isEarlier);
  const earlier: EventRecord = {
    ...record,
    ...(last
      ? { rules: record.rules.map((text) => earlierRule(parseRule(text), last, record)), added: addedBefore }
      : addedAlone(record, addedBefore)),
    excluded: record.excluded.filter(isEarlier),
    overrides: record.overrides.filter(({ recurrence_key }) => isEarlier(recurrence_key)),
    participants: record.participants.filter(
      ({ recurrence_key }) => recurrence_key.replace(FOLLOWING, '') < key,
    ),
    sequence: record.sequence + 1,
    dtstamp: now,
  };
  const hasEarlier = (last !== undefined || addedBefore.length > 0) && hasInstances(earlier);
  return { earlier: hasEarlier ? earlier : null, later };
}

type Pattern = Pick<EventRecord, 'starts' | 'ends' | 'rules' | 'added'>;

/**
 * The part from an instance on. It starts with an instance of the rules, because rules take their time of day and their period
 * from the start. Added instances before this start stay added instances.
 * @param next the first instance of the rules in this part; null: only added instances are left
 */
function laterPattern(record: EventRecord, next: number | null, key: string, before: number): Pattern {
  const added = record.added.filter((other) => other >= key);
  if (next === null) return addedAlone(record, added);
  const start = timesAt(record, next);
  const rules = record.rules.map((text) => laterRule(parseRule(text), before));
  return { ...start, rules, added: added.filter((other) => other !== start.starts) };
}

/** A part that has added instances only. */
function addedAlone(record: EventRecord, [first, ...added]: readonly string[]): Pattern {
  return { ...timesAt(record, wallOf(first ?? record.starts)), rules: [], added };
}

/** A rule that ends with the last instance before the split; UNTIL is in UTC; for a series without a zone, a wall time. */
function earlierRule(
  rule: Rule,
  last: { key: number; start: number },
  { starts, time_zone }: EventRecord,
): string {
  const kind = isDay(starts) ? 'date' : time_zone === null ? 'wall' : 'utc';
  const until = { kind, time: kind === 'utc' ? last.start : last.key } as const;
  return formatRule({ ...rule, count: null, until });
}

function laterRule(rule: Rule, before: number): string {
  return formatRule(rule.count === null ? rule : { ...rule, count: Math.max(1, rule.count - before) });
}

/**
 * The responses of the later part: responses to its instances, and for each attendee the response that applies at the split. What an
 * attendee removed from an earlier instance on stays removed.
 */
function laterResponses(rows: readonly ParticipantRow[], key: string): ParticipantRow[] {
  return [...Map.groupBy(rows, ({ email }) => email).values()].flatMap((own) => {
    const isLater = ({ recurrence_key: at }: ParticipantRow): boolean =>
      at.startsWith(FOLLOWING) ? at.slice(1) > key : at !== '' && at >= key;
    const isGeneral = ({ recurrence_key: at }: ParticipantRow): boolean =>
      at === '' || at.startsWith(FOLLOWING);
    const whole = responseAt(own.filter(isGeneral), key);
    return [
      ...(whole ? [{ ...whole, recurrence_key: '', removed: false }] : []),
      ...(whole?.removed ? [{ ...whole, recurrence_key: `${FOLLOWING}${key}` }] : []),
      ...own.filter(isLater),
    ];
  });
}
