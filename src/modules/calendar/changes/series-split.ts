import {
  continuedRule,
  DAY,
  formatRule,
  type Instance,
  instancesOf,
  type Rule,
  type Series,
} from '../../../lib/recurrence/index.js';
import type { EventRecord, ParticipantRow } from '../model/event-record.js';
import { FOLLOWING, responseAt } from '../model/event-policy.js';
import { firstFrom, hasInstances, seriesOf } from '../model/event-series.js';
import { instantOf, isDay, timesAt, wallOf, wallText } from '../model/event-times.js';

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
  const byRules = { ...series, added: [] };
  const before = byRules.rules.map((rule) => lastBefore(byRules, rule, at));
  const isEarlier = (other: string): boolean => other < key;
  const later: EventRecord = {
    ...record,
    ...laterPattern(record, byRules, key),
    excluded: record.excluded.filter((other) => !isEarlier(other)),
    overrides: record.overrides.filter(({ recurrence_key }) => !isEarlier(recurrence_key)),
    participants: laterResponses(record.participants, key),
  };
  const hasRules = before.some((last) => last !== null);
  const addedBefore = record.added.filter(isEarlier);
  const earlier: EventRecord = {
    ...record,
    ...(hasRules
      ? {
          rules: byRules.rules.map((rule, n) => earlierRule(rule, before[n] ?? null, record)),
          added: addedBefore,
        }
      : addedAlone(record, addedBefore)),
    excluded: record.excluded.filter(isEarlier),
    overrides: record.overrides.filter(({ recurrence_key }) => isEarlier(recurrence_key)),
    participants: record.participants.filter(
      ({ recurrence_key }) => recurrence_key.replace(FOLLOWING, '') < key,
    ),
    sequence: record.sequence + 1,
    dtstamp: now,
  };
  const hasEarlier = (hasRules || addedBefore.length > 0) && hasInstances(earlier);
  return { earlier: hasEarlier ? earlier : null, later };
}

type Pattern = Pick<EventRecord, 'starts' | 'ends' | 'rules' | 'added'>;

/** Instances after a split that are tried as the start of the later part. */
const MAX_STARTS = 1_000;

/** The last instance of one rule of a series before a wall time. The start of the series counts for each rule. */
function lastBefore(byRules: Series, rule: Rule, at: number): Instance | null {
  const [first, to] = [byRules.start, at].map((wall) => instantOf(wall, byRules.zone)) as [number, number];
  for (let reach = 4 * DAY; ; reach *= 8) {
    const found = instancesOf({ ...byRules, rules: [rule] }, { from: Math.max(first, to - reach), to });
    const last = found.findLast((instance) => instance.key < at);
    if (last || to - reach < first) return last ?? null;
  }
}

/** The number of instances of a rule with COUNT before a wall time. */
function countBefore(byRules: Series, rule: Rule, at: number): number {
  const [from, to] = [byRules.start, at].map((wall) => instantOf(wall, byRules.zone)) as [number, number];
  const found = instancesOf({ ...byRules, rules: [rule] }, { from, to });
  return found.filter((instance) => instance.key < at).length;
}

/**
 * The part from an instance on. It starts with an instance of the rules, because rules take their time of day and their period
 * from the start. Instances before this start are added instances.
 */
function laterPattern(record: EventRecord, byRules: Series, key: string): Pattern {
  const at = wallOf(key);
  const added = record.added.filter((other) => other >= key);
  const left = byRules.rules.filter((rule) => firstFrom({ ...byRules, rules: [rule] }, at) !== null);
  const first = firstFrom({ ...byRules, rules: left }, at);
  if (left.length === 0 || first === null) return addedAlone(record, added);
  const startAt = (next: number, passed: readonly number[]): Pattern => {
    const rules = left.map((rule) => laterRule(byRules, rule, next));
    const start = timesAt(record, next);
    return { ...start, rules, added: withDates(added, passed, byRules).filter((at) => at !== start.starts) };
  };
  const suits = (next: number): boolean => left.every((rule) => continuedRule(rule, byRules, next) !== null);
  if (suits(first)) return startAt(first, []);
  // Rules that count different periods, such as every second week and every third day, need a start in a period of each.
  const from = instantOf(first, byRules.zone);
  const window = { from, to: Number.POSITIVE_INFINITY, limit: MAX_STARTS };
  const walls = instancesOf({ ...byRules, rules: left }, window).map((instance) => instance.key);
  const n = walls.findIndex(suits);
  return n < 0
    ? addedAlone(record, withDates(added, walls, byRules))
    : startAt(walls[n] as number, walls.slice(0, n));
}

const withDates = (added: readonly string[], walls: readonly number[], { isDate }: Series): string[] =>
  [...new Set([...added, ...walls.map((wall) => wallText(wall, isDate))])].toSorted();

/** A part that has added instances only. */
function addedAlone(record: EventRecord, [first, ...added]: readonly string[]): Pattern {
  return { ...timesAt(record, wallOf(first ?? record.starts)), rules: [], added };
}

/** A rule that ends with its last instance before the split; UNTIL is in UTC; for a series without a zone, a wall time. */
function earlierRule(rule: Rule, last: Instance | null, { starts, time_zone }: EventRecord): string {
  if (!last) return formatRule(rule);
  const kind = isDay(starts) ? 'date' : time_zone === null ? 'wall' : 'utc';
  const until = { kind, time: kind === 'utc' ? last.start : last.key } as const;
  return formatRule({ ...rule, count: null, until });
}

/** A rule in a part that starts at a wall time in one of its periods. The start counts for each rule. */
function laterRule(byRules: Series, rule: Rule, next: number): string {
  const continued = continuedRule(rule, byRules, next) as Rule;
  if (rule.count === null) return formatRule(continued);
  const isFirst = firstFrom({ ...byRules, rules: [rule] }, next) === next;
  const left = rule.count - countBefore(byRules, rule, next);
  return formatRule({ ...continued, count: left + (isFirst ? 0 : 1) });
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
