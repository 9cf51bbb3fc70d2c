import {
  canonicalZone,
  DAY,
  formatDay,
  formatWallTime,
  parseWallTime,
  Zone,
} from '../../../lib/recurrence/index.js';
import type { EventTimes } from './event-record.js';

/** A time of the API: a wall time with its zone (null: floating), or a day. */
export type TimeValue = { date: string } | { date_time: string; time_zone: string | null };

const DAY_TEXT = /^\d{4}-\d\d-\d\d$/;
const OFFSET = /(?:[Zz]|[+-]\d\d:?\d\d)$/;
const INSTANT = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d(?::\d\d)?)(?:\.\d{1,9})?([Zz]|[+-]\d\d:?\d\d)$/;
/** The range of RFC 3339 years in which the engine computes instances with all margins. */
export const FIRST = parseWallTime('1900-01-01T00:00:00') as number;
const LAST = parseWallTime('9990-01-01T00:00:00') as number;

export const isDay = (text: string): boolean => DAY_TEXT.test(text);

/** Seconds of a wall time or day that has been checked. */
export const wallOf = (text: string): number => parseWallTime(text) as number;

/** Seconds of a wall time or day from 1900 to 9989, or null for other text. */
export function checkedWall(text: string): number | null {
  const wall = parseWallTime(text);
  return wall !== null && wall >= FIRST && wall < LAST ? wall : null;
}

/** Seconds since the epoch of RFC 3339 text, or null. */
export function parseInstant(text: string): number | null {
  const match = INSTANT.exec(text);
  if (!match) return null;
  const wall = checkedWall(`${match[1]}T${match[2]}`);
  if (wall === null) return null;
  const offset = match[3] as string;
  if (/z/i.test(offset)) return wall;
  const [hours, minutes] = [Number(offset.slice(1, 3)), Number(offset.slice(-2))];
  if (hours > 23 || minutes > 59) return null;
  return wall - (offset.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60);
}

export const hasOffset = (text: string): boolean => OFFSET.test(text) && text.includes('T');

/** RFC 3339 of an instant in seconds. */
export const formatInstant = (instant: number): string => `${formatWallTime(instant)}Z`;

/** The instant of a wall time. @param readerZone for floating times and days */
export function instantOf(wall: number, zone: string | null, readerZone = 'UTC'): number {
  const name = zone ?? readerZone;
  return name === 'UTC' ? wall : Zone.of(name).toInstant(wall);
}

/** The wall time of an instant. */
export const wallIn = (zone: string, instant: number): number =>
  zone === 'UTC' ? instant : Zone.of(zone).toWall(instant);

/**
 * The wall time of an instant with its zone: UTC if the given zone has this wall time twice, at the end of summer time, and means the other
 * instant.
 */
export function placeIn(zone: string, instant: number): { wall: number; zone: string } {
  const wall = wallIn(zone, instant);
  return instantOf(wall, zone) === instant ? { wall, zone } : { wall: instant, zone: 'UTC' };
}

/** The canonical name of a zone, or null. */
export const zoneNamed = (name: string): string | null => (name === 'Z' ? 'UTC' : canonicalZone(name));

/** `2026-03-02T09:00:00` or, for days, `2026-03-02`. */
export const wallText = (wall: number, isDate: boolean): string =>
  isDate ? formatDay(Math.floor(wall / DAY)) : formatWallTime(wall);

/** The difference of the wall times of end and start, seconds. */
export const nominalLength = (times: EventTimes): number => wallOf(times.ends) - wallOf(times.starts);

/** The times of an event, or of an instance, at another start. */
export function timesAt(times: EventTimes, wall: number): Pick<EventTimes, 'starts' | 'ends'> {
  const isDate = isDay(times.starts);
  const starts = wallText(wall, isDate);
  const endZone = secondZone(times);
  if (endZone === null) return { starts, ends: wallText(wall + nominalLength(times), isDate) };
  const end = instantOf(wall, times.time_zone) + exactLength(times, endZone);
  return { starts, ends: wallText(wallIn(endZone, end), false) };
}

/** The zone of the end, if it is another one than that of the start. */
const secondZone = ({ time_zone: zone, end_time_zone: endZone, exact_duration: isExact }: EventTimes) =>
  !isExact && endZone !== null && endZone !== zone ? endZone : null;

const exactLength = ({ starts, ends, time_zone: zone }: EventTimes, endZone: string): number =>
  Math.max(0, instantOf(wallOf(ends), endZone) - instantOf(wallOf(starts), zone));

/** Moves the key of an instance with the start of its series. */
export function keyMover(before: EventTimes, after: EventTimes): (key: string) => string {
  const becomesDay = isDay(after.starts);
  const dayOf = (text: string) => (becomesDay ? text.slice(0, 10) : text);
  const shift = wallOf(after.starts) - wallOf(dayOf(before.starts));
  if (shift === 0 && becomesDay === isDay(before.starts)) return (key) => key;
  return (key) => wallText(wallOf(dayOf(key)) + shift, becomesDay);
}

/**
 * The length in seconds of a time that starts at this instant. In one zone it follows the clock: a night shift until six ends at six, also
 * when the clock changes, as in Outlook ([MS-OXOCAL], EndTimeOffset) and Thunderbird. With an exact duration, and with an end in another
 * zone, whose clock changes on other days or never, each instance takes as many seconds as the first one (RFC 5545, 3.8.5.3).
 */
export function lengthAt(times: EventTimes, startWall: number, start: number, readerZone?: string): number {
  const length = nominalLength(times);
  if (times.exact_duration) return Math.max(0, length);
  const endZone = secondZone(times);
  if (endZone !== null) return exactLength(times, endZone);
  const end = instantOf(startWall + length, times.end_time_zone ?? times.time_zone, readerZone);
  // A start in the gap of a clock change moves forward, possibly past the end.
  return end > start ? end - start : Math.max(0, length);
}

export function timeValue(text: string, zone: string | null): TimeValue {
  return isDay(text) ? { date: text } : { date_time: text, time_zone: zone };
}

const DURATION = /^P(?:(\d{1,3})W|(?:(\d{1,4})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,5})M)?(?:(\d{1,6})S)?)?)$/;

/**
 * Reads a duration of RFC 5545, 3.3.6, e.g. `PT1H30M` or `P1D`.
 * @returns calendar days and exact seconds, or null for other text
 */
export function parseDuration(text: string): { days: number; seconds: number } | null {
  const match = DURATION.exec(text.toUpperCase());
  if (!match || text.length < 3 || text.endsWith('T')) return null;
  const [weeks, days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
  ];
  return { days: weeks * 7 + days, seconds: hours * 3600 + minutes * 60 + seconds };
}

/** A length in seconds as `P1DT2H`. */
export function formatDuration(seconds: number): string {
  const days = Math.floor(seconds / DAY);
  const rest = seconds - days * DAY;
  const parts = [
    [Math.floor(rest / 3600), 'H'],
    [Math.floor(rest / 60) % 60, 'M'],
    [rest % 60, 'S'],
  ] as const;
  const time = parts.map(([value, unit]) => (value > 0 ? `${value}${unit}` : '')).join('');
  if (days === 0 && time === '') return 'PT0S';
  return `P${days > 0 ? `${days}D` : ''}${time ? `T${time}` : ''}`;
}
