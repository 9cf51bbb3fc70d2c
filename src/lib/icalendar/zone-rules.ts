import {
  DAY,
  instancesOf,
  lastInstance,
  parseRule,
  RecurrenceError,
  type Rule,
} from '../recurrence/index.js';
import { type Component, propertiesOf, propertyOf } from './component.js';
import { ICalendarError } from './errors.js';
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

/** Limits of a VTIMEZONE: a zone changes a few times a year. */
const MAX_OBSERVANCES = 200;
const MAX_ONSETS = 500;
/** Onsets are computed for this many years around a look-up. */
const COVERED_YEARS = 10;
const YEAR = 366 * DAY;

/** The rules of a VTIMEZONE (RFC 5545, 3.6.5), for zones that no IANA name describes. */
export class ZoneRules {
  private readonly observances: Observance[];
  private onsets: Onset[] = [];
  private covered = { from: Number.POSITIVE_INFINITY, to: Number.NEGATIVE_INFINITY };

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
  }

  /** Seconds east of UTC at an instant (seconds). */
  offsetAt(instant: number): number {
    this.cover(instant, instant);
    let offset = this.onsets[0]?.before ?? (this.observances[0] as Observance).after;
    for (const onset of this.onsets) {
      if (onset.at > instant) break;
      offset = onset.after;
    }
    return offset;
  }

  /** The instant of a wall time; gaps and repeated times as `Zone` of lib/recurrence. */
  toInstant(wall: number): number {
    const offsets = [this.offsetAt(wall - 26 * 3600), this.offsetAt(wall + 26 * 3600)];
    const instants = offsets.map((offset) => wall - offset);
    const valid = instants.filter((instant) => instant + this.offsetAt(instant) === wall);
    return valid.length > 0 ? Math.min(...valid) : (instants[0] as number);
  }

  /** Computes the onsets that decide the offsets of a period. */
  private cover(from: number, to: number): void {
    if (from >= this.covered.from && to <= this.covered.to) return;
    const margin = COVERED_YEARS * YEAR;
    this.covered = { from: from - margin, to: to + margin };
    this.onsets = this.observances
      .flatMap((observance) => onsetsOf(observance, this.covered.from, this.covered.to))
      .toSorted((a, b) => a.at - b.at);
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
    // UNTIL is an instant, and onsets are compared on the clock before the change.
    rules: rules.map((rule) =>
      rule.until?.kind === 'utc'
        ? { ...rule, until: { kind: 'wall', time: rule.until.time + before } }
        : rule,
    ),
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

/** The onsets within a period, and the last one before it. */
function onsetsOf({ start, before, after, rules, added }: Observance, from: number, to: number): Onset[] {
  const series = { start, zone: null, isDate: false, rules, added };
  const walls = instancesOf(series, { from: from - 2 * YEAR, to, limit: MAX_ONSETS }).map(({ key }) => key);
  const last = walls.length === 0 && start < from ? lastInstance(series) : null;
  if (last && last !== 'endless' && last.key < to) walls.push(last.key);
  return walls.map((wall) => ({ at: wall - before, before, after }));
}
