import { RRuleTemporal } from 'rrule-temporal';
import { dayIn, isCalendarDay } from './calendar.js';

const MAX_RULE = 500;
/** Cost limits of one evaluation. A rule that exceeds them has no next occurrence. */
const BUDGET = { maxIterations: 400, maxCandidateEvaluations: 2_000, cache: false } as const;
const MAX_INTERVAL = 1_000;
const MAX_COUNT = 366;
const MAX_VALUES = 31;
const WEEKS_OF_MONTH = 5;

const WEEKDAY = /^(?:[+-]?(?:[1-9]|[1-4]\d|5[0-3]))?(?:MO|TU|WE|TH|FR|SA|SU)$/;
const UNTIL = /^(\d{4})(\d\d)(\d\d)(?:T((?:[01]\d|2[0-3])[0-5]\d[0-5]\d)(Z?))?$/;
const list = (value: string) =>
  value.split(',').length <= MAX_VALUES ? value.split(',') : ['too many values'];
const numbers = (max: number) => (value: string) =>
  list(value).every((n) => /^[+-]?[1-9]\d{0,2}$/.test(n) && Math.abs(Number(n)) <= max);
const upTo = (max: number) => (value: string) => /^[1-9]\d{0,3}$/.test(value) && Number(value) <= max;

/** The allowed parts of a rule and their values (RFC 5545, 3.3.10). */
const PARTS: Record<string, (value: string) => boolean> = {
  FREQ: (value) => /^(?:DAILY|WEEKLY|MONTHLY|YEARLY)$/.test(value),
  INTERVAL: upTo(MAX_INTERVAL),
  COUNT: upTo(MAX_COUNT),
  UNTIL: (value) => UNTIL.test(value) && isCalendarDay(value.replace(UNTIL, '$1-$2-$3')),
  BYDAY: (value) => list(value).every((day) => WEEKDAY.test(day)),
  BYMONTHDAY: numbers(31),
  BYYEARDAY: numbers(366),
  BYWEEKNO: numbers(53),
  BYMONTH: (value) => list(value).every((n) => /^(?:0?[1-9]|1[0-2])$/.test(n)),
  BYSETPOS: numbers(366),
  WKST: (value) => /^(?:MO|TU|WE|TH|FR|SA|SU)$/.test(value),
};

/**
 * Normalises a recurrence rule: upper case, fixed order of parts, without `RRULE:`.
 * @returns null for a rule that RFC 5545 forbids and for a rule whose occurrences are not days
 */
export function canonicalRule(text: string): string | null {
  if (text.length > MAX_RULE) return null;
  const parts = text
    .trim()
    .replace(/^RRULE:/i, '')
    .toUpperCase()
    .split(';');
  const rule = new Map<string, string>();
  for (const part of parts) {
    const [name = '', value = '', ...more] = part.split('=');
    if (more.length > 0 || rule.has(name) || !Object.hasOwn(PARTS, name) || !PARTS[name]?.(value))
      return null;
    rule.set(name, value);
  }
  if (!partsFit(rule)) return null;
  return Object.keys(PARTS)
    .flatMap((name) => (rule.has(name) ? [`${name}=${rule.get(name)}`] : []))
    .join(';');
}

/** The constraints between the parts of a rule. */
function partsFit(rule: ReadonlyMap<string, string>): boolean {
  const frequency = rule.get('FREQ');
  if (!frequency || (rule.has('COUNT') && rule.has('UNTIL'))) return false;
  if (rule.has('BYMONTHDAY') && frequency === 'WEEKLY') return false;
  if (rule.has('BYWEEKNO') && frequency !== 'YEARLY') return false;
  // RFC 5545 allows BYYEARDAY with BYDAY, but the library ignores the weekdays.
  if (rule.has('BYYEARDAY') && (rule.has('BYDAY') || frequency !== 'YEARLY')) return false;
  if (rule.has('BYSETPOS') && ![...rule.keys()].some((name) => name.startsWith('BY') && name !== 'BYSETPOS'))
    return false;
  const weeks = Math.max(0, ...(rule.get('BYDAY') ?? '').split(',').map(weekOf));
  if (weeks === 0) return true;
  if (frequency === 'MONTHLY' || (frequency === 'YEARLY' && rule.has('BYMONTH')))
    return weeks <= WEEKS_OF_MONTH;
  return frequency === 'YEARLY' && !rule.has('BYWEEKNO');
}

