import { civilOf, DAY, dayOf, daysInMonth, daysInYear, MAX_YEAR, mod, weekdayOf } from './civil.js';
import { ALL_MONTHS, daysOfMonth, type Plan, planOf, selectPositions } from './plan.js';
import type { Rule } from './rule.js';
import { collectMonth, collectYear, dayTest, pushDays } from './year-days.js';

/** Receives a wall time in seconds. Returns false to end the walk. */
export type Visit = (wall: number) => boolean;

/** A search for the next instance ends after this many days without one: 800 years. */
const MAX_EMPTY_DAYS = 800 * 366;
const LAST_WALL = (dayOf(MAX_YEAR, 12, 31) + 1) * DAY - 1;
const HOUR = 3600;
const MONTH_DAYS = 31;

/**
 * Visits the wall times of one rule in order, from the period that contains `from` to `to` (inclusive). It may also visit
 * wall times before `from` and before DTSTART. The caller applies COUNT, UNTIL, zones and exceptions. Periods are found by
 * arithmetic, so a position far from DTSTART costs no more than one near it, and periods after `to` are not searched. The walk ends
 * after 800 years without an instance, and at the end of year 9999.
 * @param start wall time of DTSTART in seconds
 * @param isDate instances are days: parts that name times are ignored
 */
export function walkRule(
  rule: Rule,
  start: number,
  isDate: boolean,
  { from, to }: { from: number; to: number },
  visit: Visit,
): void {
  const plan = planOf(rule, start, isDate);
  if (plan.times.length === 0) return;
  new Walk(plan, Math.max(Math.floor(from / DAY), plan.startDay), Math.min(to, LAST_WALL), visit).run();
}

class Walk {
  private readonly days: number[] = [];
  private readonly visit: Visit;
  private readonly lastDay: number;
  /** Days by which SKIP may move an instance out of its period. */
  private readonly reach: number;
  /** The first period contains this day. */
  private readonly firstDay: number;
  private lastFound: number;

  constructor(
    private readonly plan: Plan,
    private readonly fromDay: number,
    last: number,
    visit: Visit,
  ) {
    const { skip } = plan.rule;
    this.reach = skip === 'OMIT' ? 0 : MONTH_DAYS;
    this.firstDay = Math.max(fromDay - this.reach, Math.min(fromDay, plan.startDay));
    this.visit = skip === 'OMIT' ? (wall) => wall <= last && visit(wall) : inOrder(last, visit);
    this.lastDay = Math.floor(last / DAY);
    this.lastFound = fromDay;
  }

  run(): void {
    const { freq } = this.plan.rule;
    if (freq === 'YEARLY') this.yearly();
    else if (freq === 'MONTHLY') this.monthly();
    else if (freq === 'WEEKLY') this.weekly();
    else if (freq === 'DAILY') this.daily();
    else this.hourly();
  }

  private yearly(): void {
    const { rule, startYear } = this.plan;
    // The last week of a year may extend into the next.
    const from = civilOf(this.firstDay).year - (rule.byWeekNo.length > 0 ? 1 : 0);
    // The first week of a year may begin in the year before.
    const last = Math.min(civilOf(this.lastDay + Math.max(6, this.reach)).year, MAX_YEAR);
    for (let year = this.aligned(from, startYear); year <= last; year += rule.interval) {
      collectYear(this.plan, year, this.days);
      if (!this.endPeriod(dayOf(year, 1, 1))) return;
    }
  }

  private monthly(): void {
    const { rule, days, startYear, startMonth } = this.plan;
    const date = civilOf(this.firstDay);
    const from = this.aligned(date.year * 12 + date.month - 1, startYear * 12 + startMonth - 1);
    const end = civilOf(Math.min(this.lastDay + this.reach, dayOf(MAX_YEAR, 12, 31)));
    const last = end.year * 12 + end.month - 1;
    for (let n = from; n <= last; n += rule.interval) {
      const year = Math.floor(n / 12);
      const month = n - year * 12 + 1;
      const first = dayOf(year, month, 1);
      if (days.months & (1 << month)) collectMonth(this.plan, year, month, this.days);
      if (!this.endPeriod(first)) return;
    }
  }

  private weekly(): void {
    const { rule, days, startDay } = this.plan;
    const step = rule.interval * 7;
    const first = this.weekOf(startDay);
    const allMonths = days.months === ALL_MONTHS;
    for (
      let week = first + Math.floor((this.weekOf(this.fromDay) - first) / step) * step;
      week <= this.lastDay;
      week += step
    ) {
      for (let n = 0; n < 7; n += 1) {
        if ((days.weekdays & (1 << ((n + rule.weekStart) % 7))) === 0) continue;
        const day = week + n;
        if (allMonths || days.months & (1 << civilOf(day).month)) this.days.push(day);
      }
      if (!this.endPeriod(week)) return;
    }
  }

  private daily(): void {
    const { rule, days, startDay, times } = this.plan;
    const { interval } = rule;
    const isLimited = days.months !== ALL_MONTHS || days.limitsMonthDays || days.limitsWeekdays;
    if (!isLimited || interval > MONTH_DAYS) {
      const allows = dayTest(days);
      for (let day = this.aligned(this.fromDay, startDay); day <= this.lastDay; day += interval) {
        if (allows(day)) {
          this.lastFound = day;
          for (const time of times) if (!this.visit(day * DAY + time)) return;
        } else if (day - this.lastFound > MAX_EMPTY_DAYS) return;
      }
      return;
    }
    this.eachMonth((first, allowed) => {
      pushDays(allowed, first, this.days);
      if (interval > 1) this.keep((day) => (day - startDay) % interval === 0);
      return this.endPeriod(first);
    });
  }

