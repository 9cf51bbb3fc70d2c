import { parseWallTime } from './civil.js';

export type RecurrenceErrorCode =
  /** The text is no rule of RFC 5545, 3.3.10, or contradicts itself. */
  | 'invalid_rule'
  /** SECONDLY or MINUTELY. */
  | 'frequency_unsupported'
  /** A calendar other than the Gregorian one (RSCALE of RFC 7529). */
  | 'rscale_unsupported'
  /** More than the limits of this library: length, COUNT, INTERVAL, times a day. */
  | 'rule_too_large';

/** A rule that cannot be read or is not supported. */
export class RecurrenceError extends Error {
  override readonly name = 'RecurrenceError';

  /** @param part the name of the rule part at fault, e.g. `BYDAY` */
  constructor(
    readonly code: RecurrenceErrorCode,
    message: string,
    readonly part?: string,
  ) {
    super(message);
  }
}

const FREQUENCIES = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY'] as const;
export type Frequency = (typeof FREQUENCIES)[number];
/** Days that a month or year lacks are left out, or become the last day before or the first day after (RFC 7529, 4.1). */
export type Skip = 'OMIT' | 'BACKWARD' | 'FORWARD';
/** The order is that of `weekdayOf`. */
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

/** A recurrence rule (RFC 5545, 3.3.10). Lists are without repetition; an absent part is an empty list. */
export interface Rule {
  freq: Frequency;
  interval: number;
  count: number | null;
  until: Until | null;
  byMonth: readonly number[];
  byWeekNo: readonly number[];
  byYearDay: readonly number[];
  byMonthDay: readonly number[];
  byDay: readonly ByDay[];
  byHour: readonly number[];
  byMinute: readonly number[];
  bySecond: readonly number[];
  bySetPos: readonly number[];
  /** First day of the week, 0 Monday to 6 Sunday. */
  weekStart: number;
  /** `OMIT` for a frequency under which no day of a month or year is computed. */
  skip: Skip;
}

const EMPTY_RULE: Rule = {
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
  skip: 'OMIT',
};

type Reader = (value: string, name: string) => unknown;

const fail = (part: string, message: string): never => {
  throw new RecurrenceError('invalid_rule', message, part);
};

const UNSIGNED = /^\d{1,3}$/;
const SIGNED = /^[+-]?\d{1,3}$/;

