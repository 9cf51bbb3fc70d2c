import { civilOf, DAY, dayOf, parseWallTime } from './civil.js';

/** A change of a zone's offset. All values are seconds; `at` is the instant of the change. */
interface Transition {
  at: number;
  before: number;
  after: number;
}

/** Offsets are sampled at this distance; a zone that changes twice and back within it would be missed. None does. */
const SAMPLE = 7 * DAY;
/** No zone is further from UTC than this. */
const MAX_OFFSET = 26 * 3600;
const MAX_CACHED_ZONES = 700;

/**
 * The rules of an IANA time zone, read from the runtime's own data (ICU by `Intl`) and cached by year. Wall times follow
 * RFC 5545, 3.3.5: a time in the gap of a forward change takes the offset before the gap, a time that occurs twice is the
 * first of the two.
 */
export class Zone {
  private static readonly cache = new Map<string, Zone>();
  private readonly years = new Map<number, Transition[]>();
  private readonly format: Intl.DateTimeFormat;
  private readonly yearStarts = new Map<number, number>();
  /** Wall times between which the offset is known not to change: most look-ups fall into the same summer or winter. */
  private stable = { from: 0, to: 0, offset: 0 };

  private constructor(readonly name: string) {
    this.format = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
      timeZone: name,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
  }

  /** @throws RangeError for a name that the runtime does not know */
  static of(name: string): Zone {
    const known = Zone.cache.get(name);
    if (known) return known;
    const zone = new Zone(name);
    // Names differ in letter case only so often: the cache is bounded against callers that try them all.
    if (Zone.cache.size >= MAX_CACHED_ZONES) Zone.cache.clear();
    Zone.cache.set(name, zone);
    return zone;
  }

  /** Seconds east of UTC at an instant (seconds since the epoch). */
  offsetAt(instant: number): number {
    const transitions = this.transitionsOf(instant);
    for (let n = transitions.length - 1; n >= 0; n -= 1) {
      const { at, after } = transitions[n] as Transition;
      if (instant >= at) return after;
    }
    return transitions[0]?.before ?? this.offsetAtYearStart(civilOf(Math.floor(instant / DAY)).year);
  }

  /** The instant of a wall time, both in seconds. */
  toInstant(wall: number): number {
    const { stable } = this;
    if (wall >= stable.from && wall < stable.to) return wall - stable.offset;
    const low = wall - MAX_OFFSET;
    const high = wall + MAX_OFFSET;
    let offset = this.offsetAt(low);
    const near = this.transitionsBetween(low, high);
    if (near.length === 0) this.stable = this.stableAround(wall, offset);
    for (const { at, before, after } of near) {
      if (wall < at + before) break;
      // In the gap the offset before it counts; behind it the one after.
      offset = wall < at + after ? before : after;
    }
    return wall - offset;
  }

  /** The wall time of an instant, both in seconds. */
  toWall(instant: number): number {
    return instant + this.offsetAt(instant);
  }

  /** Changes of the offset from `from` (inclusive) to `to` (exclusive), in order; instants in seconds. */
  transitionsBetween(from: number, to: number): Transition[] {
    const first = civilOf(Math.floor(from / DAY)).year;
    const last = civilOf(Math.floor(to / DAY)).year;
    const found: Transition[] = [];
    for (let year = first; year <= last; year += 1)
      for (const transition of this.transitionsOfYear(year))
        if (transition.at >= from && transition.at < to) found.push(transition);
    return found;
  }

  /** The wall times around this one, at most to the neighbouring years, that are far from any change. */
  private stableAround(wall: number, offset: number): { from: number; to: number; offset: number } {
    const { year } = civilOf(Math.floor((wall - offset) / DAY));
    let from = dayOf(year, 1, 1) * DAY + MAX_OFFSET;
    let to = dayOf(year + 1, 1, 1) * DAY - MAX_OFFSET;
    for (const { at } of this.transitionsOfYear(year)) {
      if (at + MAX_OFFSET <= wall) from = at + MAX_OFFSET;
      else if (at - MAX_OFFSET >= wall) to = Math.min(to, at - MAX_OFFSET);
    }
    return wall >= from && wall < to ? { from, to, offset } : this.stable;
  }

  private transitionsOf(instant: number): Transition[] {
    return this.transitionsOfYear(civilOf(Math.floor(instant / DAY)).year);
  }

  private transitionsOfYear(year: number): Transition[] {
    const known = this.years.get(year);
    if (known) return known;
    const end = dayOf(year + 1, 1, 1) * DAY;
    const found: Transition[] = [];
    let at = dayOf(year, 1, 1) * DAY - 1;
    let offset = this.offsetAtYearStart(year);
    while (at < end - 1) {
      const next = Math.min(at + SAMPLE, end - 1);
      const later = this.measure(next);
      if (later !== offset)
        found.push({ at: this.changeBetween(at, next, offset), before: offset, after: later });
      at = next;
      offset = later;
    }
    this.years.set(year, found);
    return found;
  }

  private changeBetween(from: number, to: number, offset: number): number {
    let low = from;
    let high = to;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.measure(middle) === offset) low = middle;
      else high = middle;
    }
    return high;
  }

  /** The offset of the last second before the year, in UTC: a change at its first instant belongs to it. */
  private offsetAtYearStart(year: number): number {
    const known = this.yearStarts.get(year);
    if (known !== undefined) return known;
    const offset = this.measure(dayOf(year, 1, 1) * DAY - 1);
    this.yearStarts.set(year, offset);
    return offset;
  }

  /** The offset that ICU gives for an instant. */
  private measure(instant: number): number {
    const text = this.format.format(instant * 1000);
    const [, month, day, year, era, hour, minute, second] =
      /^(\d+)\/(\d+)\/(\d+) (\w+), (\d+):(\d+):(\d+)$/.exec(text) ?? [];
    const civilYear = era === 'BC' || era === 'B' ? 1 - Number(year) : Number(year);
    const wall =
      dayOf(civilYear, Number(month), Number(day)) * DAY +
      Number(hour) * 3600 +
      Number(minute) * 60 +
      Number(second);
    return wall - instant;
  }
}

const canonical = new Map<string, string | null>();

/**
 * The canonical spelling of a time zone's name as the runtime knows it, e.g. `Europe/Berlin` for `europe/berlin`.
 * @returns null for an unknown name, and for offsets such as `+01:00`, which are no zones
 */
export function canonicalZone(name: string): string | null {
  const known = canonical.get(name);
  if (known !== undefined) return known;
  let result: string | null = null;
  if (/^[A-Za-z][\w+\-/]{0,63}$/.test(name)) {
    try {
      result = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
    } catch {
      result = null;
    }
  }
  if (canonical.size < 2_000) canonical.set(name, result);
  return result;
}

/** The wall time that a clock of the zone shows for a text with an offset or `Z`, or for a bare wall time. For tests and tools. */
export function wallTimeIn(zone: string, text: string): number | null {
  if (!/(?:Z|[+-]\d\d:\d\d)$/.test(text)) return parseWallTime(text);
  const instant = Date.parse(text);
  return Number.isNaN(instant) ? null : Zone.of(zone).toWall(Math.floor(instant / 1000));
}
