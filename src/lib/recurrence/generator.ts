import {
  civilOf,
  DAY,
  dayOf,
  daysInMonth,
  daysInYear,
  firstWeekOf,
  MAX_YEAR,
  mod,
  weekdayOf,
} from './civil.js';
import type { ByDay, Rule } from './rule.js';

/** A search for the next instance ends after this many days without one: 800 years. */
const MAX_EMPTY_DAYS = 800 * 366;
const LAST_DAY = dayOf(MAX_YEAR, 12, 31);
const HOUR = 3600;
/** Days of an unlimited daily rule that are generated together. */
const BLOCK = 32;

/**
 * Generates the wall times of one rule in order. It works on integers alone; time zones, UNTIL, COUNT, DTSTART and exceptions
 * are the caller's. Periods are found by arithmetic, so a position far from the start costs no more than one near it.
 */
export class RuleGenerator {
  private readonly startDay: number;
  private readonly startYear: number;
  private readonly startMonth: number;
  /** Wall seconds of the day at which an instance of an allowed day begins; for HOURLY relative to the hour. */
  private readonly times: number[];
  private readonly monthAllowed: boolean[];
  private readonly monthDays: number[];
  private readonly days: ByDay[];
  private readonly hours: ReadonlySet<number>;
  private readonly startHour: number;
  private readonly setPositions: readonly number[];

  /** @param start wall time of DTSTART in seconds; parts that the rule leaves out come from it */
  constructor(
    private readonly rule: Rule,
    start: number,
  ) {
    this.startDay = Math.floor(start / DAY);
    const { year, month, day } = civilOf(this.startDay);
    this.startYear = year;
    this.startMonth = month;
    this.startHour = Math.floor(start / HOUR);
    const second = start - this.startDay * DAY;
    const { byMonth, byMonthDay, byYearDay, byWeekNo, byDay, freq } = rule;
    this.monthAllowed = Array.from({ length: 13 }, (_, n) => byMonth.length === 0 || byMonth.includes(n));
    const noDay = byMonthDay.length + byYearDay.length + byDay.length === 0;
    this.days =
      noDay && (freq === 'WEEKLY' || byWeekNo.length > 0)
        ? [{ weekday: weekdayOf(this.startDay), nth: null }]
        : byDay;
    const dated = freq === 'MONTHLY' || freq === 'YEARLY';
    this.monthDays = noDay && dated && byWeekNo.length === 0 ? [day] : byMonthDay;
    if (noDay && freq === 'YEARLY' && byWeekNo.length === 0 && byMonth.length === 0)
      for (let n = 1; n <= 12; n += 1) this.monthAllowed[n] = n === month;
    this.hours = new Set(rule.byHour);
    const times = timesOf(rule, second);
    // The set of a day or an hour is its times alone: BYSETPOS picks from them once.
    const isTimeSet = freq === 'DAILY' || freq === 'HOURLY';
    this.setPositions = isTimeSet ? [] : rule.bySetPos;
    this.times =
      isTimeSet && rule.bySetPos.length > 0
        ? positions(rule.bySetPos, times.length).map((n) => times[n] as number)
        : times;
  }

  /**
   * Wall times of the rule in blocks, in order, from the period that contains `from` on. Times before `from` and before
   * DTSTART may be among them. Ends after 800 years without an instance, and at the end of year 9999.
   */
  *from(from: number): Generator<number[], void, undefined> {
    const fromDay = Math.max(Math.floor(from / DAY), this.startDay);
    if (this.times.length === 0) return;
    let lastFound = fromDay;
    for (const { at, days } of this.periods(fromDay)) {
      if (at - lastFound > MAX_EMPTY_DAYS) return;
      const walls = days.length === 0 ? days : this.wallsOf(days, fromDay);
      if (walls.length === 0) continue;
      lastFound = at;
      yield walls;
    }
  }

  private wallsOf(days: number[], fromDay: number): number[] {
    if (this.rule.freq === 'HOURLY')
      return days.flatMap((day) => (day < fromDay ? [] : this.hourlyTimes(day)));
    if (this.setPositions.length > 0)
      return positions(this.setPositions, days.length * this.times.length).map((n) => this.nthOf(days, n));
    const [first = 0] = this.times;
    if (this.times.length === 1) return days.map((day) => day * DAY + first);
    return days.flatMap((day) => this.times.map((time) => day * DAY + time));
  }

  /** The nth of days x times, without building the product. */
  private nthOf(days: readonly number[], n: number): number {
    const perDay = this.times.length;
    return (days[Math.floor(n / perDay)] as number) * DAY + (this.times[n % perDay] as number);
  }

