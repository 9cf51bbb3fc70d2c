import { civilOf, DAY, dayOf, daysInMonth, mod, weekdayOf } from './civil.js';
import type { Rule, Until } from './rule.js';
import { lastInstance, type Series } from './series.js';
import { Zone } from './zone.js';

const HOUR = 3600;

/** The start of a series: its DTSTART. */
export type SeriesStart = Pick<Series, 'start' | 'zone' | 'isDate'>;

/**
 * The rule of a series whose start moves, so that each instance moves with it: the days and hours that the rule names, and UNTIL.
 * @returns null where days or hours that the rule names have no place in the moved series, such as the second Monday of a month
 */
export function movedRule(rule: Rule, before: SeriesStart, after: SeriesStart): Rule | null {
  const hours = withMovedHours(rule, before, after);
  if (!hours || daysBetween(before, after) === 0) return hours && withMovedUntil(hours, before, after);
  const days = withMovedDays(hours, before, after);
  if (days) return { ...days, until: withMovedUntil(rule, before, after).until };
  const dates = withMovedDate(hours, before, after);
  return dates && { ...dates, until: movedByMonths(rule, before, after) };
}

/** The rule of a series whose start moves, with the UNTIL that keeps its last instance. The days and hours that it names stay. */
export function withMovedUntil(rule: Rule, before: SeriesStart, after: SeriesStart): Rule {
  const { until } = rule;
  if (until === null || isSameStart(before, after)) return rule;
  const wall =
    until.kind === 'utc' && before.zone !== null ? Zone.of(before.zone).toWall(until.time) : until.time;
  const days = daysBetween(before, after) * DAY;
  const movedWall =
    until.kind === 'date' || before.isDate
      ? midnight(wall) + days + timeOf(after)
      : after.isDate
        ? midnight(wall - timeOf(before)) + days
        : wall + after.start - before.start;
  return { ...rule, until: untilOf(movedWall, until, before, after) };
}

/**
 * The rule of a series that starts anew with one of its instances: it states the parts that it took from the former start, where the new one has
 * others.
 * @param next wall time of the instance
 * @returns null if the rule counts its periods from another one than that of the instance
 */
export function continuedRule(
  rule: Rule,
  { start, isDate }: Pick<Series, 'start' | 'isDate'>,
  next: number,
): Rule | null {
  const periods = periodOf(rule, next) - periodOf(rule, start);
  if (periods % rule.interval !== 0) return null;
  return withStatedDays(isDate ? rule : withStatedTimes(rule, start, next), start, next);
}

/** The number of the day, week, month, year or hour of a wall time. */
function periodOf({ freq, weekStart }: Rule, wall: number): number {
  const day = Math.floor(wall / DAY);
  const { year, month } = civilOf(day);
  const periods = {
    HOURLY: Math.floor(wall / HOUR),
    DAILY: day,
    WEEKLY: Math.floor((day + 3 - weekStart) / 7),
    MONTHLY: year * 12 + month,
    YEARLY: year,
  };
  return periods[freq];
}

/** Parts of the time of day. Those of HOURLY within the hour only. */
function withStatedTimes(given: Rule, start: number, next: number): Rule {
  const [from, to] = [mod(start, DAY), mod(next, DAY)];
  const stated = (list: readonly number[], a: number, b: number): readonly number[] =>
    list.length > 0 || a === b ? list : [a];
  const hourOf = (second: number): number => Math.floor(second / HOUR);
  const minuteOf = (second: number): number => Math.floor(second / 60) % 60;
  return {
    ...given,
    byHour: given.freq === 'HOURLY' ? given.byHour : stated(given.byHour, hourOf(from), hourOf(to)),
    byMinute: stated(given.byMinute, minuteOf(from), minuteOf(to)),
    bySecond: stated(given.bySecond, from % 60, to % 60),
  };
}

function withStatedDays(given: Rule, start: number, next: number): Rule {
  const { freq, byMonth, byMonthDay, byDay, byYearDay, byWeekNo } = given;
  if (byMonthDay.length + byDay.length + byYearDay.length > 0) return given;
  const [from, to] = [Math.floor(start / DAY), Math.floor(next / DAY)];
  if (freq === 'WEEKLY' || byWeekNo.length > 0) {
    const weekday = weekdayOf(from);
    return weekday === weekdayOf(to) ? given : { ...given, byDay: [{ weekday, nth: null }] };
  }
  if (freq !== 'MONTHLY' && freq !== 'YEARLY') return given;
  const [a, b] = [civilOf(from), civilOf(to)];
  const isYearly = freq === 'YEARLY' && byMonth.length === 0;
  if (a.day === b.day && (!isYearly || a.month === b.month)) return given;
  return { ...given, byMonthDay: [a.day], byMonth: isYearly ? [a.month] : byMonth };
}

const midnight = (wall: number): number => Math.floor(wall / DAY) * DAY;
const timeOf = ({ start }: SeriesStart): number => mod(start, DAY);
const daysBetween = (before: SeriesStart, after: SeriesStart): number =>
  Math.floor(after.start / DAY) - Math.floor(before.start / DAY);
const isSameStart = (a: SeriesStart, b: SeriesStart): boolean =>
  a.start === b.start && a.zone === b.zone && a.isDate === b.isDate;

/** UNTIL at a wall time, of the kind that RFC 5545, 3.3.10, has for the start. A day and a time without a zone stay of their kind. */
function untilOf(wall: number, { kind }: Until, before: SeriesStart, after: SeriesStart): Until {
  if (after.isDate || (kind === 'date' && !before.isDate)) return { kind: 'date', time: midnight(wall) };
  if (after.zone === null || kind === 'wall') return { kind: 'wall', time: wall };
  return { kind: 'utc', time: Zone.of(after.zone).toInstant(wall) };
}

