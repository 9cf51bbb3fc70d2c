import {
  DAY,
  type Instance,
  instancesOf,
  lastInstance,
  parseRule,
  RecurrenceError,
  type Rule,
  withWallUntil,
} from '../recurrence/index.js';
import { type Component, ICalendarError, propertiesOf, propertyOf } from './component.js';
import { allTimesOf, parseOffset, parseTime } from './values.js';

interface Onset {
  /** Instant in seconds. */
  at: number;
  before: number;
  after: number;
}

interface Observance {
  start: number;
  before: number;
  after: number;
  rules: Rule[];
  added: number[];
}

/** Limits of a VTIMEZONE. The whole history of New York has 240 observances. Rules and dates are those of all observances. */
const MAX_OBSERVANCES = 500;
const MAX_RULES = 40;
const MAX_DATES = 1_000;
/** Onsets of all observances in a period. */
const MAX_ONSETS = 500;
const YEAR = 366 * DAY;
/** Onsets are computed for the period of a look-up, and kept for a few periods. */
const PERIOD = 20 * YEAR;
const MAX_PERIODS = 16;

/** The rules of a VTIMEZONE (RFC 5545, 3.6.5), for zones that no IANA name describes. */
export class ZoneRules {
  private readonly observances: Observance[];
  private readonly periods = new Map<number, Onset[]>();

  /** @throws ICalendarError `invalid_value` for a VTIMEZONE without usable observance */
  constructor(zone: Component) {
    this.observances = zone.components
      .filter(({ name }) => name === 'STANDARD' || name === 'DAYLIGHT')
      .map(observanceOf);
    if (this.observances.length === 0 || this.observances.length > MAX_OBSERVANCES)
      throw new ICalendarError(
        'invalid_value',
        `A time zone has 1 to ${MAX_OBSERVANCES} STANDARD and DAYLIGHT components`,
        'VTIMEZONE',
      );
    const count = (list: 'rules' | 'added'): number =>
      this.observances.reduce((sum, observance) => sum + observance[list].length, 0);
    if (count('rules') > MAX_RULES || count('added') > MAX_DATES)
      throw new ICalendarError(
        'invalid_value',
        `A time zone has at most ${MAX_RULES} rules and ${MAX_DATES} dates`,
        'VTIMEZONE',
      );
  }

  /** Seconds east of UTC at an instant (seconds). @throws ICalendarError `invalid_value` for a zone with too many changes */
  offsetAt(instant: number): number {
    const onsets = this.onsetsAround(instant);
    let offset = onsets[0]?.before ?? (this.observances[0] as Observance).after;
    for (const onset of onsets) {
      if (onset.at > instant) break;
      offset = onset.after;
    }
    return offset;
  }

  /** Changes of the offset from `from` to `to`, instants in seconds, in order. @throws ICalendarError */
  changesBetween(from: number, to: number): { at: number; after: number }[] {
    const found: { at: number; after: number }[] = [];
    for (let period = Math.floor(from / PERIOD); period * PERIOD < to; period += 1)
      for (const { at, after } of this.onsetsAround(period * PERIOD))
        if (at > from && at < to && Math.floor(at / PERIOD) === period) found.push({ at, after });
    return found;
  }

  /** The instant of a wall time; gaps and repeated times are resolved as in `Zone` of lib/recurrence. */
  toInstant(wall: number): number {
    const offsets = [this.offsetAt(wall - 26 * 3600), this.offsetAt(wall + 26 * 3600)];
    const instants = offsets.map((offset) => wall - offset);
    const valid = instants.filter((instant) => instant + this.offsetAt(instant) === wall);
    return valid.length > 0 ? Math.min(...valid) : (instants[0] as number);
  }

  /** The onsets that decide the offsets in the period of an instant. */
  private onsetsAround(instant: number): Onset[] {
    const period = Math.floor(instant / PERIOD);
    const known = this.periods.get(period);
    if (known) return known;
    const [from, to] = [period * PERIOD, (period + 1) * PERIOD];
    const found: Onset[] = [];
    for (const observance of this.observances) {
      found.push(...onsetsOf(observance, from, to));
      if (found.length > MAX_ONSETS)
        throw new ICalendarError(
          'invalid_value',
          `A time zone changes at most ${MAX_ONSETS} times in 20 years`,
          'VTIMEZONE',
        );
    }
    const onsets = found.toSorted((a, b) => a.at - b.at);
    if (this.periods.size >= MAX_PERIODS) this.periods.clear();
    this.periods.set(period, onsets);
    return onsets;
  }
}

function observanceOf(given: Component): Observance {
  const offset = (name: string): number => parseOffset(propertyOf(given, name)?.value ?? '', name);
  const before = offset('TZOFFSETFROM');
  const rules = propertiesOf(given, 'RRULE').map(({ value }) => readRule(value));
  return {
    start: parseTime(propertyOf(given, 'DTSTART')?.value ?? '').wall,
    before,
    after: offset('TZOFFSETTO'),
    // Onsets are compared as wall times before the change.
    rules: rules.map((rule) => withWallUntil(rule, () => before)),
    added: allTimesOf(given, 'RDATE').map(({ wall }) => wall),
  };
}

function readRule(text: string): Rule {
  try {
    return parseRule(text);
  } catch (error) {
    if (error instanceof RecurrenceError) throw new ICalendarError('invalid_value', error.message, 'RRULE');
    throw error;
  }
}

/** The onsets within a period, or else the last one before it. */
function onsetsOf({ start, before, after, rules, added }: Observance, from: number, to: number): Onset[] {
  const series = { start, zone: null, isDate: false, rules, added };
  const window = { from: from - 2 * YEAR, to: to + DAY, limit: MAX_ONSETS + 1 };
  const walls = instancesOf(series, window).map(({ key }) => key);
  if (walls.length === 0 && start < from) {
    const ended = rules.filter(({ count, until }) => count !== null || until !== null);
    const earlier = { ...series, rules: ended, added: added.filter((wall) => wall < from) };
    const last = lastInstance(earlier) as Instance | null;
    if (last && last.key < from) walls.push(last.key);
  }
  return walls.map((wall) => ({ at: wall - before, before, after }));
}
