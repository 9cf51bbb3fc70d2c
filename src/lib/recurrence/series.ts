import { DAY } from './civil.js';
import { RuleGenerator } from './generator.js';
import { formatRule, type Rule } from './rule.js';
import { Zone } from './zone.js';

/** A series of instances (RFC 5545, 3.8.5). Wall times are seconds since 1970-01-01T00:00:00 on the series' own clock. */
export interface Series {
  /** DTSTART; always an instance, and the first that COUNT counts. Midnight for a series of days. */
  start: number;
  /** IANA name; null for a floating series and for days, which are read in the zone of the reader. */
  zone: string | null;
  /** Instances are days (DTSTART;VALUE=DATE): rules ignore BYHOUR, BYMINUTE and BYSECOND. */
  isDate: boolean;
  rules: readonly Rule[];
  /** RDATE. */
  added?: readonly number[];
  /** EXDATE. */
  excluded?: Excluded;
}

/** Instances that do not take place. */
export interface Excluded {
  /** Instants in seconds: they match whatever zone they were written in. */
  instants?: readonly number[];
  /** Wall times of the series. */
  walls?: readonly number[];
  /** Days since 1970-01-01: every instance of that day. */
  days?: readonly number[];
}

/** One instance. */
export interface Instance {
  /** Nominal wall time, also where a clock change moves the instance: the stable part of RECURRENCE-ID. */
  key: number;
  /** The instant in seconds. */
  start: number;
}

export interface Window {
  /** Instants in seconds: from (inclusive) to (exclusive). `to` may be infinite where `limit` is given. */
  from: number;
  to: number;
  /** At most this many instances. */
  limit?: number;
  /** The zone in which floating times and days are read. Default: UTC. */
  readerZone?: string;
}

/** A wall time and its instant are never further apart. */
const MARGIN = 2 * DAY;
/** Instances further apart than this on the wall clock are in the order of their instants. */
const REORDER = DAY;
const MAX_REMEMBERED = 2_000;

/** The instances of a series that start in a window, in order. Equal instants are one instance. */
export function instancesOf(series: Series, window: Window): Instance[] {
  const limit = window.limit ?? Number.POSITIVE_INFINITY;
  const toInstant = resolver(series, window.readerZone);
  const isExcluded = exclusion(series.excluded);
  const found: Instance[] = [];
  const last = window.to + MARGIN;
  // A later wall time may be an earlier instant only within a clock change.
  const isComplete = (key: number): boolean =>
    key > last || (found.length >= limit && key > (found[limit - 1] as Instance).key + REORDER);
  for (const keys of nominal(series, window.from - MARGIN, toInstant)) {
    if (isComplete(keys[0] as number)) break;
    for (const key of keys) {
      if (isComplete(key)) break;
      const start = toInstant(key);
      if (start >= window.from && start < window.to && !isExcluded(key, start)) insert(found, { key, start });
    }
  }
  return found.length > limit ? found.slice(0, limit) : found;
}

/** The first instance after an instant (seconds), or null. */
export function nextInstance(series: Series, after: number, readerZone?: string): Instance | null {
  const window = { from: after + 1, to: Number.POSITIVE_INFINITY, limit: 1, readerZone };
  return instancesOf(series, window)[0] ?? null;
}

/**
 * The last instance, or null where the series has no end or no instance.
 * @returns `endless` where a rule has neither COUNT nor UNTIL
 */
export function lastInstance(series: Series): Instance | 'endless' | null {
  const endless = series.rules.some(({ count, until }) => count === null && until === null);
  if (endless) return 'endless';
  const toInstant = resolver(series);
  const isExcluded = exclusion(series.excluded);
  let last: Instance | null = null;
  const bounds = series.rules.map((rule) => lastWall(rule, series, toInstant));
  const from = Math.max(series.start, ...bounds, ...(series.added ?? []));
  // Excluded instances at the end make the last one earlier: look back further until one is found.
  for (let reach = 400 * DAY; ; reach *= 8) {
    for (const keys of nominal(series, from - reach, toInstant))
      for (const key of keys) {
        const start = toInstant(key);
        if (!isExcluded(key, start) && (!last || start > last.start)) last = { key, start };
      }
    if (last || from - reach < series.start) return last;
  }
}