/** A list of whole numbers between two bounds; negative ones count from the end where `signed`. */
const numbers =
  (low: number, high: number, signed = false): Reader =>
  (value, name) => {
    const readOne = (text: string): number => {
      const number = Number(text);
      const size = signed ? Math.abs(number) : number;
      if (!(signed ? SIGNED : UNSIGNED).test(text) || size < low || size > high)
        fail(name, `${name} takes numbers from ${low} to ${high}, not ${text}`);
      return number;
    };
    if (!value.includes(',')) return [readOne(value)];
    return [...new Set(value.split(',').map(readOne))].toSorted((a, b) => a - b);
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

const PARTS = new Map<string, { key: keyof Rule; read: Reader }>(
  Object.entries({
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
    SKIP: { key: 'skip', read: readSkip },
  }),
);

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

function readSkip(value: string): Skip {
  return value === 'OMIT' || value === 'BACKWARD' || value === 'FORWARD'
    ? value
    : fail('SKIP', `SKIP takes OMIT, BACKWARD or FORWARD, not ${value}`);
}

const BY_DAY = /^([+-]?\d{1,2})?([A-Z]{2})$/;

function readByDay(value: string): ByDay[] {
  const days: ByDay[] = [];
  for (const text of value.split(',')) {
    const [, number, name = ''] = BY_DAY.exec(text) ?? fail('BYDAY', `${text} is no day of the week`);
    const nth = number === undefined ? null : Number(number);
    if (nth === 0 || (nth !== null && Math.abs(nth) > 53)) fail('BYDAY', `${text} is out of range`);
    const weekday = readWeekday(name, 'BYDAY');
    if (!days.some((day) => day.weekday === weekday && day.nth === nth)) days.push({ weekday, nth });
  }
  return days;
}

const UNTIL = /^\d{8}(?:T\d{6}Z?)?$/;

function readUntil(value: string): Until {
  const isUtc = value.endsWith('Z');
  const time = UNTIL.test(value) ? parseWallTime(isUtc ? value.slice(0, -1) : value) : null;
  if (time === null) return fail('UNTIL', `${value} is no date or date-time`);
  return { kind: isUtc ? 'utc' : value.includes('T') ? 'wall' : 'date', time };
}

/** Names of the parts of a rule. */
export const RULE_PARTS: ReadonlySet<string> = new Set([...PARTS.keys(), 'RSCALE']);

const CACHED_RULES = 2_000;
const PREFIX_OR_END = /^RRULE:|;$/gi;
const parsed = new Map<string, Rule>();

/**
 * Reads a rule, with or without `RRULE:`. Rules are cached by their text, because many series have the same rule.
 * @throws RecurrenceError
 */
export function parseRule(text: string): Rule {
  const known = parsed.get(text);
  if (known) return known;
  const rule = Object.freeze(readRule(text));
  if (parsed.size >= CACHED_RULES) parsed.clear();
  parsed.set(text, rule);
  return rule;
}

/** The parts of a rule in upper case. Exchange writes blanks into lists. */
export const partsOf = (text: string): string[] =>
  text.replaceAll(/\s+/g, '').replace(PREFIX_OR_END, '').toUpperCase().split(';');

function readRule(text: string): Rule {
  if (text.length > RULE_LIMITS.length)
    throw new RecurrenceError('rule_too_large', `A rule has at most ${RULE_LIMITS.length} characters`);
  const rule: Rule = { ...EMPTY_RULE };
  const seen = new Set<string>();
  for (const part of partsOf(text)) {
    const equals = part.indexOf('=');
    const name = equals < 0 ? part : part.slice(0, equals);
    const value = equals < 0 ? '' : part.slice(equals + 1);
    if (seen.has(name)) fail(name, `${name} is given twice`);
    seen.add(name);
    if (name === 'RSCALE') {
      assertGregorian(value);
      continue;
    }
    const known = PARTS.get(name);
    if (!known) return fail(name, `${name || 'An empty part'} is no part of a rule`);
    (rule as Record<keyof Rule, unknown>)[known.key] = known.read(value, name);
  }
  if (!seen.has('FREQ')) fail('FREQ', 'A rule needs FREQ');
  assertAllowed(rule);
  if (rule.freq !== 'YEARLY' && rule.freq !== 'MONTHLY') rule.skip = 'OMIT';
  return rule;
}

function assertGregorian(scale: string): void {
  if (scale !== 'GREGORIAN')
    throw new RecurrenceError(
      'rscale_unsupported',
      `The calendar ${scale} (RFC 7529) is not supported`,
      'RSCALE',
    );
}

const SET_PARTS = [
  'byMonth',
  'byWeekNo',
  'byYearDay',
  'byMonthDay',
  'byDay',
  'byHour',
  'byMinute',
  'bySecond',
] as const;
type ListPart = (typeof SET_PARTS)[number] | 'bySetPos';

/** The restrictions of RFC 5545, 3.3.10, between parts. */
function assertAllowed(rule: Rule): void {
  const { freq } = rule;
  const numbered = rule.byDay.some(({ nth }) => nth !== null);
  const used = (key: ListPart): boolean => rule[key].length > 0;
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
  if (used('bySetPos') && !SET_PARTS.some(used)) fail('BYSETPOS', 'BYSETPOS needs another BY part');
  const perHour = Math.max(1, rule.byMinute.length) * Math.max(1, rule.bySecond.length);
  const hours = freq === 'HOURLY' ? 24 : Math.max(1, rule.byHour.length);
  if (perHour * hours > RULE_LIMITS.timesPerDay)
    throw new RecurrenceError('rule_too_large', `A rule has at most ${RULE_LIMITS.timesPerDay} times a day`);
}

/**
 * The rule with UNTIL as a wall time of a zone.
 * @param offsetAt seconds east of UTC at an instant in seconds
 */
export const withWallUntil = (rule: Rule, offsetAt: (instant: number) => number): Rule =>
  rule.until?.kind === 'utc'
    ? { ...rule, until: { kind: 'wall', time: rule.until.time + offsetAt(rule.until.time) } }
    : rule;

/** The rule in its shortest canonical spelling: parts in the order of RFC 5545 and RFC 7529, defaults left out. */
export function formatRule(rule: Rule): string {
  const isScaled = rule.skip !== 'OMIT';
  const parts = [...(isScaled ? ['RSCALE=GREGORIAN'] : []), `FREQ=${rule.freq}`];
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
  if (isScaled) parts.push(`SKIP=${rule.skip}`);
  return parts.join(';');
}

function formatUntil({ kind, time }: Until): string {
  const text = new Date(time * 1000).toISOString().replaceAll(/[-:]|\.000Z$/g, '');
  return kind === 'date' ? text.slice(0, 8) : kind === 'utc' ? `${text}Z` : text;
}

/** Parts that repeat other properties of the event, and numbers of which nothing is meant. */
const WITHOUT_MEANING = /^(?:X-.*|(?:DTSTART|DTEND|TZID)(?:[=;:].*)?|INTERVAL=0+|COUNT=(?:0+|-\d+))$/;

/**
 * A word without `=` that belongs to a part beside it: its name or a value of it. Without such a word, the rule would have other dates, or no
 * end.
 */
const isFragment = (word: string): boolean =>
  !RULE_PARTS.has(word) &&
  (/\d/.test(word) ||
    [...RULE_PARTS].some((name) => word.startsWith(name)) ||
    word.split(',').some((text) => (WEEKDAYS as readonly string[]).includes(text)));

/**
 * Reads a rule that breaks RFC 5545, 3.3.10, in a way that leaves its meaning clear: separators with a backslash, empty parts, words without
 * a value that are no fragment of a part, parts of a program (`X-...`, which RFC 2445 allowed), other properties, a part that is given twice with the same value,
 * `INTERVAL=0`, `COUNT=-1`, `BYDAY=0MO`, numbers of weekdays under a frequency that has none.
 * @returns one rule; two with COUNT and UNTIL, of which the one that ends first is meant; none for an empty text
 * @throws RecurrenceError for any other fault
 */
export function repairRule(text: string): Rule[] {
  const parts = new Set<string>();
  for (const part of partsOf(text.replaceAll('\\', ''))) {
    const [name = '', value = ''] = part.split('=', 2);
    const isEmpty = value === '' && (RULE_PARTS.has(name) || (!part.includes('=') && !isFragment(part)));
    if (!isEmpty && !WITHOUT_MEANING.test(part))
      parts.add(name === 'BYDAY' ? part.replaceAll(ZEROTH, '$1') : part);
  }
  if (parts.size === 0) return [];
  const all = [...parts];
  const isNumbered = all.some((part) => part === 'FREQ=MONTHLY' || part === 'FREQ=YEARLY');
  const plain = isNumbered
    ? all
    : all.map((part) => (part.startsWith('BYDAY=') ? part.replaceAll(/[+-]?\d+(?=[A-Z])/g, '') : part));
  const without = (name: string): string => plain.filter((part) => !part.startsWith(`${name}=`)).join(';');
  const hasBoth = ['COUNT=', 'UNTIL='].every((name) => plain.some((part) => part.startsWith(name)));
  return hasBoth ? [parseRule(without('UNTIL')), parseRule(without('COUNT'))] : [parseRule(plain.join(';'))];
}

/** A weekday with the number 0. */
const ZEROTH = /([=,])[+-]?0+(?=[A-Z])/g;