/** The hours that a rule names, on their own days. Null where they would be on other days, or between the minutes that the rule names. */
function withMovedHours(given: Rule, before: SeriesStart, after: SeriesStart): Rule | null {
  const { freq, byHour, byMinute, bySecond } = given;
  if (before.isDate || after.isDate) return given;
  if (byMinute.length + bySecond.length > 0 && (after.start - before.start) % HOUR !== 0) return null;
  const hourOf = (start: SeriesStart): number => Math.floor(timeOf(start) / HOUR);
  const hours = hourOf(after) - hourOf(before);
  if (hours === 0) return given;
  if (byHour.length === 0) return freq === 'HOURLY' && namesDays(given) ? null : given;
  const moved = byHour.map((hour) => hour + hours);
  return moved.some((hour) => hour < 0 || hour > 23) ? null : { ...given, byHour: moved };
}

/** Whether a rule names days of the week, month or year, or months, so that its instances cannot be on the days beside them. */
export const namesDays = ({ byMonth, byWeekNo, byYearDay, byMonthDay, byDay }: Rule): boolean =>
  [byMonth, byWeekNo, byYearDay, byMonthDay, byDay].some((list) => list.length > 0);

/** The days that a rule names, each moved by as many days as the start; null where this is not the same in each period. */
function withMovedDays(given: Rule, before: SeriesStart, after: SeriesStart): Rule | null {
  const { freq, interval, byMonth, byWeekNo, byYearDay, byMonthDay, byDay, bySetPos, weekStart } = given;
  const days = daysBetween(before, after);
  const isMonthly = freq === 'MONTHLY' || freq === 'YEARLY';
  if (byYearDay.length + byWeekNo.length > 0) return null;
  if (!namesDays(given)) return isMonthly ? null : given;
  if (byDay.length === 0) {
    const [from, to] = [civilOf(Math.floor(before.start / DAY)), civilOf(Math.floor(after.start / DAY))];
    const isWithin = from.month === to.month && from.year === to.year;
    const moved = byMonthDay.map((day) => day + days);
    // Each month has the days from 1 to 28 and, from its end, from -28 to -1.
    const isSafe = moved.every((day, n) => Math.abs(day) <= 28 && day * (byMonthDay[n] as number) > 0);
    return isWithin && isSafe && moved.length > 0 ? { ...given, byMonthDay: moved } : null;
  }
  const hasSets = isMonthly && (interval !== 1 || bySetPos.length > 0);
  if (hasSets || byMonth.length + byMonthDay.length > 0 || byDay.some(({ nth }) => nth !== null)) return null;
  const moved = byDay.map((day) => ({ ...day, weekday: mod(day.weekday + days, 7) }));
  // Days that pass the end of their week stay in it if the week moves too.
  const hasWeeks = freq === 'WEEKLY' && (interval !== 1 || bySetPos.length > 0);
  return { ...given, byDay: moved, weekStart: hasWeeks ? mod(weekStart + days, 7) : weekStart };
}

/** The date of the start that a rule repeats each month or year, also where it names it; null for other rules. */
function withMovedDate(given: Rule, before: SeriesStart, after: SeriesStart): Rule | null {
  const { freq, byMonth, byWeekNo, byYearDay, byMonthDay, byDay } = given;
  const isMonthly = freq === 'MONTHLY' || freq === 'YEARLY';
  if (!isMonthly || byDay.length + byYearDay.length + byWeekNo.length > 0) return null;
  const [from, to] = [civilOf(Math.floor(before.start / DAY)), civilOf(Math.floor(after.start / DAY))];
  const fromEnd = ({ year, month, day }: typeof from): number => day - daysInMonth(year, month) - 1;
  // The first day of a month is no place before its end, where months have from 28 to 31 days.
  const isNearEnd = -fromEnd(to) < to.day;
  const day =
    movedOnly(byMonthDay, from.day, to.day) ??
    (isNearEnd ? movedOnly(byMonthDay, fromEnd(from), fromEnd(to)) : null);
  const month = from.month === to.month ? byMonth : movedOnly(byMonth, from.month, to.month);
  return day && month && { ...given, byMonthDay: day, byMonth: month };
}

/** A list that is empty, or has only this value, which becomes the other one. */
function movedOnly(list: readonly number[], from: number, to: number): readonly number[] | null {
  if (list.length === 0) return list;
  return list.length === 1 && list[0] === from ? [to] : null;
}

/** UNTIL of a rule that repeats the date of its start: on the moved date in the month of its last instance. */
function movedByMonths(given: Rule, before: SeriesStart, after: SeriesStart): Until | null {
  if (given.until === null) return null;
  const last = lastInstance({ ...before, rules: [given] });
  const [from, to] = [civilOf(Math.floor(before.start / DAY)), civilOf(Math.floor(after.start / DAY))];
  const at = civilOf(Math.floor((last === null || last === 'endless' ? before.start : last.key) / DAY));
  // A day that its month lacks is the first one of the next month under SKIP=FORWARD.
  const skipped = given.skip === 'FORWARD' && at.day < from.day ? 1 : 0;
  const months = (at.year + to.year - from.year) * 12 + at.month - 1 + to.month - from.month - skipped;
  const first = dayOf(Math.floor(months / 12), mod(months, 12) + 1, 1);
  return untilOf((first + to.day - 1) * DAY + timeOf(after), given.until, before, after);
}
