import { type Component, propertiesOf } from '../../../../lib/icalendar/index.js';
import {
  DAY,
  formatRule,
  instancesOf,
  lastInstance,
  parseRule,
  RecurrenceError,
  repairRule,
  type Rule,
  withWallUntil,
} from '../../../../lib/recurrence/index.js';
import { MAX_DATES, type Start, type Warn } from '../vevent-time-parts.js';
import { instantOf, wallIn } from '../event-times.js';

/** Instances of a series, and of the rules that exclude some of them, that are compared. */
const COMPARED = 5_000;
/** Four years: all dates of the first year come again, 29 February too. */
const LEAP_YEARS = 1_461 * DAY;

/** The offset of a clock at an instant, in seconds east of UTC; 0 without a zone. */
export const offsetIn = ({ zone, rules }: Pick<Start, 'zone' | 'rules'>, instant: number): number => {
  if (rules) return rules.offsetAt(instant);
  return zone === null ? 0 : wallIn(zone, instant) - instant;
};

/** A rule whose end is a time on the clock of the start. */
export const onClock = (rule: Rule, start: Start): Rule =>
  withWallUntil(rule, (at) => offsetIn(start.clock ?? start, at));

/**
 * The rules of an event in their canonical spelling. If a file writes days as times, UNTIL becomes a day on its clock; if a zone replaces the
 * rules of the file, UNTIL becomes the same time on the clock of that zone.
 * @throws RecurrenceError
 */
export const rulesOf = (event: Component, start: Start, warn: Warn): string[] =>
  propertiesOf(event, 'RRULE').flatMap(({ value }) => {
    const rule = readRule(value, start, warn);
    if (!rule) return [];
    if (rule.until?.kind !== 'utc' || !(start.clock ?? start.replaced)) return [formatRule(rule)];
    if (start.replaced) {
      const { time } = rule.until;
      const wall = time + start.replaced.offsetAt(time);
      return [formatRule({ ...rule, until: { kind: 'utc', time: instantOf(wall, start.zone) } })];
    }
    const { until } = onClock(rule, start);
    return [
      formatRule({ ...rule, until: until && { kind: 'date', time: Math.floor(until.time / DAY) * DAY } }),
    ];
  });

/** @returns null for a rule without content */
function readRule(text: string, start: Start, warn: Warn): Rule | null {
  try {
    return parseRule(text);
  } catch (error) {
    if (!(error instanceof RecurrenceError) || error.code !== 'invalid_rule') throw error;
    const [rule = null, other] = repairRule(text);
    warn(
      'rule_repaired',
      `${text.slice(0, 200)} is no rule of RFC 5545: ${error.message}. It is read without this part.`,
    );
    return rule && other ? earlier(rule, other, start) : rule;
  }
}

/** Returns that rule which ends first, of one with COUNT and one with UNTIL. */
function earlier(counted: Rule, dated: Rule, start: Start): Rule {
  const { until } = onClock(dated, start);
  const last = lastInstance({ start: start.wall, zone: null, isDate: start.isDate, rules: [counted] });
  const end = until && until.time + (until.kind === 'date' ? DAY - 1 : 0);
  return last !== null && last !== 'endless' && end !== null && last.key > end ? dated : counted;
}

/**
 * The instances that the rules of EXRULE exclude, as wall times on the clock of the start. RFC 5545 has no EXRULE any more (A.3); older
 * files do (RFC 2445, 4.8.5.2). They become dates, so that of two endless series the first years are compared.
 * @param max the number of dates that the event has room for
 * @throws RecurrenceError
 */
export function excludedByRules(
  event: Component,
  start: Start,
  rules: readonly string[],
  warn: Warn,
  max = MAX_DATES,
): number[] {
  const read = propertiesOf(event, 'EXRULE').flatMap(({ value }) => readRule(value, start, warn) ?? []);
  if (read.length === 0) return [];
  const exceptions = read.map((rule) => onClock(rule, start));
  const found = wallsOf(exceptions, start);
  const walls = wallsOf(
    rules.map((text) => onClock(parseRule(text), start)),
    start,
  );
  const excluded = new Set(found);
  // The start is an instance of any series, but an exception only of a rule that it fits.
  if (!exceptions.some((rule) => fits(rule, start))) excluded.delete(start.wall);
  const both = walls.filter((wall) => excluded.has(wall));
  if (both.length > max || (found.length === COMPARED && walls.length === COMPARED))
    warn('exceptions_cut', `EXRULE excludes at most ${max} of the first ${COMPARED} dates.`);
  return both.slice(0, max);
}

const wallsOf = (rules: readonly Rule[], { wall: start, isDate }: Start): number[] =>
  instancesOf(
    { start, zone: null, isDate, rules },
    { from: start, to: Number.POSITIVE_INFINITY, limit: COMPARED },
  ).map(({ key }) => key);

/** Whether a rule has its start, computed from an earlier start with the same position in the intervals of the rule. */
function fits(rule: Rule, { wall, isDate }: Start): boolean {
  const step = { HOURLY: 3_600, DAILY: DAY, WEEKLY: 7 * DAY, MONTHLY: LEAP_YEARS, YEARLY: LEAP_YEARS }[
    rule.freq
  ];
  const series = {
    start: wall - rule.interval * step,
    zone: null,
    isDate,
    rules: [{ ...rule, count: null, until: null }],
  };
  return instancesOf(series, { from: wall, to: wall + 1, limit: 1 }).some(({ key }) => key === wall);
}

/** Whether a series in a zone that no IANA zone equals has too many instances to store each of them. */
export function isLong(event: Component, start: Start, warn: Warn): boolean {
  const rules = rulesOf(event, start, warn).map((text) => onClock(parseRule(text), start));
  const series = { start: start.wall, zone: null, isDate: false, rules };
  const window = { from: start.wall, to: Number.POSITIVE_INFINITY, limit: MAX_DATES + 1 };
  return instancesOf(series, window).length > MAX_DATES;
}
