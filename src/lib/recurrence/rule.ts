import { parseWallTime } from './civil.js';
import { RecurrenceError } from './errors.js';

export const FREQUENCIES = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY'] as const;
export type Frequency = (typeof FREQUENCIES)[number];
/** In the order of `weekdayOf`. */
export const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const;

/** Limits of a rule's text. */
export const RULE_LIMITS = { length: 1_024, count: 10_000, interval: 10_000, timesPerDay: 1_440 } as const;

/** A day of the week, or with `nth` the nth one of its month or year; negative counts from the end. */
export interface ByDay {
  /** 0 Monday to 6 Sunday. */
  weekday: number;
  nth: number | null;
}

/** The end of a rule: a UTC instant, a wall time in the series' own zone, or a date that is included whole. */
export interface Until {
  kind: 'utc' | 'wall' | 'date';
  /** Seconds since 1970-01-01T00:00:00, of UTC or of the wall clock; midnight for a date. */
  time: number;
}

/** A recurrence rule (RFC 5545, 3.3.10). Lists are sorted and without repetition; an absent part is an empty list. */
export interface Rule {
  freq: Frequency;
  interval: number;
  count: number | null;
  until: Until | null;
  byMonth: number[];
  byWeekNo: number[];
  byYearDay: number[];
  byMonthDay: number[];
  byDay: ByDay[];
  byHour: number[];
  byMinute: number[];
  bySecond: number[];
  bySetPos: number[];
  /** First day of the week, 0 Monday to 6 Sunday. */
  weekStart: number;
}

type Reader = (value: string, name: string) => unknown;

const fail = (part: string, message: string): never => {
  throw new RecurrenceError('invalid_rule', message, part);
};

/** A list of whole numbers between two bounds; negative ones count from the end where `signed`. */
const numbers =
  (low: number, high: number, signed = false): Reader =>
  (value, name) => {
    const list = value.split(',').map((text) => {
      const number = Number(text);
      const size = signed ? Math.abs(number) : number;
      if (!(signed ? /^[+-]?\d{1,3}$/ : /^\d{1,3}$/).test(text) || size < low || size > high)
        fail(name, `${name} takes numbers from ${low} to ${high}, not ${text}`);
      return number;
    });
    return [...new Set(list)].toSorted((a, b) => a - b);
  };

const positive =
  (limit: number): Reader =>
  (value, name) => {
    if (!/^\d{1,9}$/.test(value) || Number(value) < 1)
      fail(name, `${name} takes a whole number of at least 1`);
    if (Number(value) > limit)
      throw new RecurrenceError('rule_too_large', `${name} is at most ${limit}`, name);
    return Number(value);
  };

const PARTS: Record<string, { key: keyof Rule; read: Reader }> = {
  FREQ: { key: 'freq', read: readFrequency },
  UNTIL: { key: 'until', read: readUntil },
  COUNT: { key: 'count', read: positive(RULE_LIMITS.count) },
  INTERVAL: { key: 'interval', read: positive(RULE_LIMITS.interval) },
  BYSECOND: { key: 'bySecond', read: numbers(0, 60) },
  BYMINUTE: { key: 'byMinute', read: numbers(0, 59) },
  BYHOUR: { key: 'byHour', read: numbers(0, 23) },
  BYDAY: { key: 'byDay', read: readByDay },
  BYMONTHDAY: { key: 'byMonthDay', read: numbers(1, 31, true) },
  BYYEARDAY: { key: 'byYearDay', read: numbers(1, 366, true) },
  BYWEEKNO: { key: 'byWeekNo', read: numbers(1, 53, true) },
  BYMONTH: { key: 'byMonth', read: numbers(1, 12) },
  BYSETPOS: { key: 'bySetPos', read: numbers(1, 366, true) },
  WKST: { key: 'weekStart', read: readWeekday },
};

function readFrequency(value: string): Frequency {
  if (value === 'SECONDLY' || value === 'MINUTELY')
    throw new RecurrenceError('frequency_unsupported', `FREQ=${value} is not supported`, 'FREQ');
  return (FREQUENCIES as readonly string[]).includes(value)
    ? (value as Frequency)
    : fail('FREQ', `${value} is no frequency`);
}

function readWeekday(value: string, name: string): number {
  const weekday = (WEEKDAYS as readonly string[]).indexOf(value);
  return weekday >= 0 ? weekday : fail(name, `${value} is no day of the week`);
}

function readByDay(value: string): ByDay[] {
  const days = new Map<string, ByDay>();
  for (const text of value.split(',')) {
    const [, nth, name] =
      /^([+-]?\d{1,2})?([A-Z]{2})$/.exec(text) ?? fail('BYDAY', `${text} is no day of the week`);
    const number = nth === undefined ? null : Number(nth);
    if (number === 0 || (number !== null && Math.abs(number) > 53)) fail('BYDAY', `${text} is out of range`);
    const day = { weekday: readWeekday(name as string, 'BYDAY'), nth: number };
    days.set(`${day.nth ?? ''} ${day.weekday}`, day);
  }
  return [...days.values()];
}

function readUntil(value: string): Until {
  const time = parseWallTime(value.replace(/Z$/, ''));
  if (time === null || !/^\d{8}(?:T\d{6}Z?)?$/.test(value)) fail('UNTIL', `${value} is no date or date-time`);
  const kind = value.endsWith('Z') ? 'utc' : value.includes('T') ? 'wall' : 'date';
  return { kind, time: time as number };
}