  /** Periods of the rule from the one that contains a day on: its first day, and the days that the BY parts allow. */
  private *periods(fromDay: number): Generator<{ at: number; days: number[] }, void, undefined> {
    const { freq, interval } = this.rule;
    if (freq === 'YEARLY') {
      // The last week of a year may reach into the next.
      const from = civilOf(fromDay).year - (this.rule.byWeekNo.length > 0 ? 1 : 0);
      for (let year = this.aligned(from, this.startYear); year <= MAX_YEAR; year += interval)
        yield { at: dayOf(year, 1, 1), days: this.daysOfYear(year) };
    } else if (freq === 'MONTHLY') {
      const date = civilOf(fromDay);
      const first = this.startYear * 12 + this.startMonth - 1;
      const last = MAX_YEAR * 12 + 11;
      for (let n = this.aligned(date.year * 12 + date.month - 1, first); n <= last; n += interval) {
        const year = Math.floor(n / 12);
        const month = (n % 12) + 1;
        yield {
          at: dayOf(year, month, 1),
          days: this.monthAllowed[month] ? this.daysOfMonth(year, month) : [],
        };
      }
    } else if (freq === 'WEEKLY') {
      const first = this.weekOf(this.startDay);
      const step = interval * 7;
      const weekdays = this.days
        .map(({ weekday }) => mod(weekday - this.rule.weekStart, 7))
        .toSorted((a, b) => a - b);
      for (
        let week = first + Math.floor((this.weekOf(fromDay) - first) / step) * step;
        week <= LAST_DAY;
        week += step
      )
        yield { at: week, days: this.inAllowedMonths(weekdays.map((offset) => week + offset)) };
    } else yield* this.daily(fromDay);
  }

  /** DAILY and HOURLY: the allowed days in blocks. Months that BYMONTH excludes are passed over. */
  private *daily(fromDay: number): Generator<{ at: number; days: number[] }, void, undefined> {
    const { freq, interval, byYearDay, byMonth } = this.rule;
    const isLimited = this.monthDays.length + this.days.length + byYearDay.length + byMonth.length > 0;
    if (freq === 'DAILY' && !isLimited) {
      const block = interval * BLOCK;
      for (let at = this.aligned(fromDay, this.startDay); at <= LAST_DAY; at += block)
        yield { at, days: Array.from({ length: BLOCK }, (_, n) => at + n * interval) };
      return;
    }
    let { year, month } = civilOf(fromDay);
    for (; year <= MAX_YEAR; month === 12 ? ((year += 1), (month = 1)) : (month += 1)) {
      const at = dayOf(year, month, 1);
      let days = this.monthAllowed[month] ? this.daysOfMonth(year, month) : [];
      if (freq === 'DAILY' && interval > 1)
        days = days.filter((day) => (day - this.startDay) % interval === 0);
      if (byYearDay.length > 0) days = days.filter((day) => this.isYearDay(day, year));
      yield { at, days };
    }
  }

  /** The wall times of a day under FREQ=HOURLY. */
  private hourlyTimes(day: number): number[] {
    const { interval } = this.rule;
    const firstHour = day * 24;
    const walls: number[] = [];
    for (
      let hour = firstHour + mod(this.startHour - firstHour, interval);
      hour < firstHour + 24;
      hour += interval
    ) {
      if (hour < this.startHour || (this.hours.size > 0 && !this.hours.has(hour - firstHour))) continue;
      for (const time of this.times) walls.push(hour * HOUR + time);
    }
    return walls;
  }

  private daysOfYear(year: number): number[] {
    const { byYearDay, byWeekNo, byMonth } = this.rule;
    const first = dayOf(year, 1, 1);
    const length = daysInYear(year);
    if (byYearDay.length > 0) {
      const days = byYearDay.map((n) => (n > 0 ? first + n - 1 : first + length + n));
      const inYear = ascending(days.filter((day) => day >= first && day < first + length));
      const weeks = byWeekNo.length > 0 ? new Set(this.daysOfWeeks(year)) : null;
      return inYear.filter((day) => (weeks?.has(day) ?? true) && this.passes(day, year, true));
    }
    if (byWeekNo.length > 0) return this.daysOfWeeks(year).filter((day) => this.passes(day, year, false));
    if (this.monthDays.length === 0 && byMonth.length === 0 && this.days.length > 0)
      return byDayIn(this.days, first, length);
    const days: number[] = [];
    for (let month = 1; month <= 12; month += 1)
      if (this.monthAllowed[month]) days.push(...this.daysOfMonth(year, month));
    // Numbered days count within the year unless BYMONTH makes the month their period.
    if (this.monthDays.length > 0 && byMonth.length === 0 && this.days.some(({ nth }) => nth !== null)) {
      const allowed = new Set(byDayIn(this.days, first, length));
      return this.daysByMonthDay(year).filter((day) => allowed.has(day));
    }
    return days;
  }

  private daysByMonthDay(year: number): number[] {
    return Array.from({ length: 12 }, (_, n) => monthDaysIn(this.monthDays, year, n + 1)).flat();
  }

