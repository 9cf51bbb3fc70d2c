import { formatRule, instancesOf, parseRule, type Rule } from '../../../lib/recurrence/index.js';
import type { EventRecord, ParticipantRow } from '../model/event-record.js';
import { FOLLOWING, responseAt } from '../model/event-policy.js';
import { seriesOf } from '../model/event-series.js';
import { instantOf, isDay, nominalLength, wallOf, wallText } from '../model/event-times.js';

/** The part of a series before an instance, and the part from it on. */
export interface Split {
  /** Null: the instance is the first one. */
  earlier: EventRecord | null;
  /** With the id, uid and revision of the series; the caller gives it its own. */
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
  const all = instancesOf({ ...series, added: [] }, { from, to: instantOf(at, record.time_zone) });
  const before = all.filter((instance) => instance.key < at);
  const isEarlier = (other: string): boolean => other < key;
  const later: EventRecord = {
    ...record,
    starts: key,
    ends: wallText(at + nominalLength(record), isDay(record.starts)),
    rules: record.rules.map((text) => laterRule(parseRule(text), before.length)),
    added: record.added.filter((other) => other > key),
    excluded: record.excluded.filter((other) => !isEarlier(other)),
    overrides: record.overrides.filter(({ recurrence_key }) => !isEarlier(recurrence_key)),
    participants: laterResponses(record.participants, key),
  };
  const hasEarlier = before.length > 0 || record.added.some(isEarlier);
  const last = before.at(-1);
  const earlier: EventRecord = {
    ...record,
    rules: last ? record.rules.map((text) => earlierRule(parseRule(text), last, record)) : [],
    added: record.added.filter(isEarlier),
    excluded: record.excluded.filter(isEarlier),
    overrides: record.overrides.filter(({ recurrence_key }) => isEarlier(recurrence_key)),
    participants: record.participants.filter(
      ({ recurrence_key }) => recurrence_key.replace(FOLLOWING, '') < key,
    ),
    sequence: record.sequence + 1,
    dtstamp: now,
  };
  return { earlier: hasEarlier ? earlier : null, later };
}

/** A rule that ends with the last instance before the split; UNTIL is in UTC, or in the clock of a series without a zone. */
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

/** The responses of the later part: those to its instances, and for each attendee the one that applies at the split. */
function laterResponses(rows: readonly ParticipantRow[], key: string): ParticipantRow[] {
  return [...Map.groupBy(rows, ({ email }) => email).values()].flatMap((own) => {
    const isLater = ({ recurrence_key: at }: ParticipantRow): boolean =>
      at.startsWith(FOLLOWING) ? at.slice(1) > key : at !== '' && at >= key;
    const isGeneral = ({ recurrence_key: at }: ParticipantRow): boolean =>
      at === '' || at.startsWith(FOLLOWING);
    const whole = responseAt(own.filter(isGeneral), key);
    return [...(whole ? [{ ...whole, recurrence_key: '' }] : []), ...own.filter(isLater)];
  });
}
