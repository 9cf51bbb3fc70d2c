import { daysInMonth } from '../recurrence/index.js';
import type { CardDate } from './card.js';
import type { Property } from './read/properties.js';
import { unescapeText } from './values.js';

type DateParts = Pick<CardDate, 'year' | 'month' | 'day'>;

/** `1985-04-12`, `19850412`, `1985-04`, `1985`, `--04-12`, `--0412`, `--04`, `---12`; a time of day or an offset after them is dropped. */
const DATE =
  /^(?:(?<year>\d{4})(?:-?(?<month>\d{2})-?(?<day>\d{2})|-(?<monthOnly>\d{2}))?|--(?<month2>\d{2})(?:-?(?<day2>\d{2}))?|---(?<day3>\d{2}))(?:[Tt].*| \d\d:.*|Z|[+-]\d{2}:\d{2})?$/;
/** `1985/4/12`, `1985.04.12`, `1985-4-12`, and `12.4.1985`, which has one order everywhere. */
const WRITTEN =
  /^(?:(?<year>\d{4})(?<separator>[-/.])(?<month>\d{1,2})\k<separator>(?<day>\d{1,2})|(?<day2>\d{1,2})\. ?(?<month2>\d{1,2})\. ?(?<year2>\d{4}))(?:[Tt].*| \d\d:.*)?$/;
/** `24/12/1985` and `12/24/1985`: there is only one month 12. `4/12/1985` has two meanings. */
const EITHER_ORDER =
  /^(?<one>\d{1,2})(?<separator>[-/])(?<other>\d{1,2})\k<separator>(?<year>\d{4})(?:[Tt].*| \d\d:.*)?$/;
const MONTHS = 12;

/** The date that each order of day and month has, or the one that exists; undefined for two dates. */
function parseEitherOrder(text: string): DateParts | undefined {
  const found = EITHER_ORDER.exec(text)?.groups;
  const [one, other] = [Number(found?.['one']), Number(found?.['other'])];
  if (!found || (one <= MONTHS && other <= MONTHS && one !== other)) return undefined;
  const [day, month] = one > MONTHS ? [one, other] : [other, one];
  return checkDate({ year: Number(found['year']), month, day });
}

/**
 * The date of RFC 6350, 4.3.1, of ISO 8601 as vCard 2.1 and 3.0 use it, or as programs write it for people; undefined for any other text.
 * The year 0000 is none.
 */
export function parseDate(text: string, omittedYear?: string): DateParts | undefined {
  const line = text.trim();
  const found = (DATE.exec(line) ?? WRITTEN.exec(line))?.groups;
  if (!found) return parseEitherOrder(line);
  const year = numberOf(found.year ?? found.year2);
  return checkDate({
    year: isNoYear(year, omittedYear) && (found.month ?? found.monthOnly) ? null : year,
    month: numberOf(found.month ?? found.monthOnly ?? found.month2),
    day: numberOf(found.day ?? found.day2 ?? found.day3),
  });
}

/** The date of a property; undefined for one of another calendar (CALSCALE), whose months and days have another meaning. */
export function dateOf({ value, params }: Pick<Property, 'value' | 'params'>): DateParts | undefined {
  if ((params.first('CALSCALE') ?? GREGORIAN).toLowerCase() !== GREGORIAN) return undefined;
  return parseDate(unescapeText(value), params.first('X-APPLE-OMIT-YEAR'));
}

const GREGORIAN = 'gregorian';

/** The leap year that Apple writes for a date without a year, often without X-APPLE-OMIT-YEAR. */
export const APPLE_YEAR = 1604;

const isNoYear = (year: number | null, omitted: string | undefined): boolean =>
  year === APPLE_YEAR || year === 0 || (omitted !== undefined && year === Number(omitted));

function numberOf(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits);
}

/** Undefined for a date that does not exist. February has 29 days when the year is unknown. */
export function checkDate(parts: DateParts): DateParts | undefined {
  const { year, month, day } = parts;
  if (year === null && month === null && day === null) return undefined;
  if (year !== null && (year < 1 || year > 9999 || (month === null && day !== null))) return undefined;
  if (month !== null && (month < 1 || month > MONTHS)) return undefined;
  if (day !== null && (day < 1 || day > daysInMonth(year ?? 2000, month ?? 1))) return undefined;
  return parts;
}

/** The shortest text of RFC 6350 that readers of both 3.0 and 4.0 support; `extended` has hyphens (3.0). */
export function formatDate({ year, month, day }: DateParts, extended: boolean): string {
  const pad = (value: number, length = 2): string => String(value).padStart(length, '0');
  const hyphen = extended ? '-' : '';
  if (year === null) {
    if (month === null) return `---${pad(day ?? 1)}`;
    return day === null ? `--${pad(month)}` : `--${pad(month)}${hyphen}${pad(day)}`;
  }
  if (month === null) return pad(year, 4);
  return day === null
    ? `${pad(year, 4)}-${pad(month)}`
    : `${pad(year, 4)}${hyphen}${pad(month)}${hyphen}${pad(day)}`;
}
