import { mod, weekdayOf } from './civil.js';
import type { ByDay } from './rule.js';

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
