import {
  type CalendarZones,
  type Component,
  ICalendarError,
  parameterOf,
  parseDuration,
  propertiesOf,
  type Property,
  propertyOf,
  type TimeValue,
  timesOf as valuesOf,
  type ZoneRules,
} from '../../../lib/icalendar/index.js';
import { DAY, formatRule, instancesOf, parseRule, withWallUntil } from '../../../lib/recurrence/index.js';
import type { EventRow, EventTimes } from './event-record.js';
import { seriesOf } from './event-series.js';
import { checkedWall, instantOf, wallIn, wallText } from './event-times.js';

export type Recurrence = Pick<EventRow, 'rules' | 'added' | 'excluded'>;

/** Maximum numbers of RRULEs, and of dates of RDATE and EXDATE, in one event. */
const MAX_RULES = 4;
const MAX_DATES = 1_000;
/** The longest event, 10 years. */
const MAX_LENGTH = 3_660 * DAY;

/** DTSTART with the zone that the event is stored in. */
export interface Start {
  /** Seconds on the clock of `zone`, or of `rules`. */
  wall: number;
  isDate: boolean;
  /** Null: a day, or a floating time. UTC with `rules`. */
  zone: string | null;
  /** The rules of a VTIMEZONE that no IANA zone has: its times are stored in UTC. */
  rules: ZoneRules | null;
}

/** A time with its TZID. */
type Dated = TimeValue & { tzid: string | null };

const invalid = (property: string, message: string): ICalendarError =>
  new ICalendarError('invalid_value', `${property} ${message}`, property);

/** Reads times of the VEVENTs of one calendar (RFC 5545, 3.8.2 and 3.8.5). */
export class EventClock {
  /**
   * @param zones the zones of the calendar
   * @param fallback IANA zone for a TZID that is unknown and has no VTIMEZONE (X-WR-TIMEZONE); null: such events are invalid
   */
  constructor(
    private readonly zones: CalendarZones,
    private readonly fallback: string | null,
  ) {}

  /** @throws ICalendarError `invalid_value`, `unknown_time_zone` */
  start(event: Component): Start {
    const property = propertyOf(event, 'DTSTART');
    if (!property) throw invalid('DTSTART', 'is missing');
    return this.placed(property);
  }

  /** The times of an event or of an instance. @throws ICalendarError */
  times(event: Component, start = this.start(event)): EventTimes {
    const end = propertyOf(event, 'DTEND');
    const length = propertyOf(event, 'DURATION');
    const times = end
      ? this.until(start, this.placed(end))
      : length
        ? lasting(start, length.value)
        : stored(start, start.wall + (start.isDate ? DAY : 0), null, false);
    const [from, to] = [checkedWall(times.starts), checkedWall(times.ends)];
    if (from === null || to === null) throw invalid('DTSTART', 'must lie between 1900 and 9989');
    if (to - from > MAX_LENGTH) throw invalid('DTEND', 'must be at most 10 years after DTSTART');
    return times;
  }

  /** The recurrence of an event. @throws ICalendarError; RecurrenceError for a rule */
  recurrence(event: Component, start: Start, times: EventTimes): Recurrence {
    const rules = propertiesOf(event, 'RRULE').map(({ value }) => formatRule(parseRule(value)));
    if (rules.length > MAX_RULES) throw invalid('RRULE', `occurs at most ${MAX_RULES} times`);
    const added = this.keys(event, 'RDATE', start, times, null);
    if (start.rules) return this.expanded(event, start, start.rules, rules);
    const excluded = this.keys(event, 'EXDATE', start, times, { rules, added, excluded: [] });
    return { rules, added, excluded };
  }

  /** The key of the instance that RECURRENCE-ID names; null for a property without a time. */
  keyOf(property: Property, start: Start, times: EventTimes): string | null {
    const [time] = valuesOf(property);
    if (!time) return null;
    return (
      this.keysOf({ ...time, tzid: parameterOf(property, 'TZID') ?? null }, start, times, null)[0] ?? null
    );
  }

  private keys(
    event: Component,
    name: 'RDATE' | 'EXDATE',
    start: Start,
    times: EventTimes,
    series: Recurrence | null,
  ): string[] {
    const found = new Set<string>();
    for (const time of datesOf(event, name)) {
      for (const key of this.keysOf(time, start, times, series)) found.add(key);
      if (found.size > MAX_DATES) throw invalid(name, `has at most ${MAX_DATES} dates`);
    }
    return [...found].toSorted();
  }

  /**
   * The keys of the instances that a time names: wall times in the zone of the series, or days.
   * @param series a day names all its instances on this day. Null: a day names the time of the start on this day
   */
  private keysOf(time: Dated, start: Start, times: EventTimes, series: Recurrence | null): string[] {
    const day = Math.floor(time.wall / DAY) * DAY;
    if (start.isDate) return [checked(wallText(day, true))];
    if (time.kind !== 'date') return [checked(wallText(this.wallOf(time, start), false))];
    if (!series) {
      const at = atTimeOf(start, day);
      return [checked(wallText(start.rules ? start.rules.toInstant(at) : at, false))];
    }
    const from = instantOf(day, times.time_zone);
    const found = instancesOf(seriesOf({ ...times, ...series }), { from, to: from + DAY, limit: 1_500 });
    return found.map(({ key }) => wallText(key, false));
  }

