import { civilOf, dayOf, daysInMonth, daysInYear, firstWeekOf, weekdayOf } from './civil.js';
import { ALL_MONTHS, type DayParts, daysOfMonth, nthWeekday, type Plan } from './plan.js';
import type { Skip } from './rule.js';

/**
 * Appends the days of one period of a YEARLY rule, in order (RFC 5545, 3.3.10, the table and its note 2).
 * BYWEEKNO may add days of the neighbouring years: a week belongs to the year that has most of its days.
 */
export function collectYear(plan: Plan, year: number, into: number[]): void {
  const { byYearDay, byWeekNo, byMonth } = plan.rule;
  if (byYearDay.length > 0) collectYearDays(plan, year, into);
  else if (byWeekNo.length > 0) {
    const allows = dayTest(plan.days);
    for (const day of weekDays(plan, year)) if (allows(day)) into.push(day);
  } else if (plan.days.numbered.length > 0 && byMonth.length === 0) collectNumbered(plan.days, year, into);
  else
    for (let month = 1; month <= 12; month += 1) {
      if ((plan.days.months & (1 << month)) === 0) continue;
      collectMonth(plan, year, month, into);
    }
}

/** Appends the days of one month of a YEARLY or MONTHLY rule, in order. With SKIP, they may be next to the month. */
export function collectMonth({ rule, days }: Plan, year: number, month: number, into: number[]): void {
  const first = dayOf(year, month, 1);
  const length = daysInMonth(year, month);
  if (rule.skip === 'OMIT' || !days.limitsMonthDays) {
    pushDays(daysOfMonth(days, first, length), first, into);
    return;
  }
  // BYDAY limits the days after SKIP has replaced those that the month lacks (RFC 7529, 4.1).
  const allows = dayTest({ ...days, months: ALL_MONTHS, limitsMonthDays: false });
  const indexes = indexesOf(
    rule.byMonthDay.length > 0 ? rule.byMonthDay : bits(days.monthDays),
    length,
    rule.skip,
  );
  for (const index of indexes) if (allows(first + index)) into.push(first + index);
}

/** Zero-based indexes of the numbered days of a period, in order. Those that it lacks are replaced as SKIP says. */
function indexesOf(numbers: readonly number[], length: number, skip: Skip): number[] {
  const found = new Set<number>();
  for (const n of numbers) {
    const index = n > 0 ? n - 1 : length + n;
    if (index >= 0 && index < length) found.add(index);
    else if (skip === 'BACKWARD') found.add(index < 0 ? -1 : length - 1);
    else if (skip === 'FORWARD') found.add(index < 0 ? 0 : length);
  }
  return [...found].toSorted((a, b) => a - b);
}

/** Numbers of the days in a set. */
const bits = (days: number): number[] => {
  const found: number[] = [];
  pushDays(days, 1, found);
  return found;
};

/** Appends the days of a set. */
export function pushDays(days: number, first: number, into: number[]): void {
  for (let left = days; left !== 0; left &= left - 1) into.push(first + 31 - Math.clz32(left & -left));
}

function collectYearDays(plan: Plan, year: number, into: number[]): void {
  const { byYearDay, byWeekNo, byMonth, skip } = plan.rule;
  const first = dayOf(year, 1, 1);
  const length = daysInYear(year);
  const weeks = byWeekNo.length > 0 ? new Set(weekDays(plan, year)) : null;
  const isNumberedInYear = plan.days.numbered.length > 0 && byMonth.length === 0;
  const numbered = isNumberedInYear ? new Set(weekdaysOfYear(plan.days, year)) : null;
  const allows = dayTest(isNumberedInYear ? withoutWeekdays(plan.days) : plan.days);
  for (const index of indexesOf(byYearDay, length, skip)) {
    const day = first + index;
    if ((weeks?.has(day) ?? true) && (numbered?.has(day) ?? true) && allows(day)) into.push(day);
  }
}

/** BYDAY with numbers counts within the year if BYMONTH is absent. */
function collectNumbered(parts: DayParts, year: number, into: number[]): void {
  const allows = parts.limitsMonthDays ? dayTest(withoutWeekdays(parts)) : null;
  for (const day of weekdaysOfYear(parts, year)) if (allows?.(day) ?? true) into.push(day);
}

const withoutWeekdays = (parts: DayParts): DayParts => ({ ...parts, limitsWeekdays: false });

/** The days of BYDAY within a year, in order. */
function weekdaysOfYear({ weekdays, numbered }: DayParts, year: number): number[] {
  const first = dayOf(year, 1, 1);
  const length = daysInYear(year);
  const firstWeekday = weekdayOf(first);
  const found = new Set<number>();
  if (weekdays !== 0)
    for (let n = 0; n < length; n += 1) if (weekdays & (1 << ((firstWeekday + n) % 7))) found.add(first + n);
  for (const day of numbered) {
    const offset = nthWeekday(day, firstWeekday, length);
    if (offset >= 0) found.add(first + offset);
  }
  return [...found].toSorted((a, b) => a - b);
}

/** The days of the BYWEEKNO weeks of a year, in order. */
function weekDays({ rule }: Plan, year: number): number[] {
  const first = firstWeekOf(year, rule.weekStart);
  const count = (firstWeekOf(year + 1, rule.weekStart) - first) / 7;
  const weeks = new Set(rule.byWeekNo.map((n) => (n > 0 ? n - 1 : count + n)));
  const days: number[] = [];
  for (let week = 0; week < count; week += 1)
    if (weeks.has(week)) for (let n = 0; n < 7; n += 1) days.push(first + week * 7 + n);
  return days;
}

/** A test of BYMONTH, BYMONTHDAY and BYDAY for days in order: the set of a month is computed once. */
export function dayTest(parts: DayParts): (day: number) => boolean {
  if (parts.months === ALL_MONTHS && !parts.limitsMonthDays && !parts.limitsWeekdays) return () => true;
  let first = 0;
  let length = 0;
  let days = 0;
  return (day) => {
    if (day < first || day >= first + length) {
      const date = civilOf(day);
      first = day - date.day + 1;
      length = daysInMonth(date.year, date.month);
      days = parts.months & (1 << date.month) ? daysOfMonth(parts, first, length) : 0;
    }
    return (days & (1 << (day - first))) !== 0;
  };
}