  /** The days of the BYWEEKNO weeks of a year; those of week 1 may begin in the year before, and the last end in the next. */
  private daysOfWeeks(year: number): number[] {
    const { byWeekNo, weekStart } = this.rule;
    const first = firstWeekOf(year, weekStart);
    const count = (firstWeekOf(year + 1, weekStart) - first) / 7;
    const weeks = byWeekNo.map((n) => (n > 0 ? n - 1 : count + n)).filter((n) => n >= 0 && n < count);
    return ascending(weeks).flatMap((week) => Array.from({ length: 7 }, (_, n) => first + week * 7 + n));
  }

  /** The filters of a day that another part has chosen. */
  private passes(day: number, year: number, numbered: boolean): boolean {
    const date = civilOf(day);
    if (!this.monthAllowed[date.month]) return false;
    if (this.monthDays.length > 0 && !monthDaysIn(this.monthDays, date.year, date.month).includes(day))
      return false;
    if (this.days.length === 0) return true;
    // With BYWEEKNO days are not numbered, and may lie in a neighbouring year.
    if (!numbered) return this.days.some(({ weekday }) => weekday === weekdayOf(day));
    const inMonth = this.rule.byMonth.length > 0;
    const first = inMonth ? dayOf(year, date.month, 1) : dayOf(year, 1, 1);
    return byDayIn(this.days, first, inMonth ? daysInMonth(year, date.month) : daysInYear(year)).includes(
      day,
    );
  }

  private daysOfMonth(year: number, month: number): number[] {
    const first = dayOf(year, month, 1);
    const length = daysInMonth(year, month);
    if (this.monthDays.length === 0) {
      if (this.days.length > 0) return byDayIn(this.days, first, length);
      return Array.from({ length }, (_, n) => first + n);
    }
    const days = monthDaysIn(this.monthDays, year, month);
    if (this.days.length === 0) return days;
    const allowed = new Set(byDayIn(this.days, first, length));
    return days.filter((day) => allowed.has(day));
  }

  private isYearDay(day: number, year: number): boolean {
    const number = day - dayOf(year, 1, 1) + 1;
    return this.rule.byYearDay.some((n) => n === number || n === number - daysInYear(year) - 1);
  }

  private inAllowedMonths(days: number[]): number[] {
    return this.rule.byMonth.length === 0
      ? days
      : days.filter((day) => this.monthAllowed[civilOf(day).month]);
  }

  private weekOf(day: number): number {
    return day - mod(weekdayOf(day) - this.rule.weekStart, 7);
  }

  /** The last period at or before `period` that the interval reaches from the first one. */
  private aligned(period: number, first: number): number {
    return first + Math.floor((period - first) / this.rule.interval) * this.rule.interval;
  }
}

/** Second of the day of each time; under HOURLY, second of the hour. */
function timesOf(rule: Rule, second: number): number[] {
  const hours = rule.freq === 'HOURLY' ? [0] : orElse(rule.byHour, Math.floor(second / HOUR));
  const minutes = orElse(rule.byMinute, Math.floor(second / 60) % 60);
  // RFC 5545, 3.3.12: without support for leap seconds, second 60 is second 59.
  const seconds = new Set(orElse(rule.bySecond, second % 60).map((n) => Math.min(n, 59)));
  return hours.flatMap((hour) =>
    minutes.flatMap((minute) => [...seconds].map((each) => hour * HOUR + minute * 60 + each)),
  );
}

const orElse = (list: readonly number[], value: number): readonly number[] =>
  list.length > 0 ? list : [value];

const ascending = (days: number[]): number[] => [...new Set(days)].toSorted((a, b) => a - b);

/** Zero-based indexes of BYSETPOS in a set of this size, in order. */
function positions(bySetPos: readonly number[], size: number): number[] {
  return ascending(bySetPos.map((n) => (n > 0 ? n - 1 : size + n)).filter((n) => n >= 0 && n < size));
}

function monthDaysIn(monthDays: readonly number[], year: number, month: number): number[] {
  const first = dayOf(year, month, 1);
  const length = daysInMonth(year, month);
  const days = monthDays.map((n) => (n > 0 ? n : length + n + 1)).filter((n) => n >= 1 && n <= length);
  return ascending(days.map((n) => first + n - 1));
}

/** The days of BYDAY within a month or year that begins at `first`. */
function byDayIn(byDay: readonly ByDay[], first: number, length: number): number[] {
  const days: number[] = [];
  for (const { weekday, nth } of byDay) {
    const offset = mod(weekday - weekdayOf(first), 7);
    const count = Math.floor((length - 1 - offset) / 7) + 1;
    if (nth === null) for (let n = 0; n < count; n += 1) days.push(first + offset + n * 7);
    else {
      const index = nth > 0 ? nth - 1 : count + nth;
      if (index >= 0 && index < count) days.push(first + offset + index * 7);
    }
  }
  return byDay.length === 1 ? days : ascending(days);
}
