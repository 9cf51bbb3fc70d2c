import { DAY } from './civil.js';
import { formatRule, type Rule, type Until } from './rule.js';
import { type Visit, walkRule } from './walk.js';
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
interface Excluded {
  /** Instants in seconds. They match independently of the zone in which they were written. */
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
  /** The maximum number of instances. */
  limit?: number;
  /** The zone in which floating times and days are read. Default: UTC. */
  readerZone?: string;
}

/** A wall time and its instant are never further apart. */
const MARGIN = 2 * DAY;
/** Instances further apart than this on the wall clock are in the order of their instants. */
const REORDER = DAY;
const MAX_LAST_WALLS = 2_000;
/** First stretch of a merge of several rules; each further stretch is twice as long. */
const FIRST_STRETCH = 64 * DAY;

type Resolve = (wall: number) => number;

/** The instances of a series that start in a window, in order. Equal instants are one instance. */
export function instancesOf(series: Series, window: Window): Instance[] {
  const { from, to, limit = Number.POSITIVE_INFINITY } = window;
  const toInstant = resolver(series, window.readerZone);
  const isExcluded = series.excluded && exclusion(series.excluded);
  const found: Instance[] = [];
  let last = to + MARGIN;
  const visit: Visit = (key) => {
    if (key > last) return false;
    const start = toInstant(key);
    if (start < from || start >= to || isExcluded?.(key, start)) return true;
    insert(found, { key, start });
    // A later wall time may be an earlier instant only within a clock change.
    if (found.length >= limit) last = Math.min(last, (found[limit - 1] as Instance).key + REORDER);
    return true;
  };
  visitNominal(series, { from: from - MARGIN, to: last }, toInstant, visit);
  return found.length > limit ? found.slice(0, limit) : found;
}

/** The first instance after an instant (seconds), or null. */
export function nextInstance(series: Series, after: number, readerZone?: string): Instance | null {
  const window = { from: after + 1, to: Number.POSITIVE_INFINITY, limit: 1, readerZone };
  return instancesOf(series, window)[0] ?? null;
}

/**
 * The last instance, or null where the series has no instance.
 * @returns `endless` where a rule has neither COUNT nor UNTIL
 */
export function lastInstance(series: Series): Instance | 'endless' | null {
  const endless = series.rules.some(({ count, until }) => count === null && until === null);
  if (endless) return 'endless';
  const toInstant = resolver(series);
  const isExcluded = series.excluded && exclusion(series.excluded);
  let last: Instance | null = null;
  const bounds = series.rules.map((rule) => lastWall(rule, series));
  const from = Math.max(series.start, ...bounds, ...(series.added ?? []));
  // Excluded instances at the end make the last one earlier: look back further until one is found.
  for (let reach = 2 * MARGIN; ; reach *= 8) {
    visitNominal(series, { from: from - reach, to: Number.POSITIVE_INFINITY }, toInstant, (key) => {
      const start = toInstant(key);
      if (!isExcluded?.(key, start) && (!last || start > last.start)) last = { key, start };
      return true;
    });
    if (last || from - reach < series.start) return last;
  }
}

/** Wall times from `from` to `to`, both inclusive. */
interface WallSpan {
  from: number;
  to: number;
}

/** Visits the wall times of DTSTART, rules and RDATE in order. Those of DTSTART and RDATE may be after the span. */
function visitNominal(series: Series, span: WallSpan, toInstant: Resolve, visit: Visit): void {
  const { start, added = [], rules } = series;
  const [rule] = rules;
  if (added.length > 0 || rules.length !== 1) return visitMerged(series, span, toInstant, visit);
  if (start >= span.from && !visit(start)) return;
  visitRule(rule as Rule, series, span, toInstant, visit);
}