/** Blocks of the wall times of DTSTART, rules and RDATE, merged in order, from a wall time on. */
function* nominal(series: Series, from: number, toInstant: (wall: number) => number): Generator<number[]> {
  const { start, added = [], rules } = series;
  const [rule, ...others] = rules;
  if (rule && others.length + added.length === 0) {
    if (start >= from) yield [start];
    yield* ruleWalls(rule, series, from, toInstant);
    return;
  }
  const fixed = [start, ...added].filter((wall) => wall >= from).toSorted((a, b) => a - b);
  const sources = [each([fixed]), ...rules.map((one) => each(ruleWalls(one, series, from, toInstant)))];
  const heads = sources.map((source) => source.next().value);
  for (;;) {
    const key = Math.min(...heads.map((head) => head ?? Number.POSITIVE_INFINITY));
    if (key === Number.POSITIVE_INFINITY) return;
    for (const [n, source] of sources.entries())
      while (heads[n] !== undefined && heads[n] === key) heads[n] = source.next().value;
    yield [key];
  }
}

function* each(blocks: Iterable<number[]>): Generator<number, undefined> {
  for (const block of blocks) yield* block;
  return undefined;
}

/** Blocks of the wall times of a rule behind DTSTART, within COUNT and UNTIL. */
function* ruleWalls(
  given: Rule,
  series: Series,
  from: number,
  toInstant: (wall: number) => number,
): Generator<number[], undefined> {
  const rule = series.isDate ? withoutTimes(given) : given;
  const end = rule.count === null ? Number.POSITIVE_INFINITY : lastWall(rule, series, toInstant);
  const isWithin = untilTest(rule, series, toInstant);
  for (const block of new RuleGenerator(rule, series.start).from(from)) {
    const walls = block.filter(
      (wall) => wall > series.start && wall >= from && wall <= end && isWithin(wall),
    );
    if (walls.length > 0) yield walls;
    const last = block.at(-1) as number;
    if (last > end || !isWithin(last)) return undefined;
  }
  return undefined;
}

const remembered = new Map<string, number>();

/** The wall time at which a rule with COUNT or UNTIL ends at the latest. */
function lastWall(rule: Rule, series: Series, toInstant: (wall: number) => number): number {
  const { start } = series;
  if (rule.count === null) return rule.until === null ? Number.POSITIVE_INFINITY : rule.until.time + MARGIN;
  if (isPlain(rule))
    return start + (rule.count - 1) * rule.interval * (rule.freq === 'DAILY' ? DAY : 7 * DAY);
  const key = `${start} ${String(series.isDate)} ${formatRule(rule)}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  let left = rule.count - 1;
  let last = start;
  if (left > 0)
    for (const walls of ruleWalls({ ...rule, count: null }, series, start, toInstant)) {
      last = walls[Math.min(left, walls.length) - 1] as number;
      left -= walls.length;
      if (left <= 0) break;
    }
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  remembered.set(key, last);
  return last;
}

/** One instance in each period, at DTSTART's own day and time. */
function isPlain({ freq, byMonth, byMonthDay, byDay, byHour, byMinute, bySecond, bySetPos }: Rule): boolean {
  const parts = [byMonth, byMonthDay, byDay, byHour, byMinute, bySecond, bySetPos];
  return (freq === 'DAILY' || freq === 'WEEKLY') && parts.every((list) => list.length === 0);
}

const withoutTimes = (rule: Rule): Rule => ({ ...rule, byHour: [], byMinute: [], bySecond: [] });

/** UNTIL is compared as an instant; a date includes that day of the series' clock (design 2.3). */
function untilTest(
  { until }: Rule,
  series: Series,
  toInstant: (wall: number) => number,
): (wall: number) => boolean {
  if (until === null) return () => true;
  if (until.kind === 'date' || series.isDate) {
    const end = Math.floor(until.time / DAY) * DAY + DAY;
    return (wall) => wall < end;
  }
  const end = until.kind === 'utc' && series.zone !== null ? until.time : toInstant(until.time);
  return (wall) => toInstant(wall) <= end;
}

function resolver(series: Series, readerZone = 'UTC'): (wall: number) => number {
  const name = series.zone ?? readerZone;
  if (name === 'UTC') return (wall) => wall;
  const zone = Zone.of(name);
  return (wall) => zone.toInstant(wall);
}

function exclusion(excluded?: Excluded): (key: number, start: number) => boolean {
  if (!excluded) return () => false;
  const instants = new Set(excluded.instants);
  const walls = new Set(excluded.walls);
  const days = new Set(excluded.days);
  return (key, start) => instants.has(start) || walls.has(key) || days.has(Math.floor(key / DAY));
}

/** Keeps the order of instants; of equal instants the first stays. */
function insert(found: Instance[], instance: Instance): void {
  let at = found.length;
  while (at > 0 && (found[at - 1] as Instance).start > instance.start) at -= 1;
  if (at > 0 && (found[at - 1] as Instance).start === instance.start) return;
  found.splice(at, 0, instance);
}
