/**
 * Calendar arithmetic on integers, without time zones. A day is the number of days since 1970-01-01 in the proleptic
 * Gregorian calendar; a wall time is the number of seconds since 1970-01-01T00:00:00 on a clock of an unnamed zone.
 */

export const DAY = 86_400;
/** Times beyond year 9999 cannot be written in iCalendar or RFC 3339. */
export const MAX_YEAR = 9999;

export interface CivilDate {
  year: number;
  /** 1 to 12. */
  month: number;
  /** 1 to 31. */
  day: number;
}

/** Days since 1970-01-01 (algorithm: Howard Hinnant, "chrono-compatible low-level date algorithms"). */
export function dayOf(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** The inverse of `dayOf`. */
export function civilOf(days: number): CivilDate {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1,
  };
}

/** 0 Monday to 6 Sunday. */
export const weekdayOf = (day: number): number => mod(day + 3, 7);

const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export const daysInMonth = (year: number, month: number): number =>
  month === 2 && isLeapYear(year) ? 29 : (MONTH_DAYS[month - 1] as number);

export const daysInYear = (year: number): number => (isLeapYear(year) ? 366 : 365);

/** The remainder with the sign of the divisor. */
export const mod = (value: number, divisor: number): number => ((value % divisor) + divisor) % divisor;

/** First day of week 1 of a year: the first week with at least four days in it (RFC 5545, BYWEEKNO). */
export function firstWeekOf(year: number, weekStart: number): number {
  const first = dayOf(year, 1, 1);
  const offset = mod(weekdayOf(first) - weekStart, 7);
  return offset <= 3 ? first - offset : first - offset + 7;
}

/** Two digits of a text, or NaN. */
function readTwoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48;
  const ones = text.charCodeAt(at + 1) - 48;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? 10 * tens + ones : Number.NaN;
}

/**
 * Reads `2026-03-02T09:00:00`, `2026-03-02T09:00`, `20260302T090000` or a date alone, whose time is midnight. Without a regular expression,
 * which took a sixth of the time of an expansion of many changed instances.
 * @returns the wall time in seconds, or null for text that is no existing date and time
 */
export function parseWallTime(text: string): number | null {
  const skip = (at: number, separator: string): number => (text[at] === separator ? at + 1 : at);
  const year = 100 * readTwoDigits(text, 0) + readTwoDigits(text, 2);
  const monthAt = skip(4, '-');
  const month = readTwoDigits(text, monthAt);
  const dayAt = skip(monthAt + 2, '-');
  const day = readTwoDigits(text, dayAt);
  if (!(year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month))) return null;
  const midnight = dayOf(year, month, day) * DAY;
  const dateEnd = dayAt + 2;
  if (text.length === dateEnd) return midnight;
  if (text[dateEnd] !== 'T') return null;
  const hour = readTwoDigits(text, dateEnd + 1);
  const minuteAt = skip(dateEnd + 3, ':');
  const minute = readTwoDigits(text, minuteAt);
  const secondAt = skip(minuteAt + 2, ':');
  const hasSecond = text.length > minuteAt + 2;
  const second = hasSecond ? readTwoDigits(text, secondAt) : 0;
  if (!(hour <= 23 && minute <= 59 && second <= 60)) return null;
  if (hasSecond && text.length !== secondAt + 2) return null;
  // RFC 5545, 3.3.12: without support for leap seconds, second 60 is second 59.
  return midnight + hour * 3600 + minute * 60 + Math.min(second, 59);
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `2026-03-02` of a day. */
export function formatDay(day: number): string {
  const date = civilOf(day);
  return `${String(date.year).padStart(4, '0')}-${two(date.month)}-${two(date.day)}`;
}

/** `2026-03-02T09:00:00` of a wall time. */
export function formatWallTime(wall: number): string {
  const day = Math.floor(wall / DAY);
  const second = wall - day * DAY;
  const time = `${two(Math.floor(second / 3600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}`;
  return `${formatDay(day)}T${time}`;
}
