import {
  type CalendarZones,
  type Component,
  formatTime,
  ICalendarError,
  isUnnamedZone,
  parameterOf,
  periodsOf,
  type Property,
  propertyOf,
  timesOf as valuesOf,
  type ZoneRules,
} from '../../../lib/icalendar/index.js';
import { DAY, instancesOf, parseRule } from '../../../lib/recurrence/index.js';
import type { EventRow, EventTimes } from './event-record.js';
import {
  asDays,
  atTimeOf,
  checked,
  type Dated,
  datesOf,
  instantIn,
  invalid,
  isFloating,
  isWholeDays,
  lasting,
  listValues,
  MAX_DATES,
  type ReadWarning,
  type Start,
  type Warn,
  stored,
  unlessInvalid,
  withoutEnd,
} from './vevent-time-parts.js';
import { excludedByRules, isLong, offsetIn, onClock, rulesOf } from './ics/file-rules.js';
import { EARLIEST, seriesOf } from './event-series.js';
import { findKeys, keysOnDay } from './known-instances.js';
import { checkedWall, instantOf, timesAt, wallIn, wallOf, wallText } from './event-times.js';

export type Recurrence = Pick<EventRow, 'rules' | 'added' | 'excluded'>;

/** Maximum number of RRULEs in one event. */
const MAX_RULES = 4;
/** 10 years. */
const MAX_LENGTH = 3_660 * DAY;

/** Reads times of the VEVENTs of one calendar (RFC 5545, 3.8.2 and 3.8.5). */
export class EventClock {
  /** Zones that no IANA zone equals are read as the nearest one: of a series with too many instances to store each. */
  private isApproximate = false;
  private readonly found = new Map<string, ReadWarning>();

  /**
   * @param zones the zones of the calendar
   * @param fallback IANA zone for a TZID that is unknown and has no VTIMEZONE; null: such events are invalid
   * @param unnamed IANA zone for a TZID that only says that the zone has no name; null: such events are invalid
   * @param floating IANA zone of events that start at a time without a zone; null: they have none
   */
  constructor(
    private readonly zones: CalendarZones,
    private readonly fallback: string | null,
    private readonly unnamed: string | null = null,
    private readonly floating: string | null = null,
  ) {}

  /** What the times that were read since the last call of `begin` lack. */
  get warnings(): ReadWarning[] {
    return [...this.found.values()];
  }

  /**
   * DTSTART of an event; its other times and instances are read afterwards, up to the next call.
   * @throws ICalendarError `invalid_value`, `unknown_time_zone`; RecurrenceError for a rule
   */
  begin(event: Component): Start {
    this.found.clear();
    this.isApproximate = false;
    const start = this.start(event);
    if (!start.rules || !isLong(event, start, this.warn)) return start;
    this.isApproximate = true;
    this.warn(
      'time_zone_replaced',
      `No zone of the IANA database has the rules of the file; ${start.nearest} is the nearest. Times after the first ${MAX_DATES} instances follow it.`,
    );
    return { ...start, zone: start.nearest ?? 'UTC', rules: null, replaced: start.rules };
  }

  /** @throws ICalendarError `invalid_value`, `unknown_time_zone` */
  start(event: Component): Start {
    const property = propertyOf(event, 'DTSTART');
    if (!property) throw invalid('DTSTART', 'is missing');
    const read = this.readStart(property);
    const placed = this.floating !== null && isFloating(read) ? { ...read, zone: this.floating } : read;
    return isWholeDays(event, placed) ? asDays(placed) : placed;
  }

  readonly warn: Warn = (code, message) => {
    this.found.set(code, { code, message });
  };

  /**
   * The times of an event or of an instance.
   * @param usual those of one without a readable end @throws ICalendarError
   */
  times(event: Component, start = this.start(event), usual = withoutEnd(start)): EventTimes {
    const end = propertyOf(event, 'DTEND');
    const length = propertyOf(event, 'DURATION');
    const until = end ? unlessInvalid(() => this.readStart(end)) : null;
    if (end && !until)
      this.warn('invalid_duration', `DTEND:${end.value.slice(0, 100)} is not a date or time; it is ignored.`);
    const times = until
      ? this.readUntil(start, until)
      : ((length && lasting(start, length.value, this.warn)) ?? usual);
    const [from, to] = [checkedWall(times.starts), checkedWall(times.ends)];
    if (from === null || to === null)
      throw invalid(from === null ? 'DTSTART' : 'DTEND', 'must lie between 1900 and 9989');
    if (to - from > MAX_LENGTH) throw invalid('DTEND', 'must be at most 10 years after DTSTART');
    return times;
  }

