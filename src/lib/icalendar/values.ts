import { DAY, formatWallTime, parseWallTime } from '../recurrence/index.js';
import {
  type Component,
  ICalendarError,
  parameterOf,
  propertiesOf,
  type Property,
  propertyOf,
} from './component.js';

/** RFC 5545 escapes the first ones; Outlook and Google have escaped the others too. */
const ESCAPED = /\\([\\;,nN:"'])/g;
const SPECIAL = /[\\;,\n]/g;

/** TEXT (RFC 5545, 3.3.11) to plain text. A backslash before any other character stays: programs that do not escape write paths. */
export const unescapeText = (value: string): string =>
  value.includes('\\')
    ? value.replace(ESCAPED, (_, next: string) => (next === 'n' || next === 'N' ? '\n' : next))
    : value;

export const escapeText = (text: string): string =>
  text.replaceAll(/\r\n?/g, '\n').replaceAll(SPECIAL, (found) => (found === '\n' ? '\\n' : `\\${found}`));

/** A list of TEXT, e.g. of CATEGORIES. */
export const textList = (value: string): string[] =>
  (value.match(/(?:\\[\s\S]?|[^\\,])+/g) ?? []).map((part) => unescapeText(part).trim()).filter(Boolean);

/** The text of the first property of this name; null if it is absent. */
export function textOf(parent: Component, name: string): string | null {
  const found = propertyOf(parent, name);
  return found ? unescapeText(found.value) : null;
}

/** A DATE or DATE-TIME. `wall` is in seconds since 1970-01-01T00:00:00 on the clock that `kind` and TZID name. */
export interface TimeValue {
  kind: 'date' | 'utc' | 'local';
  wall: number;
}

/** A time with its offset, which RFC 5545 does not have. */
const WITH_OFFSET = /^(.*T.*)([+-]\d\d:?\d\d)$/;
/** The end of a day (ISO 8601). */
const END_OF_DAY = /T24(?=:?00(?::?00)?$)/;

/**
 * Some programs write the offset of a time, or the end of a day as 24:00.
 * @throws ICalendarError `invalid_value`
 */
export function parseTime(value: string, property = 'DTSTART'): TimeValue {
  const text = value.trim().toUpperCase();
  const [, local, offset] = WITH_OFFSET.exec(text) ?? [];
  const isUtc = text.endsWith('Z') || offset !== undefined;
  const time = local ?? (isUtc ? text.slice(0, -1) : text);
  const wall = parseWallTime(time.replace(END_OF_DAY, 'T00'));
  if (wall === null) throw new ICalendarError('invalid_value', `${property} is not a date or time`, property);
  const seconds = wall + (END_OF_DAY.test(time) ? DAY : 0) - (offset ? parseOffset(offset, property) : 0);
  return { kind: text.includes('T') ? (isUtc ? 'utc' : 'local') : 'date', wall: seconds };
}

/** The values of a list, each once. Programs that separate values by semicolons, or end a list with a separator, mean the same. */
export const listedTexts = ({ value }: Property): string[] =>
  [...new Set(value.split(/[,;]/))].filter((text) => text.trim() !== '');

/** A property for each value of a list. */
export const singlesOf = (property: Property): Property[] =>
  listedTexts(property).map((value) => ({ ...property, value }));

/** Properties that name an instance: a day names it as well as its time. */
const NAMES: ReadonlySet<string> = new Set(['EXDATE', 'RECURRENCE-ID']);

/**
 * The times of a property: one for DTSTART, several for EXDATE and RDATE; the start of a period. Some programs write VALUE=DATE for a
 * time of day, and others midnight for a day.
 */
export function timesOf(property: Property): TimeValue[] {
  const isDate = parameterOf(property, 'VALUE')?.toUpperCase() === 'DATE';
  return property.value.split(',').map((text) => {
    const time = parseTime(text.split('/')[0] as string, property.name);
    const isDay = isDate && (time.wall % DAY === 0 || NAMES.has(property.name));
    return isDay ? { kind: 'date', wall: Math.floor(time.wall / DAY) * DAY } : time;
  });
}

/** A PERIOD (RFC 5545, 3.3.9). */
export interface Period extends TimeValue {
  /** Seconds, or the end. */
  length: number | TimeValue;
}

/** The periods among the values of a property. @throws ICalendarError */
export const periodsOf = (property: Property): Period[] =>
  property.value.split(',').flatMap((text) => {
    const [from = '', to] = text.split('/');
    if (to === undefined) return [];
    const { days, seconds } = /^\s*[+-]?P/i.test(to)
      ? parseDuration(to, property.name)
      : { days: 0, seconds: 0 };
    const length = /P/i.test(to) ? days * DAY + seconds : parseTime(to, property.name);
    return [{ ...parseTime(from, property.name), length }];
  });

/** All times of the properties of this name, e.g. of several EXDATE lines, with their TZID. */
export const allTimesOf = (parent: Component, name: string): (TimeValue & { tzid: string | null })[] =>
  propertiesOf(parent, name).flatMap((property) => {
    const tzid = parameterOf(property, 'TZID') ?? null;
    return timesOf(property).map((time) => ({ ...time, tzid }));
  });

/** `20260302`, `20260302T090000` or `20260302T090000Z`. */
export function formatTime({ kind, wall }: TimeValue): string {
  const text = formatWallTime(wall).replaceAll(/[-:]/g, '');
  return kind === 'date' ? text.slice(0, 8) : kind === 'utc' ? `${text}Z` : text;
}

/** A DURATION: days are nominal (wall clock), seconds exact. Both have the sign of the duration. */
export interface Duration {
  days: number;
  seconds: number;
}

/** Some programs write weeks and days after the T. */
const DURATION = /^([+-])?PT?(?:(\d{1,6})W)?(?:(\d{1,6})D)?T?(?:(\d{1,6})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?$/;

/** @throws ICalendarError `invalid_value` */
export function parseDuration(value: string, property = 'DURATION'): Duration {
  const text = value.trim().toUpperCase();
  const match = DURATION.exec(text);
  // Without T, M is a month of ISO 8601.
  if (!match || !/\d/.test(text) || (/\d[HMS]/.test(text) && !text.includes('T')))
    throw new ICalendarError('invalid_value', `${property} is not a duration`, property);
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(2)
    .map((part) => Number(part ?? 0));
  const sign = match[1] === '-' ? -1 : 1;
  return {
    days: sign * (weeks * 7 + days) || 0,
    seconds: sign * (hours * 3600 + minutes * 60 + seconds) || 0,
  };
}

export function formatDuration({ days, seconds }: Duration): string {
  const sign = days < 0 || seconds < 0 ? '-' : '';
  const [day, time] = [Math.abs(days), Math.abs(seconds)];
  const parts: [number, string][] = [
    [Math.floor(time / 3600), 'H'],
    [Math.floor(time / 60) % 60, 'M'],
    [time % 60, 'S'],
  ];
  const clock = parts.flatMap(([count, unit]) => (count > 0 ? `${count}${unit}` : [])).join('');
  if (!clock) return day === 0 ? 'PT0S' : `${sign}P${day}D`;
  return `${sign}P${day > 0 ? `${day}D` : ''}T${clock}`;
}

const OFFSET = /^([+-])(\d\d):?(\d\d):?(\d\d)?$/;

/** UTC-OFFSET in seconds east. @throws ICalendarError `invalid_value` */
export function parseOffset(value: string, property: string): number {
  const match = OFFSET.exec(value.trim());
  if (!match) throw new ICalendarError('invalid_value', `${property} is not an offset`, property);
  const seconds = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
  return match[1] === '-' ? -seconds : seconds;
}

export function formatOffset(offset: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const size = Math.abs(offset);
  const seconds = size % 60 === 0 ? '' : two(size % 60);
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(size / 3600))}${two(Math.floor(size / 60) % 60)}${seconds}`;
}
