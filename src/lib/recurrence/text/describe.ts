import { civilOf, DAY, dayOf, daysInMonth, mod } from '../civil.js';
import type { ByDay, Rule } from '../rule.js';
import { Zone } from '../zone.js';
import { type DayKind, PHRASES, type Phrases, TEXT_LOCALES, type TextLocale } from './phrases.js';

/** The start of the described series: wall seconds, its zone (null for floating times and days). */
export interface DescribedSeries {
  start: number;
  zone: string | null;
  isDate: boolean;
}

/** Locales of a language, for names of months, dates and lists. */
const TAGS: Record<TextLocale, string> = { en: 'en-GB', de: 'de-DE', pt: 'pt-PT', vi: 'vi-VN' };
/** Weekdays Monday to Friday as a set. */
const WORKDAYS = 0b1_1111;

/** @returns the supported language of a locale such as `de-AT`; `en` for any other */
export function textLocaleOf(locale: string | null | undefined): TextLocale {
  const language = (locale ?? '').toLowerCase().split(/[-_]/)[0] as TextLocale;
  return TEXT_LOCALES.includes(language) ? language : 'en';
}

/** Describes a rule for users, e.g. `Every 2 weeks on Monday and Friday, until 24 December 2026`. */
export function describeRule(rule: Rule, series: DescribedSeries, locale: TextLocale): string {
  const phrases = PHRASES[locale];
  const join = joiner(locale);
  const workday = workdayPhrase(rule, phrases);
  const parts = workday ?? [phrases.every(rule.freq, rule.interval), ...dayParts(rule, series, locale)];
  const times = series.isDate ? [] : timesOf(rule, series.start);
  if (times.length > 0) parts.push(phrases.at(join(times)));
  const ends: string[] = [];
  if (rule.bySetPos.length > 0 && setOf(rule) === null)
    ends.push(phrases.positions(join(rule.bySetPos.map((n) => phrases.position(n)))));
  if (rule.skip !== 'OMIT') ends.push(phrases.skips[rule.skip]);
  if (rule.until) ends.push(phrases.until(dateText(untilDay(rule, series), locale)));
  if (rule.count !== null) ends.push(phrases.times(rule.count));
  return [parts.join(' '), ...ends].join(', ');
}

/** `Every weekday`: Monday to Friday of every week. */
function workdayPhrase(rule: Rule, phrases: Phrases): string[] | null {
  const { freq, interval, byDay, byMonth, byMonthDay, bySetPos } = rule;
  const isPlain = (freq === 'DAILY' || freq === 'WEEKLY') && interval === 1;
  if (!isPlain || byMonth.length + byMonthDay.length + bySetPos.length > 0) return null;
  return weekdaySet(byDay) === WORKDAYS ? [phrases.everyWorkday] : null;
}

function dayParts(rule: Rule, series: DescribedSeries, locale: TextLocale): string[] {
  const phrases = PHRASES[locale];
  const join = joiner(locale);
  const { freq, byMonth, byMonthDay, byYearDay, byWeekNo, byDay } = rule;
  const parts: string[] = [];
  const set = setOf(rule);
  if (set !== null)
    parts.push(phrases.onNumbered(join(rule.bySetPos.map((n) => setPhrase(n, set, phrases)))));
  else parts.push(...weekdayParts(byDay, phrases, join));
  if (byMonthDay.length > 0)
    parts.push(phrases.onMonthDays(join(byMonthDay.map((n) => phrases.monthDay(n)))));
  if (byYearDay.length > 0) parts.push(phrases.onYearDays(join(byYearDay.map((n) => phrases.yearDay(n)))));
  if (byWeekNo.length > 0) parts.push(phrases.inWeeks(join(byWeekNo.map((n) => phrases.week(n)))));
  const date = yearlyDate(rule, series.start);
  if (date) return [phrases.onDate(dayAndMonth(date.month, date.day, locale))];
  if (parts.length === 0 && freq === 'MONTHLY')
    parts.push(phrases.onMonthDays(phrases.monthDay(civilOf(Math.floor(series.start / DAY)).day)));
  if (byMonth.length > 0) parts.push(phrases.inMonths(join(byMonth.map((n) => monthName(n, locale)))));
  return parts;
}

/** The date of a rule that repeats one day of the year. */
function yearlyDate(rule: Rule, start: number): { month: number; day: number } | null {
  const { freq, byMonth, byMonthDay, byYearDay, byWeekNo, byDay } = rule;
  if (freq !== 'YEARLY' || byDay.length + byYearDay.length + byWeekNo.length > 0) return null;
  const own = civilOf(Math.floor(start / DAY));
  const [month = own.month, ...months] = byMonth;
  const [day = own.day, ...days] = byMonthDay;
  const isOne = months.length + days.length === 0 && day > 0 && day <= daysInMonth(2024, month);
  return isOne && (byMonthDay.length === 0 || byMonth.length > 0) ? { month, day } : null;
}