  /** A time on the clock of the series. */
  private wallOf({ kind, wall, tzid }: Dated, { zone, rules }: Start): number {
    if (kind === 'utc') return zone === null ? wall : wallIn(zone, wall);
    const own = tzid === null ? null : this.zone(tzid, wall);
    if (rules) return own === null ? rules.toInstant(wall) : instantIn(own, wall);
    if (zone === null || own === null || own.zone === zone) return wall;
    return wallIn(zone, instantIn(own, wall));
  }

  private placed(property: Property): Start {
    const [time] = valuesOf(property);
    if (!time) throw invalid(property.name, 'is not a date or time');
    const { kind, wall } = time;
    if (kind === 'date') return { wall, isDate: true, zone: null, rules: null };
    if (kind === 'utc') return { wall, isDate: false, zone: 'UTC', rules: null };
    const tzid = parameterOf(property, 'TZID');
    return { wall, isDate: false, ...(tzid ? this.zone(tzid, wall) : { zone: null, rules: null }) };
  }

  private zone(tzid: string, around: number): Pick<Start, 'zone' | 'rules'> {
    const found = this.zones.resolve(tzid, around);
    if (found?.kind === 'iana') return { zone: found.name, rules: null };
    if (found) return { zone: 'UTC', rules: found.rules };
    if (this.fallback !== null) return { zone: this.fallback, rules: null };
    throw new ICalendarError('unknown_time_zone', `The time zone ${tzid.slice(0, 100)} is unknown`, 'TZID');
  }

  private until(start: Start, end: Start): EventTimes {
    if (start.isDate) {
      const day = Math.floor(end.wall / DAY) * DAY;
      // Some clients write an inclusive end.
      return stored(start, Math.max(day, start.wall + DAY), null, false);
    }
    if (end.isDate) throw invalid('DTEND', 'must be a time, as DTSTART is');
    if (start.rules || end.rules) {
      const length = Math.max(0, instantIn(end, end.wall) - instantIn(start, start.wall));
      return stored(start, start.wall + length, null, true);
    }
    const hasOwnZone = start.zone !== null && end.zone !== null && end.zone !== start.zone;
    if (hasOwnZone) {
      const isAfter = instantOf(end.wall, end.zone) >= instantOf(start.wall, start.zone);
      return isAfter ? stored(start, end.wall, end.zone, false) : stored(start, start.wall, null, false);
    }
    return stored(start, Math.max(start.wall, end.wall), null, false);
  }

  /** The instances of a series whose zone no IANA name describes, as dates: the rules of a VTIMEZONE cannot be stored. */
  private expanded(event: Component, start: Start, zone: ZoneRules, rules: string[]): Recurrence {
    const added = datesOf(event, 'RDATE');
    const excluded = Map.groupBy(datesOf(event, 'EXDATE'), ({ kind }) => kind === 'date');
    const clock = (time: Dated): number => {
      if (time.kind === 'date') return atTimeOf(start, time.wall);
      const instant = this.wallOf(time, start);
      return instant + zone.offsetAt(instant);
    };
    const series = {
      start: start.wall,
      zone: null,
      isDate: false,
      rules: rules.map((text) => withWallUntil(parseRule(text), (instant) => zone.offsetAt(instant))),
      added: added.map(clock),
      excluded: {
        walls: excluded.get(false)?.map(clock),
        days: excluded.get(true)?.map(({ wall }) => Math.floor(wall / DAY)),
      },
    };
    const window = {
      from: Math.min(start.wall, ...series.added),
      to: Number.POSITIVE_INFINITY,
      limit: MAX_DATES,
    };
    const walls = instancesOf(series, window).map(({ key }) => key);
    const texts = walls.map((wall) => wallText(zone.toInstant(wall), false));
    const first = wallText(zone.toInstant(start.wall), false);
    return {
      rules: [],
      added: texts.filter((text) => text !== first),
      excluded: texts.includes(first) || texts.length === 0 ? [] : [first],
    };
  }
}

/**
 * The dates of the properties of this name, each once. Some clients write one without a value.
 * @throws ICalendarError
 */
function datesOf(event: Component, name: 'RDATE' | 'EXDATE'): Dated[] {
  const found = new Map<string, Dated>();
  for (const property of propertiesOf(event, name)) {
    if (property.value.trim() === '') continue;
    const tzid = parameterOf(property, 'TZID') ?? null;
    for (const { kind, wall } of valuesOf(property))
      found.set(`${kind} ${wall} ${tzid}`, { kind, wall, tzid });
  }
  if (found.size > MAX_DATES) throw invalid(name, `has at most ${MAX_DATES} dates`);
  return [...found.values()];
}

/** The wall time on a day at the time of day of the start. @param day midnight */
const atTimeOf = ({ wall }: Start, day: number): number => day + wall - Math.floor(wall / DAY) * DAY;

/** The instant of a wall time in a zone. */
const instantIn = ({ zone, rules }: Pick<Start, 'zone' | 'rules'>, wall: number): number =>
  rules ? rules.toInstant(wall) : instantOf(wall, zone);

function checked(text: string): string {
  if (checkedWall(text) === null) throw invalid('RECURRENCE-ID', 'must lie between 1900 and 9989');
  return text;
}

function lasting(start: Start, text: string): EventTimes {
  const { days, seconds } = parseDuration(text);
  const length = Math.max(0, days * DAY + seconds);
  if (start.isDate)
    return stored(start, start.wall + Math.max(DAY, Math.ceil(length / DAY) * DAY), null, false);
  return stored(start, start.wall + length, null, /T/i.test(text));
}

/** @param end on the clock of the start, or of `endZone` */
function stored(
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