  /** The recurrence of an event. @throws ICalendarError; RecurrenceError for a rule */
  recurrence(event: Component, start: Start, times: EventTimes): Recurrence {
    const rules = rulesOf(event, start, this.warn);
    if (rules.length > MAX_RULES) throw invalid('RRULE', `occurs at most ${MAX_RULES} times`);
    const added = this.keys(event, 'RDATE', start, times, null);
    if (start.rules) return this.expanded(event, start, times, start.rules, rules);
    const series = { rules, added, excluded: [] };
    const dates = this.keys(event, 'EXDATE', start, times, series);
    const excluded = new Set(findKeys({ ...times, ...series }, dates));
    const room = MAX_DATES - excluded.size;
    for (const wall of excludedByRules(event, start, rules, this.warn, room))
      excluded.add(checked(wallText(wall, start.isDate)));
    return { rules, added, excluded: [...excluded].toSorted() };
  }

  /**
   * The key of the instance that RECURRENCE-ID names; null for a property without a time.
   * @param start of the series: as its VEVENT states it, or of a stored series
   * @param instance the VEVENT with the property
   */
  keyOf(property: Property, start: Start, times: EventTimes, instance: Component): string | null {
    const [time] = valuesOf(property);
    const tzid = parameterOf(property, 'TZID') ?? null;
    return time ? this.keyOfTime({ ...time, tzid }, start, times, instance) : null;
  }

  /** Does what `keyOf` does, for the value of RECURRENCE-ID. @throws ICalendarError */
  keyOfTime(time: Dated, start: Start, times: EventTimes, instance: Component): string {
    const [key] = this.keysOf(time, this.onClockOf(start, instance), times, null);
    return key as string;
  }

  /**
   * A stored series lacks the clock of its file, on which days are times, and the rules of a zone that another one replaces: they are those
   * of DTSTART of the instance.
   */
  private onClockOf(start: Start, instance: Component): Start {
    const property = propertyOf(instance, 'DTSTART');
    const tzid = property && parameterOf(property, 'TZID');
    if ((start.clock ?? start.rules ?? start.replaced) || !property || !tzid) return start;
    const [time] = unlessInvalid(() => valuesOf(property)) ?? [];
    const found = time?.kind === 'local' ? this.zones.resolve(tzid, time.wall) : null;
    if (!found) return start;
    const rules = found.kind === 'iana' ? null : found.rules;
    if (start.isDate) return { ...start, clock: { zone: found.kind === 'iana' ? found.name : 'UTC', rules } };
    return found.kind !== 'iana' && found.nearest === start.zone
      ? { ...start, replaced: found.rules }
      : start;
  }

  /** The times of the instances that a series states at others than its rules in its zone, by key. */
  ownTimes(
    event: Component,
    start: Start,
    times: EventTimes,
    recurrence: Recurrence,
  ): Map<string, EventTimes> {
    return new Map([...this.periods(event, start, times), ...this.corrections(start, times, recurrence)]);
  }

  /** The times of the instances that RDATE states as periods (RFC 5545, 3.8.5.2), by key. */
  private periods(event: Component, start: Start, times: EventTimes): Map<string, EventTimes> {
    const found = new Map<string, EventTimes>();
    if (start.isDate) return found;
    for (const property of listValues(event, 'RDATE')) {
      if (!property.value.includes('/')) continue;
      const tzid = parameterOf(property, 'TZID') ?? null;
      for (const { kind, wall, length } of unlessInvalid(() => periodsOf(property)) ?? []) {
        const [key] = unlessInvalid(() => this.keysOf({ kind, wall, tzid }, start, times, null)) ?? [];
        const seconds =
          typeof length === 'number'
            ? length
            : this.instantOf({ ...length, tzid }, start) - this.instantOf({ kind, wall, tzid }, start);
        if (key === undefined || seconds < 0 || seconds > MAX_LENGTH) continue;
        const own = { ...times, end_time_zone: null, exact_duration: true };
        found.set(key, { ...own, starts: key, ends: wallText(wallOf(key) + seconds, false) });
      }
    }
    return found;
  }

  private instantOf(time: Dated, start: Start): number {
    if (time.kind === 'utc') return time.wall;
    return instantIn(time.tzid === null ? start : this.zone(time.tzid, time.wall), time.wall);
  }

  private keys(
    event: Component,
    name: 'RDATE' | 'EXDATE',
    start: Start,
    times: EventTimes,
    series: Recurrence | null,
  ): string[] {
    const found = new Set<string>();
    for (const time of this.dates(event, name, start, times)) {
      for (const key of this.keysOf(time, start, times, series)) found.add(key);
      if (found.size > MAX_DATES) throw invalid(name, `has at most ${MAX_DATES} dates`);
    }
    return [...found].toSorted();
  }