  private hourly(): void {
    const { rule, hours, startHour } = this.plan;
    const { interval } = rule;
    // The hours of the day that the interval reaches have this distance. If BYHOUR has none of them, there is no instance.
    const step = commonDivisor(interval, 24);
    if (hours !== 0 && !rule.byHour.some((hour) => mod(hour - startHour, step) === 0)) return;
    if (interval > MONTH_DAYS * 24) return this.sparseHours();
    this.eachMonth((first, allowed, year) => {
      pushDays(allowed, first, this.days);
      if (rule.byYearDay.length > 0) this.keep((day) => this.isYearDay(day, year));
      const { days } = this;
      for (const day of days) if (day >= this.fromDay && !this.visitHours(day)) return false;
      const isFound = days.length > 0;
      days.length = 0;
      if (isFound) this.lastFound = first;
      return isFound || first - this.lastFound <= MAX_EMPTY_DAYS;
    });
  }

  /** HOURLY with an interval beyond a month: steps from hour to hour instead of from day to day. */
  private sparseHours(): void {
    const { rule, days, startHour } = this.plan;
    const allows = dayTest(days);
    const first = this.aligned(this.fromDay * 24, startHour);
    for (let hour = first; hour < (this.lastDay + 1) * 24; hour += rule.interval) {
      const day = Math.floor(hour / 24);
      const isYearDay = rule.byYearDay.length === 0 || this.isYearDay(day, civilOf(day).year);
      if (isYearDay && allows(day)) {
        this.lastFound = day;
        if (!this.visitHours(day)) return;
      } else if (day - this.lastFound > MAX_EMPTY_DAYS) return;
    }
  }

  /** Visits the hours of a day that the interval reaches. */
  private visitHours(day: number): boolean {
    const { rule, hours, startHour, times, isDate } = this.plan;
    const midnight = day * 24;
    for (
      let hour = midnight + mod(startHour - midnight, rule.interval);
      hour < midnight + 24;
      hour += rule.interval
    ) {
      if (hour < startHour || (hours !== 0 && (hours & (1 << (hour - midnight))) === 0)) continue;
      if (isDate) return this.visit(day * DAY);
      for (const time of times) if (!this.visit(hour * HOUR + time)) return false;
    }
    return true;
  }

  /** Visits the allowed days of each month from that of `fromDay` to that of `lastDay`, until the callback returns false. */
  private eachMonth(visit: (first: number, allowed: number, year: number) => boolean): void {
    const { days } = this.plan;
    let { year, month } = civilOf(this.fromDay);
    for (let first = dayOf(year, month, 1); first <= this.lastDay; first = dayOf(year, month, 1)) {
      const allowed = days.months & (1 << month) ? daysOfMonth(days, first, daysInMonth(year, month)) : 0;
      if (!visit(first, allowed, year)) return;
      month += 1;
      if (month > 12) {
        month = 1;
        year += 1;
      }
    }
  }

  /** Visits the instances of a period, which begins with the day `at`, and clears `days`. */
  private endPeriod(at: number): boolean {
    const { days } = this;
    if (days.length === 0) return at - this.lastFound <= MAX_EMPTY_DAYS;
    const { times, setPositions } = this.plan;
    const continues =
      setPositions.length > 0
        ? this.visitPositions(at)
        : times.length === 1
          ? this.visitDays()
          : this.visitAll();
    days.length = 0;
    return continues;
  }

  private visitDays(): boolean {
    const time = this.plan.times[0] as number;
    for (const day of this.days) if (!this.visit(day * DAY + time)) return false;
    this.lastFound = this.days[0] as number;
    return true;
  }

  private visitAll(): boolean {
    for (const day of this.days)
      for (const time of this.plan.times) if (!this.visit(day * DAY + time)) return false;
    this.lastFound = this.days[0] as number;
    return true;
  }

  private visitPositions(at: number): boolean {
    const { times, setPositions } = this.plan;
    const perDay = times.length;
    const indexes = selectPositions(setPositions, this.days.length * perDay);
    for (const n of indexes) {
      const wall = (this.days[Math.floor(n / perDay)] as number) * DAY + (times[n % perDay] as number);
      if (!this.visit(wall)) return false;
    }
    if (indexes.length > 0) this.lastFound = at;
    return at - this.lastFound <= MAX_EMPTY_DAYS;
  }

  private keep(test: (day: number) => boolean): void {
    const { days } = this;
    let count = 0;
    for (const day of days) if (test(day)) days[count++] = day;
    days.length = count;
  }

  private isYearDay(day: number, year: number): boolean {
    const number = day - dayOf(year, 1, 1) + 1;
    return this.plan.rule.byYearDay.some((n) => n === number || n === number - daysInYear(year) - 1);
  }

  private weekOf(day: number): number {
    return day - mod(weekdayOf(day) - this.plan.rule.weekStart, 7);
  }

  /** The last period at or before `period` that steps of the interval reach from `first`. */
  private aligned(period: number, first: number): number {
    const { interval } = this.plan.rule;
    return first + Math.floor((period - first) / interval) * interval;
  }
}

/** Visits each wall time once: SKIP may move the last day of a period to the first of the next one, or the other way. */
function inOrder(last: number, visit: Visit): Visit {
  let before = Number.NEGATIVE_INFINITY;
  return (wall) => {
    if (wall <= before) return true;
    before = wall;
    // A day that was moved may be after a day of the next period, which is visited later.
    return wall > last ? wall - last <= MONTH_DAYS * DAY : visit(wall);
  };
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b));
