import {
  type Component,
  ICalendarError,
  parameterOf,
  parseDuration,
  propertiesOf,
  type Property,
  propertyOf,
  singlesOf,
  type TimeValue,
  timesOf as valuesOf,
  type ZoneRules,
} from '../../../lib/icalendar/index.js';
import { DAY } from '../../../lib/recurrence/index.js';
import type { EventTimes } from './event-record.js';
import { checkedWall, instantOf, parseDuration as durationOf, wallText } from './event-times.js';

/** Maximum number of dates of RDATE in one event, and of EXDATE. */
export const MAX_DATES = 1_000;
/** Maximum number of values that a file lists for one of them, malformed ones included. A value that a property repeats counts once. */
const MAX_LISTED = 2 * MAX_DATES;

/** DTSTART with the zone that the event is stored in. */
export interface Start {
  /** Seconds on the clock of `zone`, or of `rules`. */
  wall: number;
  isDate: boolean;
  /** Null means a day, or a floating time. UTC with `rules`. */
  zone: string | null;
  /** The rules of a VTIMEZONE that no IANA zone has: its times are stored in UTC. */
  rules: ZoneRules | null;
  /** With `isApproximate`: the rules that `zone` replaces. */
  replaced?: ZoneRules;
  /** With days that the file writes as times: its clock. */
  clock?: Pick<Start, 'zone' | 'rules'>;
  /** With `rules`: the IANA zone that differs from them for the shortest time. */
  nearest?: string;
}

/** What a file states and the stored event lacks, or what was assumed. */
export interface ReadWarning {
  code: (typeof WARNINGS)[number];
  message: string;
}

export const WARNINGS = [
  'time_zone_assumed',
  'time_zone_replaced',
  'invalid_duration',
  'invalid_date',
  'rule_repaired',
  'exceptions_cut',
  'value_too_large',
  'older_version',
  'not_an_event',
] as const;

/** Notes a warning. The last warning of a code counts. */
export type Warn = (code: ReadWarning['code'], message: string) => void;

/** A time with its TZID. */
export type Dated = TimeValue & { tzid: string | null };

export const invalid = (property: string, message: string): ICalendarError =>
  new ICalendarError('invalid_value', `${property} ${message}`, property);

/**
 * Lists the properties of this name, one for each value of a list.
 * @throws ICalendarError for more values than `MAX_LISTED`
 */
export function listValues(event: Component, name: 'RDATE' | 'EXDATE'): Property[] {
  const found: Property[] = [];
  for (const property of propertiesOf(event, name)) {
    const singles = singlesOf(property);
    if (found.length + singles.length > MAX_LISTED) throw invalid(name, `has at most ${MAX_DATES} dates`);
    found.push(...singles);
  }
  return found;
}

/**
 * The dates of the properties of this name, each once. A malformed one is ignored: the others are those of the event.
 * @throws ICalendarError
 */
export function datesOf(event: Component, name: 'RDATE' | 'EXDATE', warn: Warn): Dated[] {
  const found = new Map<string, Dated>();
  for (const property of listValues(event, name)) {
    const tzid = parameterOf(property, 'TZID') ?? null;
    const [time] = unlessInvalid(() => valuesOf(property)) ?? [];
    if (time) found.set(`${time.kind} ${time.wall} ${tzid}`, { ...time, tzid });
    else
      warn('invalid_date', `${name}:${property.value.slice(0, 100)} is not a date or time; it is ignored.`);
  }
  if (found.size > MAX_DATES) throw invalid(name, `has at most ${MAX_DATES} dates`);
  return [...found.values()];
}

/** The wall time on a day at the time of day of the start. @param day midnight */
export const atTimeOf = ({ wall }: Start, day: number): number => day + wall - Math.floor(wall / DAY) * DAY;

/** The instant of a wall time in a zone. */
export const instantIn = ({ zone, rules }: Pick<Start, 'zone' | 'rules'>, wall: number): number =>
  rules ? rules.toInstant(wall) : instantOf(wall, zone);

/** Whether a time of day has no zone. */
export const isFloating = ({ isDate, zone, rules }: Start): boolean =>
  !isDate && zone === null && rules === null;

export function checked(text: string): string {
  if (checkedWall(text) === null) throw invalid('RECURRENCE-ID', 'must lie between 1900 and 9989');
  return text;
}

/**
 * @param refuse is called with the message of the error for a malformed value
 * @returns null for a malformed value @throws ICalendarError for other errors, such as an unknown zone
 */
export function unlessInvalid<T>(read: () => T, refuse?: (message: string) => void): T | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ICalendarError) || error.code !== 'invalid_value') throw error;
    refuse?.(error.message);
    return null;
  }
}

/** The times of an event without an end: a moment, or a day. */
export const withoutEnd = (start: Start): EventTimes =>
  stored(start, start.wall + (start.isDate ? DAY : 0), null, false);

/** The times of an event with DURATION; null for a malformed one, which is ignored. */
export function lasting(start: Start, text: string, warn: Warn): EventTimes | null {
  const times = unlessInvalid(() => lastingFor(start, text));
  if (!times) warn('invalid_duration', `DURATION:${text.slice(0, 100)} is not a duration; it is ignored.`);
  return times;
}

function lastingFor(start: Start, text: string): EventTimes {
  const { days, seconds } = parseDuration(text);
  const length = Math.max(0, days * DAY + seconds);
  if (start.isDate)
    return stored(start, start.wall + Math.max(DAY, Math.ceil(length / DAY) * DAY), null, false);
  // Days come first, by the clock (RFC 5545, 3.3.6). The hours after them are too, which differs only while the clock changes.
  return stored(start, start.wall + length, null, days === 0 && seconds !== 0);
}

/** @param end on the clock of the start, or of `endZone` */
export function stored(
  { wall, isDate, zone, rules }: Start,
  end: number,
  endZone: string | null,
  exact: boolean,
): EventTimes {
  const from = rules ? rules.toInstant(wall) : wall;
  return {
    starts: wallText(from, isDate),
    ends: wallText(rules ? from + end - wall : end, isDate),
    time_zone: zone,
    end_time_zone: endZone,
    exact_duration: exact,
  };
}

/** Times from midnight to midnight as days. */
export const asDays = (placed: Start): Start => ({
  ...placed,
  isDate: true,
  zone: null,
  rules: null,
  clock: placed,
});

/** Exchange writes days as times from midnight to midnight, with a property that says so ([MS-OXCICAL], 2.1.3.1.1.20.28). */
export function isWholeDays(event: Component, { wall, isDate }: Start): boolean {
  const flag = propertyOf(event, 'X-MICROSOFT-CDO-ALLDAYEVENT')?.value.trim().toUpperCase();
  if (isDate || flag !== 'TRUE' || wall % DAY !== 0) return false;
  const end = propertyOf(event, 'DTEND');
  const length = propertyOf(event, 'DURATION');
  if (end) {
    const zone = (property: Property | undefined) => property && parameterOf(property, 'TZID');
    const [time] = unlessInvalid(() => valuesOf(end)) ?? [];
    const isSameClock = zone(end) === zone(propertyOf(event, 'DTSTART'));
    return time !== undefined && isSameClock && time.wall > wall && time.wall % DAY === 0;
  }
  const { days, seconds } = (length && durationOf(length.value.trim())) ?? { days: 1, seconds: 0 };
  return seconds % DAY === 0 && days * DAY + seconds > 0;
}