function weekdayParts(byDay: readonly ByDay[], phrases: Phrases, join: Join): string[] {
  const plain = byDay.filter(({ nth }) => nth === null).toSorted((a, b) => a.weekday - b.weekday);
  const numbered = byDay.filter(({ nth }) => nth !== null);
  const parts: string[] = [];
  if (plain.length > 0)
    parts.push(phrases.onWeekdays(join(plain.map(({ weekday }) => phrases.weekdays[weekday] as string))));
  if (numbered.length > 0)
    parts.push(
      phrases.onNumbered(
        join(numbered.map(({ weekday, nth }) => phrases.numberedWeekday(nth ?? 1, weekday))),
      ),
    );
  return parts;
}

/**
 * The set from which BYSETPOS selects, if it has a name: MONTHLY or YEARLY with plain weekdays alone.
 * @returns one weekday, or `workday` for Monday to Friday, or `day` for all seven; null for any other set
 */
function setOf(rule: Rule): number | DayKind | null {
  const { freq, byDay, byMonthDay, byYearDay, byWeekNo, bySetPos } = rule;
  if (bySetPos.length === 0 || (freq !== 'MONTHLY' && freq !== 'YEARLY')) return null;
  if (rule.byHour.length > 1 || rule.byMinute.length > 1 || rule.bySecond.length > 1) return null;
  if (byMonthDay.length + byYearDay.length + byWeekNo.length > 0) return null;
  const set = weekdaySet(byDay);
  if (set === 0b111_1111) return 'day';
  return set === WORKDAYS ? 'workday' : byDay.length === 1 && set > 0 ? (byDay[0] as ByDay).weekday : null;
}

/** A phrase such as `the last weekday` or `the second Monday`. */
function setPhrase(n: number, set: number | DayKind, phrases: Phrases): string {
  return typeof set === 'number' ? phrases.numberedWeekday(n, set) : phrases.numberedDay(n, set);
}

/** Weekdays as a set of bits; 0 if one has a number. */
const weekdaySet = (byDay: readonly ByDay[]): number =>
  byDay.some(({ nth }) => nth !== null) ? 0 : byDay.reduce((set, { weekday }) => set | (1 << weekday), 0);

/** Times of day that BYHOUR and BYMINUTE name, as `09:00`. */
function timesOf({ freq, byHour, byMinute }: Rule, start: number): string[] {
  if (byHour.length === 0 || freq === 'HOURLY') return [];
  const two = (value: number): string => String(value).padStart(2, '0');
  const minutes = byMinute.length > 0 ? byMinute : [Math.floor(mod(start, DAY) / 60) % 60];
  return byHour.flatMap((hour) => minutes.map((minute) => `${two(hour)}:${two(minute)}`));
}

/** The last day of the rule on the clock of the series. */
function untilDay(rule: Rule, { zone }: DescribedSeries): number {
  const { kind, time } = rule.until ?? { kind: 'date', time: 0 };
  return Math.floor((kind === 'utc' && zone !== null ? Zone.of(zone).toWall(time) : time) / DAY);
}

type Join = (list: readonly string[]) => string;

const joiner = (locale: TextLocale): Join => {
  const format = cached(lists, locale, () => new Intl.ListFormat(TAGS[locale], { type: 'conjunction' }));
  return (list) => format.format(list);
};

const monthName = (month: number, locale: TextLocale): string =>
  cached(
    months,
    locale,
    () => new Intl.DateTimeFormat(TAGS[locale], { month: 'long', timeZone: 'UTC' }),
  ).format(dayOf(2024, month, 1) * DAY * 1000);

const dayAndMonth = (month: number, day: number, locale: TextLocale): string =>
  cached(
    days,
    locale,
    () => new Intl.DateTimeFormat(TAGS[locale], { day: 'numeric', month: 'long', timeZone: 'UTC' }),
  ).format(dayOf(2024, month, day) * DAY * 1000);

const dateText = (day: number, locale: TextLocale): string =>
  cached(
    dates,
    locale,
    () => new Intl.DateTimeFormat(TAGS[locale], { dateStyle: 'long', timeZone: 'UTC' }),
  ).format(day * DAY * 1000);

const lists = new Map<TextLocale, Intl.ListFormat>();
const months = new Map<TextLocale, Intl.DateTimeFormat>();
const days = new Map<TextLocale, Intl.DateTimeFormat>();
const dates = new Map<TextLocale, Intl.DateTimeFormat>();

function cached<T>(cache: Map<TextLocale, T>, locale: TextLocale, make: () => T): T {
  const known = cache.get(locale) ?? make();
  cache.set(locale, known);
  return known;
}
