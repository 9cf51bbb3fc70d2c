import { DAY } from '../../../lib/recurrence/index.js';
import {
  checkedWall,
  hasOffset,
  instantOf,
  isDay,
  parseDuration,
  parseInstant,
  placeIn,
  wallText,
  zoneNamed,
} from '../model/event-times.js';
import type { EventTimes } from '../model/event-record.js';

/** A time of a request: text, or an object with a wall time and its zone, or with a day. */
export type TimeInput = string | { date: string } | { date_time: string; time_zone?: string | null };

/** A time of a request with its zone. */
export interface ReadTime {
  wall: number;
  isDate: boolean;
  /** Null means a day, or a floating time. */
  zone: string | null;
}

/** Default length of an event without end: an hour, or a day. */
const DEFAULT_LENGTH = 3600;

/** Whether a value is a `TimeInput` with an existing time from 1900 to 9989 and a known zone. */
export function isTimeInput(value: unknown): value is TimeInput {
  if (typeof value === 'string') return isTimeText(value);
  if (typeof value !== 'object' || value === null) return false;
  const { date, date_time, time_zone } = value as Record<string, unknown>;
  if (date_time === undefined || date_time === null) {
    return typeof date === 'string' && isDay(date) && checkedWall(date) !== null;
  }
  if (typeof date_time !== 'string' || isDay(date_time) || !isTimeText(date_time)) return false;
  return (
    time_zone === undefined ||
    time_zone === null ||
    (typeof time_zone === 'string' && zoneNamed(time_zone) !== null)
  );
}

const isTimeText = (text: string): boolean =>
  hasOffset(text) ? parseInstant(text) !== null : /^\d{4}-/.test(text) && checkedWall(text) !== null;

/**
 * Reads a time that `isTimeInput` has accepted.
 * @param defaultZone zone of times without a zone, which are floating if it is null. Instants are converted to it, except those that it cannot
 *   express
 */
export function readTime(input: TimeInput, defaultZone: string | null): ReadTime {
  const value = typeof input === 'string' ? (isDay(input) ? { date: input } : { date_time: input }) : input;
  if (!('date_time' in value) || value.date_time === null || value.date_time === undefined)
    return { wall: checkedWall((value as { date: string }).date) as number, isDate: true, zone: null };
  const { date_time: text, time_zone } = value;
  const zone = time_zone === undefined ? defaultZone : time_zone === null ? null : zoneNamed(time_zone);
  if (!hasOffset(text)) return { wall: checkedWall(text) as number, isDate: false, zone };
  return { ...placeIn(zone ?? 'UTC', parseInstant(text) as number), isDate: false };
}

/** Times of a request: a new end or a duration goes with a start. */
export interface TimesInput {
  start?: TimeInput;
  end?: TimeInput | null;
  duration?: string | null;
}

export type TimesError = 'mixed_days' | 'end_before_start' | 'too_long';

/** The longest event, 10 years. */
const MAX_LENGTH = 3_660 * DAY;

/**
 * The times of an event after a change.
 * @param current undefined for a new event, which has `start`
 */
export function changedTimes(
  { start, end, duration }: TimesInput,
  current: EventTimes | undefined,
  defaultZone: string,
): EventTimes | TimesError {
  const from =
    start === undefined
      ? currentStart(current as EventTimes)
      : readTime(start, current?.time_zone ?? defaultZone);
  const times = end
    ? withEnd(from, readTime(end, from.isDate ? null : (from.zone ?? null)))
    : duration
      ? withDuration(from, parseDuration(duration) as { days: number; seconds: number })
      : withLengthOf(from, current);
  if (typeof times === 'string') return times;
  const length = lengthOf(times);
  if (length < 0) return 'end_before_start';
  return length > MAX_LENGTH ? 'too_long' : times;
}

function currentStart({ starts, time_zone }: EventTimes): ReadTime {
  return { wall: checkedWall(starts) as number, isDate: isDay(starts), zone: time_zone };
}

/** Seconds between start and end, by their instants if the end has its own zone. Infinite for invalid times. */
function lengthOf({ starts, ends, time_zone, end_time_zone }: EventTimes): number {
  const [from, to] = [checkedWall(starts), checkedWall(ends)];
  if (from === null || to === null) return Number.POSITIVE_INFINITY;
  if (end_time_zone === null || end_time_zone === time_zone) return to - from;
  return instantOf(to, end_time_zone) - instantOf(from, time_zone);
}

function withEnd(from: ReadTime, to: ReadTime): EventTimes | TimesError {
  if (from.isDate !== to.isDate || (from.zone === null) !== (to.zone === null)) return 'mixed_days';
  // Requests often state the same day as start and end.
  const end = from.isDate && to.wall === from.wall ? to.wall + DAY : to.wall;
  return made(from, end, to.zone === from.zone ? null : to.zone, false);
}

function withDuration(from: ReadTime, { days, seconds }: { days: number; seconds: number }): EventTimes {
  const length = days * DAY + seconds;
  if (from.isDate) return made(from, from.wall + Math.max(DAY, Math.ceil(length / DAY) * DAY), null, false);
  return made(from, from.wall + length, null, seconds > 0);
}

function withLengthOf(from: ReadTime, current: EventTimes | undefined): EventTimes {
  if (!current || isDay(current.starts) !== from.isDate) {
    const end = from.wall + (from.isDate ? DAY : DEFAULT_LENGTH);
    // At the end of summer time, the wall time after the default length may be an hour later.
    const isExact =
      !from.isDate && instantOf(end, from.zone) - instantOf(from.wall, from.zone) !== DEFAULT_LENGTH;
    return made(from, end, null, isExact);
  }
  const length = (checkedWall(current.ends) as number) - (checkedWall(current.starts) as number);
  const endZone = current.end_time_zone !== null && from.zone !== null ? current.end_time_zone : null;
  return made(from, from.wall + length, endZone, current.exact_duration);
}

function made(
  { wall, isDate, zone }: ReadTime,
  end: number,
  endZone: string | null,
  exact: boolean,
): EventTimes {
  return {
    starts: wallText(wall, isDate),
    ends: wallText(end, isDate),
    time_zone: zone,
    end_time_zone: endZone,
    exact_duration: exact,
  };
}