/**
 * Reads a rule, with or without `RRULE:`.
 * @throws RecurrenceError
 */
export function parseRule(text: string): Rule {
  if (text.length > RULE_LIMITS.length)
    throw new RecurrenceError('rule_too_large', `A rule has at most ${RULE_LIMITS.length} characters`);
  const rule: Rule = {
    freq: 'DAILY',
    interval: 1,
    count: null,
    until: null,
    byMonth: [],
    byWeekNo: [],
    byYearDay: [],
    byMonthDay: [],
    byDay: [],
    byHour: [],
    byMinute: [],
    bySecond: [],
    bySetPos: [],
    weekStart: 0,
  };
  const seen = new Set<string>();
  const body = text
    .trim()
    .replace(/^RRULE:/i, '')
    .replace(/;$/, '')
    .toUpperCase();
  for (const part of body.split(';')) {
    const [name = '', value = '', ...more] = part.split('=');
    if (name === 'RSCALE' || name === 'SKIP')
      throw new RecurrenceError('rscale_unsupported', `${name} (RFC 7529) is not supported`, name);
    if (!Object.hasOwn(PARTS, name)) fail(name, `${name || 'An empty part'} is no part of a rule`);
    if (seen.has(name) || more.length > 0) fail(name, `${name} is given twice`);
    seen.add(name);
    const { key, read } = PARTS[name] as (typeof PARTS)[string];
    Object.assign(rule, { [key]: read(value, name) });
  }
  if (!seen.has('FREQ')) fail('FREQ', 'A rule needs FREQ');
  assertAllowed(rule);
  return rule;
}

/** The restrictions of RFC 5545, 3.3.10, between parts. */
function assertAllowed(rule: Rule): void {
  const { freq } = rule;
  const numbered = rule.byDay.some(({ nth }) => nth !== null);
  const used = (key: keyof Rule): boolean => (rule[key] as unknown[]).length > 0;
  if (rule.count !== null && rule.until !== null) fail('UNTIL', 'A rule has COUNT or UNTIL, not both');
  if (numbered && freq !== 'MONTHLY' && freq !== 'YEARLY')
    fail('BYDAY', `BYDAY takes no numbers with FREQ=${freq}`);
  if (numbered && used('byWeekNo')) fail('BYDAY', 'BYDAY takes no numbers with BYWEEKNO');
  if (freq === 'MONTHLY' && rule.byDay.some(({ nth }) => Math.abs(nth ?? 0) > 5))
    fail('BYDAY', 'A month has at most 5 of each day of the week');
  if (used('byMonthDay') && freq === 'WEEKLY')
    fail('BYMONTHDAY', 'BYMONTHDAY is not allowed with FREQ=WEEKLY');
  if (used('byYearDay') && ['DAILY', 'WEEKLY', 'MONTHLY'].includes(freq))
    fail('BYYEARDAY', `BYYEARDAY is not allowed with FREQ=${freq}`);
  if (used('byWeekNo') && freq !== 'YEARLY') fail('BYWEEKNO', `BYWEEKNO is not allowed with FREQ=${freq}`);
  const others: (keyof Rule)[] = [
    'byMonth',
    'byWeekNo',
    'byYearDay',
    'byMonthDay',
    'byDay',
    'byHour',
    'byMinute',
    'bySecond',
  ];
  if (used('bySetPos') && !others.some(used)) fail('BYSETPOS', 'BYSETPOS needs another BY part');
  const perHour = Math.max(1, rule.byMinute.length) * Math.max(1, rule.bySecond.length);
  const hours = freq === 'HOURLY' ? 24 : Math.max(1, rule.byHour.length);
  if (perHour * hours > RULE_LIMITS.timesPerDay)
    throw new RecurrenceError('rule_too_large', `A rule has at most ${RULE_LIMITS.timesPerDay} times a day`);
}

/** The rule in its shortest canonical spelling: parts in the order of RFC 5545, defaults left out. */
export function formatRule(rule: Rule): string {
  const parts = [`FREQ=${rule.freq}`];
  const list = (name: string, values: readonly unknown[]): void => {
    if (values.length > 0) parts.push(`${name}=${values.join(',')}`);
  };
  if (rule.until) parts.push(`UNTIL=${formatUntil(rule.until)}`);
  if (rule.count !== null) parts.push(`COUNT=${rule.count}`);
  if (rule.interval !== 1) parts.push(`INTERVAL=${rule.interval}`);
  list('BYSECOND', rule.bySecond);
  list('BYMINUTE', rule.byMinute);
  list('BYHOUR', rule.byHour);
  list(
    'BYDAY',
    rule.byDay.map(({ weekday, nth }) => `${nth ?? ''}${WEEKDAYS[weekday]}`),
  );
  list('BYMONTHDAY', rule.byMonthDay);
  list('BYYEARDAY', rule.byYearDay);
  list('BYWEEKNO', rule.byWeekNo);
  list('BYMONTH', rule.byMonth);
  list('BYSETPOS', rule.bySetPos);
  if (rule.weekStart !== 0) parts.push(`WKST=${WEEKDAYS[rule.weekStart]}`);
  return parts.join(';');
}

function formatUntil({ kind, time }: Until): string {
  const text = new Date(time * 1000).toISOString().replaceAll(/[-:]|\.000Z$/g, '');
  return kind === 'date' ? text.slice(0, 8) : kind === 'utc' ? `${text}Z` : text;
}