  /** The dates of the properties of this name. One that no series can have is ignored. @throws ICalendarError */
  private dates(event: Component, name: 'RDATE' | 'EXDATE', start: Start, times: EventTimes): Dated[] {
    return datesOf(event, name, this.warn).filter((time) => {
      const ignore = (): void =>
        this.warn('invalid_date', `${name}:${formatTime(time)} is not from 1900 to 9989; it is ignored.`);
      return unlessInvalid(() => this.keysOf(time, start, times, null), ignore) !== null;
    });
  }

  /**
   * The keys of the instances that a time names: wall times in the zone of the series, or days.
   * @param series a day names all its instances on this day, and midnight the only one. Null means that a day names the time of the start on
   *   this day
   */
  private keysOf(time: Dated, start: Start, times: EventTimes, series: Recurrence | null): string[] {
    const day = Math.floor((start.isDate ? this.dayOf(time, start) : time.wall) / DAY) * DAY;
    if (start.isDate) return [checked(wallText(day, true))];
    if (time.kind !== 'date') {
      const wall = this.wallOf(time, start);
      const own = checked(wallText(wall, false));
      const [only, another] = series && wall % DAY === 0 ? keysOnDay(wall, { ...times, ...series }, 2) : [];
      return [only !== undefined && another === undefined ? only : own];
    }
    if (!series) {
      const at = atTimeOf(start, day);
      return [checked(wallText(start.rules ? start.rules.toInstant(at) : at, false))];
    }
    return keysOnDay(day, { ...times, ...series }, 1_500);
  }

  /**
   * The day of a time: on the clock of a series that writes its days as times. A midnight in the zone that it names is the day as it is
   * written, and so is a time without a zone.
   */
  private dayOf(time: Dated, start: Start): number {
    const { clock } = start;
    if (!clock && time.kind === 'utc') return this.dayOnCalendar(time.wall);
    const isWritten = time.kind === 'date' || time.wall % DAY === 0 || (time.kind === 'local' && !time.tzid);
    if (!clock || isWritten) return time.wall;
    const instant = this.instantOf(time, start);
    return instant + offsetIn(clock, instant);
  }

  /** Programs write the midnight at which a day begins in UTC: that of the calendar, where the series is written in days. */
  private dayOnCalendar(instant: number): number {
    const zone = this.floating ?? this.unnamed;
    const local = zone === null ? instant : wallIn(zone, instant);
    return local % DAY === 0 ? local : instant;
  }

  /** A time on the clock of the series. */
  private wallOf({ kind, wall, tzid }: Dated, { zone, rules, replaced }: Start): number {
    if (replaced && !(tzid === null && kind === 'local')) {
      const found = tzid === null ? null : this.zones.resolve(tzid, wall);
      if (found?.kind === 'rules' && found.nearest === zone) return wall;
      const instant = tzid === null ? wall : instantIn(this.zone(tzid, wall), wall);
      return instant + replaced.offsetAt(instant);
    }
    if (kind === 'utc') return zone === null ? wall : wallIn(zone, wall);
    const own = tzid === null ? null : this.zone(tzid, wall);
    if (rules) return own === null ? rules.toInstant(wall) : instantIn(own, wall);
    if (zone === null || own === null || own.zone === zone) return wall;
    return wallIn(zone, instantIn(own, wall));
  }

  /** A time of an event, with its zone. @throws ICalendarError */
  readStart(property: Property): Start {
    const [time] = valuesOf(property);
    if (!time) throw invalid(property.name, 'is not a date or time');
    const { kind, wall } = time;
    if (kind === 'date') return { wall, isDate: true, zone: null, rules: null };
    if (kind === 'utc') return { wall, isDate: false, zone: 'UTC', rules: null };
    const tzid = parameterOf(property, 'TZID');
    return { wall, isDate: false, ...(tzid ? this.zone(tzid, wall) : { zone: null, rules: null }) };
  }

  private zone(tzid: string, around: number): Pick<Start, 'zone' | 'rules' | 'nearest'> {
    const found = this.zones.resolve(tzid, around);
    if (found?.kind === 'iana') return { zone: found.name, rules: null };
    if (found && this.isApproximate) return { zone: found.nearest, rules: null };
    if (found) return { zone: 'UTC', rules: found.rules, nearest: found.nearest };
    const assumed = this.fallback ?? (isUnnamedZone(tzid) ? this.unnamed : null);
    if (assumed !== null) {
      this.warn(
        'time_zone_assumed',
        `The time zone ${tzid.slice(0, 100)} is unknown; its times are read in ${assumed}.`,
      );
      return { zone: assumed, rules: null };
    }
    throw new ICalendarError('unknown_time_zone', `The time zone ${tzid.slice(0, 100)} is unknown`, 'TZID');
  }

