import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';

const DAY = /^\d{4}-\d\d-\d\d$/;

/** A day of the calendar as `YYYY-MM-DD`, from 1900 to 9999: `2026-02-30` is none. */
export function isCalendarDay(value: unknown): value is string {
  if (typeof value !== 'string' || !DAY.test(value) || value < '1900') return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

export const CalendarDay = () =>
  ValidateBy({
    name: 'isCalendarDay',
    validator: {
      validate: isCalendarDay,
      defaultMessage: () => '$property must be a day of the calendar, YYYY-MM-DD',
    },
  });

/** A moment from 1900 to 9999, already made a Date by `@Timestamp()`. */
export const Moment = () =>
  ValidateBy({
    name: 'isTimestamp',
    validator: {
      validate: (value) =>
        value instanceof Date && value.getUTCFullYear() >= 1900 && value.getUTCFullYear() <= 9998,
      defaultMessage: () => '$property must be a time, RFC 3339',
    },
  });

const ZONE = /^[A-Za-z_]+(?:\/[A-Za-z0-9_+-]+){0,2}$/;

export function isTimeZone(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > 64 || !ZONE.test(value)) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: value }));
  } catch {
    return false;
  }
}

export const TimeZone = () =>
  ValidateBy({
    name: 'isTimeZone',
    validator: {
      validate: isTimeZone,
      defaultMessage: () => '$property must be a time zone of the IANA database, e.g. Europe/Paris',
    },
  });

/** Text with something in it besides white space. */
export const NotBlank = () =>
  ValidateBy({
    name: 'isNotBlank',
    validator: {
      validate: (value) => typeof value === 'string' && value.trim() !== '',
      defaultMessage: () => '$property must not be blank',
    },
  });

/** Any case in, lower case on. */
export const LowerCase = () =>
  Transform(({ value }) => (typeof value === 'string' ? value.toLowerCase() : value));
