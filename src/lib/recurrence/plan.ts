import { civilOf, DAY, mod, weekdayOf } from './civil.js';
import type { ByDay, Rule } from './rule.js';

/** The rule parts that select days of a month. A set of days is an integer: bit 0 is day 1. */
export interface DayParts {
  /** BYMONTH: bit n allows month n. */
  months: number;
  /** BYMONTHDAY counted from the first day, as a set of days. */
  monthDays: number;
  /** BYMONTHDAY counted from the last day: 1 is the last day. */
  lastMonthDays: readonly number[];
  limitsMonthDays: boolean;
  /** BYDAY without numbers: bit 0 is Monday. */
  weekdays: number;
  /** BYDAY with numbers. */
  numbered: readonly ByDay[];
  limitsWeekdays: boolean;
}

export const ALL_MONTHS = 0b1_1111_1111_1110;
const ALL_DAYS = 0x7fff_ffff;
/** Multiplies the set of a week to the weeks of a month. */
const EACH_WEEK = 0x1020_4081;

/**
 * The days of a month that BYMONTHDAY and BYDAY allow, as a set.
 * @param first day number of its first day
 * @param length number of its days
 */
export function daysOfMonth(parts: DayParts, first: number, length: number): number {
  let days = ALL_DAYS >>> (31 - length);
  if (parts.limitsMonthDays) {
    let chosen = parts.monthDays;
    for (const n of parts.lastMonthDays) if (n <= length) chosen |= 1 << (length - n);
    days &= chosen;
  }
  if (parts.limitsWeekdays) {
    const weekday = weekdayOf(first);
    const week = ((parts.weekdays >> weekday) | (parts.weekdays << (7 - weekday))) & 0x7f;
    let chosen = week * EACH_WEEK;
    for (const day of parts.numbered) {
      const at = nthWeekday(day, weekday, length);
      if (at >= 0) chosen |= 1 << at;
    }
    days &= chosen;
  }
  return days;
}

/**
 * Offset of a numbered weekday in a month or year.
 * @param firstWeekday weekday of the first day of the period
 * @param length number of days of the period
 * @returns -1 if the period has fewer of this weekday
 */
export function nthWeekday({ weekday, nth }: ByDay, firstWeekday: number, length: number): number {
  const offset = mod(weekday - firstWeekday, 7);
  const count = Math.floor((length - 1 - offset) / 7) + 1;
  const index = nth === null || nth > 0 ? (nth ?? 1) - 1 : count + nth;
  return index >= 0 && index < count ? offset + index * 7 : -1;
}

const HOUR = 3600;

/** A rule prepared for expansion: its lists as sets, and the parts that DTSTART provides. */
export interface Plan {
  rule: Rule;
  days: DayParts;
  startDay: number;
  startYear: number;
  startMonth: number;
  startHour: number;
  /** Seconds of the day at which instances of an allowed day begin, in order; under HOURLY, seconds of the hour. */
  times: readonly number[];
  /** BYSETPOS, where it selects from a set of days and times. */
  setPositions: readonly number[];
  /** BYHOUR as a set; 0 without it. */
  hours: number;
  /** Instances are days: parts that name times are ignored. */
  isDate: boolean;
}

/** @param start wall time of DTSTART in seconds; parts that the rule leaves out come from it */
export function planOf(rule: Rule, start: number, isDate: boolean): Plan {
  const startDay = Math.floor(start / DAY);
  const { year, month, day } = civilOf(startDay);
  const times = isDate ? [0] : timesOf(rule, start - startDay * DAY);
  // The set of a day or an hour consists of its times only, so BYSETPOS is applied to them here.
  const isTimeSet = rule.freq === 'DAILY' || rule.freq === 'HOURLY';
  return {
    rule,
    days: withDefaults(dayPartsOf(rule), rule, startDay, month, day),
    startDay,
    startYear: year,
    startMonth: month,
    startHour: Math.floor(start / HOUR),
    times:
      isTimeSet && rule.bySetPos.length > 0
        ? selectPositions(rule.bySetPos, times.length).map((n) => times[n] as number)
        : times,
    setPositions: isTimeSet ? [] : rule.bySetPos,
    hours: hoursOf(rule),
    isDate,
  };
}

function hoursOf({ byHour }: Rule): number {
  let hours = 0;
  for (const hour of byHour) hours |= 1 << hour;
  return hours;
}

function dayPartsOf({ byMonth, byMonthDay, byDay }: Rule): DayParts {
  let months = byMonth.length === 0 ? ALL_MONTHS : 0;
  for (const month of byMonth) months |= 1 << month;
  let monthDays = 0;
  const lastMonthDays: number[] = [];
  for (const day of byMonthDay)
    if (day > 0) monthDays |= 1 << (day - 1);
    else lastMonthDays.push(-day);
  let weekdays = 0;
  const numbered: ByDay[] = [];
  for (const day of byDay)
    if (day.nth === null) weekdays |= 1 << day.weekday;
    else numbered.push(day);
  return {
    months,
    monthDays,
    lastMonthDays,
    limitsMonthDays: byMonthDay.length > 0,
    weekdays,
    numbered,
    limitsWeekdays: byDay.length > 0,
  };
}

/** A rule without parts that select days repeats the weekday, the day of the month or the date of DTSTART. */
function withDefaults(parts: DayParts, rule: Rule, startDay: number, month: number, day: number): DayParts {
  const { freq, byYearDay, byWeekNo, byMonth } = rule;
  if (parts.limitsMonthDays || parts.limitsWeekdays || byYearDay.length > 0) return parts;
  if (freq === 'WEEKLY' || byWeekNo.length > 0)
    return { ...parts, weekdays: 1 << weekdayOf(startDay), limitsWeekdays: true };
  if (freq !== 'MONTHLY' && freq !== 'YEARLY') return parts;
  const months = freq === 'YEARLY' && byMonth.length === 0 ? 1 << month : parts.months;
  return { ...parts, months, monthDays: 1 << (day - 1), limitsMonthDays: true };
}

function timesOf(rule: Rule, second: number): readonly number[] {
  const { byHour, byMinute, bySecond, freq } = rule;
  if (byHour.length + byMinute.length + bySecond.length === 0)
    return [freq === 'HOURLY' ? second % HOUR : second];
  const hours = freq === 'HOURLY' ? [0] : orElse(byHour, Math.floor(second / HOUR));
  const minutes = orElse(byMinute, Math.floor(second / 60) % 60);
  // RFC 5545, 3.3.12: without support for leap seconds, second 60 is second 59.
  const seconds = new Set(orElse(bySecond, second % 60).map((n) => Math.min(n, 59)));
  return hours.flatMap((hour) =>
    minutes.flatMap((minute) => [...seconds].map((each) => hour * HOUR + minute * 60 + each)),
  );
}

const orElse = (list: readonly number[], value: number): readonly number[] =>
  list.length > 0 ? list : [value];

/** Zero-based indexes that BYSETPOS selects in a set of this size, in order. */
export function selectPositions(setPositions: readonly number[], size: number): number[] {
  const indexes = setPositions.map((n) => (n > 0 ? n - 1 : size + n)).filter((n) => n >= 0 && n < size);
  return indexes.length < 2 ? indexes : [...new Set(indexes)].toSorted((a, b) => a - b);
}