  private readUntil(start: Start, end: Start): EventTimes {
    if (start.isDate) {
      const day = Math.floor(end.wall / DAY) * DAY;
      // Some clients write an inclusive end.
      return stored(start, Math.max(day, start.wall + DAY), null, false);
    }
    // A day ends an event at its midnight. If only one of the times has a zone, they are on one clock.
    if (end.isDate || isFloating(end) !== isFloating(start))
      return this.readUntil(start, { ...end, isDate: false, zone: start.zone, rules: start.rules });
    if (start.rules || end.rules) {
      const length = Math.max(0, instantIn(end, end.wall) - instantIn(start, start.wall));
      return stored(start, start.wall + length, null, true);
    }
    if (start.zone !== null && end.zone !== null && end.zone !== start.zone) {
      return instantOf(end.wall, end.zone) >= instantOf(start.wall, start.zone)
        ? stored(start, end.wall, end.zone, false)
        : stored(start, start.wall, null, false);
    }
    return stored(start, Math.max(start.wall, end.wall), null, false);
  }

  /**
   * The instances of a series that its file states at another time than the zone that replaces the rules of the file: the keys
   * with the start and the end, among the first 1,000 instances.
   */
  private corrections(start: Start, times: EventTimes, recurrence: Recurrence): Map<string, EventTimes> {
    const { zone, replaced } = start;
    const found = new Map<string, EventTimes>();
    if (!replaced || zone === null) return found;
    const series = seriesOf({ ...times, ...recurrence });
    const window = { from: EARLIEST, to: Number.POSITIVE_INFINITY, limit: MAX_DATES };
    for (const { key } of instancesOf(series, window)) {
      const wall = wallIn(zone, replaced.toInstant(key));
      if (wall !== key) found.set(wallText(key, false), { ...times, ...timesAt(times, wall) });
    }
    return found;
  }

  /** The instances of a series whose zone no IANA name describes, as dates: the rules of a VTIMEZONE cannot be stored. */
  private expanded(
    event: Component,
    start: Start,
    times: EventTimes,
    zone: ZoneRules,
    rules: string[],
  ): Recurrence {
    const added = this.dates(event, 'RDATE', start, times);
    const excluded = Map.groupBy(this.dates(event, 'EXDATE', start, times), ({ kind }) => kind === 'date');
    const clock = (time: Dated): number => {
      if (time.kind === 'date') return atTimeOf(start, time.wall);
      const instant = this.wallOf(time, start);
      return instant + zone.offsetAt(instant);
    };
    // The key of an instance in the gap of a clock change has the offset before the gap.
    const nominal = (time: Dated): number[] => {
      const wall = clock(time);
      const instant = zone.toInstant(wall);
      const earlier = instant + zone.offsetAt(instant - DAY);
      return zone.toInstant(earlier) === instant ? [wall, earlier] : [wall];
    };
    const series = {
      start: start.wall,
      zone: null,
      isDate: false,
      rules: rules.map((text) => onClock(parseRule(text), start)),
      added: added.map(clock),
      excluded: {
        walls: [
          ...(excluded.get(false)?.flatMap(nominal) ?? []),
          ...excludedByRules(event, start, rules, this.warn),
        ],
        days: excluded.get(true)?.map(({ wall }) => Math.floor(wall / DAY)),
      },
    };
    const window = {
      from: Math.min(start.wall, ...series.added),
      to: Number.POSITIVE_INFINITY,
      limit: MAX_DATES,
    };
    const textOf = ({ key }: { key: number }): string => wallText(zone.toInstant(key), false);
    const texts = instancesOf(series, window).map(textOf);
    const first = wallText(zone.toInstant(start.wall), false);
    if (texts.length === 0) return { rules: [], added: [], excluded: [] };
    const left = new Set(texts);
    // Of a series with more instances than dates, those after the last date are no exceptions.
    const last = texts.length < MAX_DATES ? null : (texts.at(-1) as string);
    const isExcluded = (text: string): boolean => !left.has(text) && (last === null || text < last);
    const { walls, days = [] } = series.excluded;
    const all =
      walls.length + days.length === 0
        ? []
        : instancesOf({ ...series, excluded: {} }, { ...window, limit: 2 * MAX_DATES }).map(textOf);
    const gone = new Set([first, ...all].filter(isExcluded));
    return {
      rules: [],
      added: texts.filter((text) => text !== first),
      excluded: [...gone].slice(0, MAX_DATES).toSorted(),
    };
  }
}
