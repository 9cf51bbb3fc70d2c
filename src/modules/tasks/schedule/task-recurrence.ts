import { ValidateBy } from 'class-validator';
import { RRuleTemporal } from 'rrule-temporal';

export const MAX_RULE = 500;
/** What one evaluation may cost; a rule that needs more has no next occurrence. */
const BUDGET = { maxIterations: 400, maxCandidateEvaluations: 2_000, cache: false } as const;
const MAX_INTERVAL = 1_000;
const MAX_COUNT = 366;
const MAX_VALUES = 31;

const WEEKDAY = /^(?:[+-]?(?:[1-9]|[1-4]\d|5[0-3]))?(?:MO|TU|WE|TH|FR|SA|SU)$/;
const list = (value: string) => (value.split(',').length <= MAX_VALUES ? value.split(',') : ['too many']);
const numbers = (max: number) => (value: string) =>
  list(value).every((n) => /^[+-]?[1-9]\d{0,2}$/.test(n) && Math.abs(Number(n)) <= max);
const upTo = (max: number) => (value: string) => /^[1-9]\d{0,3}$/.test(value) && Number(value) <= max;

/** The parts of a rule that are allowed, and what each may say (RFC 5545, 3.3.10). */
const PARTS: Record<string, (value: string) => boolean> = {
  FREQ: (value) => /^(?:DAILY|WEEKLY|MONTHLY|YEARLY)$/.test(value),
  INTERVAL: upTo(MAX_INTERVAL),
  COUNT: upTo(MAX_COUNT),
  UNTIL: (value) => /^\d{8}(?:T\d{6}Z?)?$/.test(value) && !Number.isNaN(untilTime(value)),
  BYDAY: (value) => list(value).every((day) => WEEKDAY.test(day)),
  BYMONTHDAY: numbers(31),
  BYYEARDAY: numbers(366),
  BYWEEKNO: numbers(53),
  BYMONTH: (value) => list(value).every((n) => /^(?:0?[1-9]|1[0-2])$/.test(n)),
  BYSETPOS: numbers(366),
  WKST: (value) => /^(?:MO|TU|WE|TH|FR|SA|SU)$/.test(value),
};

const untilTime = (value: string): number => {
  const [, y, m, d, time = '000000'] = /^(\d{4})(\d\d)(\d\d)(?:T(\d{6})Z?)?$/.exec(value) ?? [];
  return Date.parse(`${y}-${m}-${d}T${time.slice(0, 2)}:${time.slice(2, 4)}:${time.slice(4)}Z`);
};

/** The rule in one spelling, without `RRULE:`; null when it is none, or none whose occurrences are days. */
export function canonicalRule(text: string): string | null {
  if (text.length > MAX_RULE) return null;
  const parts = text
    .trim()
    .replace(/^RRULE:/i, '')
    .toUpperCase()
    .split(';');
  const seen = new Map<string, string>();
  for (const part of parts) {
    const [name = '', value = '', ...more] = part.split('=');
    if (more.length > 0 || seen.has(name) || !Object.hasOwn(PARTS, name) || !PARTS[name]?.(value))
      return null;
    seen.set(name, value);
  }
  const monthly = seen.get('FREQ') === 'MONTHLY' || seen.get('FREQ') === 'YEARLY';
  if (!seen.has('FREQ') || (seen.has('COUNT') && seen.has('UNTIL'))) return null;
  if (!monthly && /\d/.test(seen.get('BYDAY') ?? '')) return null;
  if (seen.has('BYWEEKNO') && seen.get('FREQ') !== 'YEARLY') return null;
  // Defined, but the library takes the days of the year whatever their weekday.
  if (seen.has('BYYEARDAY') && (seen.has('BYDAY') || seen.get('FREQ') !== 'YEARLY')) return null;
  if (seen.has('BYSETPOS') && ![...seen.keys()].some((name) => name.startsWith('BY') && name !== 'BYSETPOS'))
    return null;
  return Object.keys(PARTS)
    .flatMap((name) => (seen.has(name) ? [`${name}=${seen.get(name)}`] : []))
    .join(';');
}

/** A repeating task, as far as its next date depends on it. */
export interface Repeating {
  rrule: string;
  from: 'schedule' | 'completion';
  /** Local day, or day and time, of the first occurrence: `2026-01-05` or `2026-01-05T09:00:00`. */
  start: string;
  timeZone: string;
  /** What the task being completed had. */
  date: string;
  dueAt: Date | null;
}

/** When the next occurrence is: a day, and with an hour the moment. */
export interface Occurrence {
  date: string;
  dueAt: Date | null;
}

/**
 * The next occurrence of a repeating task: at the same local hour, whatever daylight saving does.
 * @param now when it is completed
 * @returns null when the series is over, or cannot be worked out with bounded effort
 */
export function nextOccurrence(task: Repeating, now: Date): Occurrence | null {
  const timed = task.dueAt !== null && task.start.includes('T');
  // Days without hours are days anywhere: they are counted in UTC.
  const zone = timed ? task.timeZone : 'UTC';
  const start = `${task.start.slice(0, 10)}${timed ? task.start.slice(10) : 'T00:00:00'}`.replaceAll(
    /[-:]/g,
    '',
  );
  const scheduled = timed ? (task.dueAt as Date) : new Date(`${task.date}T00:00:00Z`);
  const done = timed ? now : new Date(`${dayIn(task.timeZone, now)}T00:00:00Z`);
  const after = task.from === 'completion' && done > scheduled ? done : scheduled;
  const found = firstAfter(`DTSTART;TZID=${zone}:${start}\nRRULE:${fitting(task.rrule, timed)}`, after);
  if (!found) return null;
  const date = timed ? dayIn(task.timeZone, found) : found.toISOString().slice(0, 10);
  return date > '9998-12-31' ? null : { date, dueAt: timed ? found : null };
}

function firstAfter(rruleString: string, after: Date): Date | null {
  try {
    const next = new RRuleTemporal({ rruleString, ...BUDGET }).next(after);
    return next === null ? null : new Date(next.toInstant().epochMilliseconds);
  } catch {
    return null;
  }
}

/** UNTIL may name a day, a local or a universal time; the library wants it to match how DTSTART is given. */
function fitting(rrule: string, timed: boolean): string {
  return rrule.replace(/UNTIL=(\d{8})(T\d{6})?(Z)?/, (_, day: string, time?: string) =>
    timed ? `UNTIL=${day}${time ?? 'T235959'}Z` : `UNTIL=${day}T235959Z`,
  );
}

/** The day that a clock in this zone shows. */
export function dayIn(timeZone: string, moment: Date): string {
  const parts = new Intl.DateTimeFormat('en-u-ca-iso8601', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).formatToParts(moment);
  const part = (type: string) => parts.find((p) => p.type === type)?.value ?? '';
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`;
}

/** A rule we can follow: known parts, and occurrences that are days. */
export const RecurrenceRule = () =>
  ValidateBy({
    name: 'isRecurrenceRule',
    validator: {
      validate: (value) => typeof value === 'string' && canonicalRule(value) !== null,
      defaultMessage: () =>
        'rrule must be a rule of RFC 5545 of at most 500 characters whose FREQ is DAILY, WEEKLY, MONTHLY or YEARLY',
    },
  });