/** The number before a weekday without its sign, e.g. 2 for `-2MO`; 0 without a number. */
const weekOf = (day: string): number => Number(/\d+/.exec(day)?.[0] ?? 0);

/** The fields of a repeating task that its next date depends on. */
export interface Repeating {
  rrule: string;
  from: 'schedule' | 'completion';
  /** Local day, or day and time, of the first occurrence: `2026-01-05` or `2026-01-05T09:00:00`. */
  start: string;
  /** The day of this occurrence by the rule. The task may have been moved to another date since. */
  scheduled?: string;
  timeZone: string;
  /** The date of the task that is being completed. */
  date: string;
  dueAt: Date | null;
}

export interface Occurrence {
  date: string;
  dueAt: Date | null;
}

/**
 * Finds the next occurrence of a repeating task. The local hour stays the same across changes of daylight saving time.
 * @param now when the task is completed
 * @returns null when the series has ended, or when the rule exceeds the cost limits
 */
export function nextOccurrence(task: Repeating, now: Date): Occurrence | null {
  const timed = task.dueAt !== null && task.start.includes('T');
  const hour = timed ? task.start.slice(10) : 'T00:00:00';
  // Days without an hour do not depend on a time zone: UTC.
  const zone = timed ? task.timeZone : 'UTC';
  const current = timed ? (task.dueAt as Date) : new Date(`${task.date}T00:00:00Z`);
  const completed = timed ? now : new Date(`${dayIn(task.timeZone, now)}T00:00:00Z`);
  const after = [current, ...(task.from === 'completion' ? [completed] : [])];
  if (task.scheduled) after.push(instantOf(zone, task.scheduled + hour));
  const rule = untilInZone(task.rrule, timed, task.timeZone);
  const found = firstAfter(
    zone,
    task.start.slice(0, 10) + hour,
    rule,
    new Date(Math.max(...after.map(Number))),
  );
  if (!found) return null;
  const date = timed ? dayIn(task.timeZone, found) : found.toISOString().slice(0, 10);
  return date > '9998-12-31' ? null : { date, dueAt: timed ? found : null };
}

/** @param start local time, e.g. `2026-01-05T09:00:00` */
const series = (zone: string, start: string, rule: string) =>
  new RRuleTemporal({
    rruleString: `DTSTART;TZID=${zone}:${start.replaceAll(/[-:]/g, '')}\nRRULE:${rule}`,
    ...BUDGET,
  });

function firstAfter(zone: string, start: string, rule: string, after: Date): Date | null {
  try {
    const next = series(zone, start, rule).next(after);
    return next === null ? null : new Date(next.toInstant().epochMilliseconds);
  } catch {
    return null;
  }
}

/** The moment of a local time. */
const instantOf = (zone: string, local: string): Date =>
  new Date(series(zone, local, 'FREQ=DAILY;COUNT=1').options().dtstart.epochMilliseconds);

/**
 * UNTIL names a day, a local time or a universal time. The library reads days and universal times only, and compares
 * days without an hour with days.
 */
function untilInZone(rrule: string, timed: boolean, timeZone: string): string {
  return rrule.replace(/UNTIL=[\dTZ]+/, (part) => {
    const [, year, month, day, time, utc] = UNTIL.exec(part.slice('UNTIL='.length)) ?? [];
    if (time === undefined || (timed && utc)) return part;
    const local = `${year}-${month}-${day}T${time.replace(/^(..)(..)/, '$1:$2:')}`;
    const moment = timed ? instantOf(timeZone, local).toISOString().slice(0, 19) + 'Z' : local.slice(0, 10);
    const until = utc ? dayIn(timeZone, new Date(`${local}Z`)) : moment;
    return `UNTIL=${until.replaceAll(/[-:]/g, '')}`;
  });
}