/** Merges stretches of time: within each, the wall times of all sources are collected and sorted. */
function visitMerged(series: Series, { from, to }: WallSpan, toInstant: Resolve, visit: Visit): void {
  const fixed = [series.start, ...(series.added ?? [])].filter((wall) => wall >= from);
  // The first wall time of each rule after the stretches so far, so that a rare rule is not searched in each stretch.
  const heads = series.rules.map(() => from);
  let low = from;
  for (let stretch = FIRST_STRETCH; ; stretch *= 2) {
    const high = low + stretch;
    const walls = new Set(fixed.filter((wall) => wall >= low && wall < high));
    for (const [n, rule] of series.rules.entries()) {
      if ((heads[n] as number) >= high) continue;
      heads[n] = Number.POSITIVE_INFINITY;
      visitRule(rule, series, { from: low, to }, toInstant, (wall) => {
        if (wall < high) walls.add(wall);
        else heads[n] = wall;
        return wall < high;
      });
    }
    for (const wall of [...walls].toSorted((a, b) => a - b)) if (!visit(wall)) return;
    const next = Math.min(...heads, ...fixed.filter((wall) => wall >= high));
    if (next === Number.POSITIVE_INFINITY) return;
    low = next;
  }
}

/** Visits the wall times of a rule after DTSTART, within COUNT and UNTIL. */
function visitRule(rule: Rule, series: Series, span: WallSpan, toInstant: Resolve, visit: Visit): void {
  const { start, isDate } = series;
  const { from } = span;
  const isWithin = rule.until && untilTest(rule.until, series, toInstant);
  walkRule(rule, start, isDate, { from, to: Math.min(span.to, lastWall(rule, series)) }, (wall) => {
    if (wall <= start || wall < from) return true;
    return (isWithin?.(wall) ?? true) && visit(wall);
  });
}

const lastWalls = new Map<string, number>();

/** The wall time at which a rule with COUNT or UNTIL ends at the latest. */
function lastWall(rule: Rule, series: Series): number {
  const { start, isDate } = series;
  if (rule.count === null) return rule.until === null ? Number.POSITIVE_INFINITY : rule.until.time + MARGIN;
  if (isPlain(rule))
    return start + (rule.count - 1) * rule.interval * (rule.freq === 'DAILY' ? DAY : 7 * DAY);
  const key = `${start} ${String(isDate)} ${formatRule(rule)}`;
  const known = lastWalls.get(key);
  if (known !== undefined) return known;
  let left = rule.count - 1;
  let last = start;
  if (left > 0)
    walkRule(rule, start, isDate, { from: start, to: Number.POSITIVE_INFINITY }, (wall) => {
      if (wall <= start) return true;
      last = wall;
      left -= 1;
      return left > 0;
    });
  if (lastWalls.size >= MAX_LAST_WALLS) lastWalls.clear();
  lastWalls.set(key, last);
  return last;
}

/** Whether a rule has one instance in each period, at the day and time of DTSTART. */
function isPlain({ freq, byMonth, byMonthDay, byDay, byHour, byMinute, bySecond, bySetPos }: Rule): boolean {
  const parts = [byMonth, byMonthDay, byDay, byHour, byMinute, bySecond, bySetPos];
  return (freq === 'DAILY' || freq === 'WEEKLY') && parts.every((list) => list.length === 0);
}

/** UNTIL is compared as an instant; a date includes the whole day on the clock of the series. */
function untilTest(until: Until, series: Series, toInstant: Resolve): (wall: number) => boolean {
  if (until.kind === 'date' || series.isDate) {
    const end = Math.floor(until.time / DAY) * DAY + DAY;
    return (wall) => wall < end;
  }
  const end = until.kind === 'utc' && series.zone !== null ? until.time : toInstant(until.time);
  return (wall) => wall < end - MARGIN || toInstant(wall) <= end;
}

function resolver(series: Series, readerZone = 'UTC'): Resolve {
  const name = series.zone ?? readerZone;
  if (name === 'UTC') return (wall) => wall;
  const zone = Zone.of(name);
  return (wall) => zone.toInstant(wall);
}

function exclusion(excluded: Excluded): (key: number, start: number) => boolean {
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
