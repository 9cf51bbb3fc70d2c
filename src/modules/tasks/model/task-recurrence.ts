import {
  DAY,
  formatDay,
  instancesOf,
  nextInstance,
  parseRule,
  parseWallTime,
  RecurrenceError,
  type Rule,
  Zone,
} from '../../../lib/recurrence/index.js';

const MAX_RULE = 500;
const MAX_INTERVAL = 1_000;
const MAX_COUNT = 366;
const MAX_VALUES = 31;
const WEEKS_OF_MONTH = 5;
const LAST_DATE = '9998-12-31';

/** The allowed parts of a rule in their canonical order: occurrences are days. */
const PARTS = [
  'FREQ',
  'INTERVAL',
  'COUNT',
  'UNTIL',
  'BYDAY',
  'BYMONTHDAY',
  'BYYEARDAY',
  'BYWEEKNO',
  'BYMONTH',
  'BYSETPOS',
  'WKST',
];
/** RFC 7529. They are written only where SKIP changes the rule. */
const SCALE_PARTS = new Set(['RSCALE', 'SKIP']);

/**
 * Normalises a recurrence rule: upper case, fixed order of parts, without `RRULE:`.
 * @returns null for a rule that RFC 5545 forbids and for a rule whose occurrences are not days
 */
export function canonicalRule(text: string): string | null {
  if (text.length > MAX_RULE) return null;
  const given = text
    .replaceAll(/\s+/g, '')
    .replace(/^RRULE:/i, '')
    .toUpperCase();
  const parts = new Map<string, string>();
  for (const part of given.split(';')) {
    const [name = ''] = part.split('=');
    if (SCALE_PARTS.has(name)) continue;
    if (!PARTS.includes(name) || part.split(',').length > MAX_VALUES) return null;
    parts.set(name, part);
  }
  const rule = allowedRule(given);
  if (!rule) return null;
  const plain = PARTS.flatMap((name) => parts.get(name) ?? []).join(';');
  return rule.skip === 'OMIT' ? plain : `RSCALE=GREGORIAN;${plain};SKIP=${rule.skip}`;
}

function allowedRule(text: string): Rule | null {
  try {
    const rule = parseRule(text);
    const { freq, interval, count, byDay, byMonth } = rule;
    if (freq === 'HOURLY' || interval > MAX_INTERVAL || (count ?? 0) > MAX_COUNT) return null;
    // With BYMONTH, numbers count within a month.
    const isNumbered = byDay.some(({ nth }) => Math.abs(nth ?? 0) > WEEKS_OF_MONTH);
    return byMonth.length > 0 && isNumbered ? null : rule;
  } catch (error) {
    if (error instanceof RecurrenceError) return null;
    throw error;
  }
}

/** The fields of a repeating task that its next date depends on, as the occurrence that is completed has them. */
export interface Repeating {
  rrule: string;
  from: 'schedule' | 'completion';
  /** Local day, or day and time, of the first occurrence: `2026-01-05` or `2026-01-05T09:00:00`. */
  start: string;
  /** The day of this occurrence by the rule. The task may have been moved to another date since. */
  scheduled?: string;
  /** The place of this occurrence in the series, from 1, if it was stored. */
  number?: number;
  timeZone: string;
  /** The date of the task that is being completed. */
  date: string;
  dueAt: Date | null;
}

export interface Occurrence {
  date: string;
  dueAt: Date | null;
  /** Place in the series, from 1. Only where intervals count from completions: COUNT needs it there. */
  number?: number;
}

/**
 * Finds the next occurrence of a repeating task. The local hour stays the same across changes of daylight saving time.
 *
 * With `from: completion`, the interval counts from the day of the completion. A rule that names its days and has the interval 1
 * means the same days whatever the interval counts from.
 * @param now when the task is completed
 * @returns null when the series has ended
 */
export function nextOccurrence(task: Repeating, now: Date): Occurrence | null {
  const isTimed = task.dueAt !== null && task.start.includes('T');
  const zone = Zone.of(task.timeZone);
  const rule = withLocalEnd(parseRule(task.rrule), isTimed, zone);
  const hour = isTimed ? task.start.slice(10) : '';
  const clock: Clock = { isTimed, zone, hour };
  const current = isTimed ? seconds(task.dueAt as Date) : wallOf(task.date);
  const first = wallOf(task.start.slice(0, 10) + hour);
  if (task.from === 'completion' && !isFixed(rule)) {
    // A completion late in the evening of its zone counts as that day, with the hour of the series.
    const completed = midnight(zone.toWall(seconds(now))) + (first - midnight(first));
    const number = task.number ?? placeOf(first, clock, rule, wallOf((task.scheduled ?? task.date) + hour));
    if (rule.count !== null && number >= rule.count) return null;
    const found = nextIn(completed, clock, { ...rule, count: null }, [current, instantOf(completed, clock)]);
    return found && { ...found, number: number + 1 };
  }
  const after = [current];
  if (task.from === 'completion') after.push(isTimed ? seconds(now) : midnight(zone.toWall(seconds(now))));
  if (task.scheduled) after.push(instantOf(wallOf(task.scheduled + hour), clock));
  return nextIn(first, clock, rule, after);
}

/** The rule of a series that starts with the given occurrence: its COUNT does not count earlier ones (RFC 5545, 3.3.10). */
export function remainingRule(
  task: Pick<Repeating, 'rrule' | 'start' | 'scheduled' | 'number' | 'timeZone'> & { isTimed: boolean },
): string {
  const isTimed = task.isTimed && task.start.includes('T');
  const zone = Zone.of(task.timeZone);
  const rule = withLocalEnd(parseRule(task.rrule), isTimed, zone);
  if (rule.count === null) return task.rrule;
  const hour = isTimed ? task.start.slice(10) : '';
  const day = task.start.slice(0, 10);
  const scheduled = wallOf((task.scheduled ?? day) + hour);
  const number = task.number ?? placeOf(wallOf(day + hour), { isTimed, zone, hour }, rule, scheduled);
  return task.rrule.replace(/COUNT=\d+/, `COUNT=${Math.max(1, rule.count - number + 1)}`);
}

/** How the occurrences of a task lie on the clock: days, or times of a zone. */
interface Clock {
  isTimed: boolean;
  zone: Zone;
  /** `T09:00:00`; empty for days. */
  hour: string;
}

/** A day without an hour does not depend on a time zone: it is compared as midnight UTC. */
const instantOf = (wall: number, { isTimed, zone }: Clock): number =>
  isTimed ? zone.toInstant(wall) : midnight(wall);

const seriesFrom = (start: number, { isTimed, zone }: Clock, rule: Rule) => ({
  start,
  zone: isTimed ? zone.name : null,
  isDate: !isTimed,
  rules: [rule],
});

/** The first occurrence after all of these moments, of a series that starts at a wall time. */
function nextIn(start: number, clock: Clock, rule: Rule, after: readonly number[]): Occurrence | null {
  const found = nextInstance(seriesFrom(start, clock, rule), Math.max(...after));
  if (!found) return null;
  const { isTimed, zone } = clock;
  const date = formatDay(Math.floor((isTimed ? zone.toWall(found.start) : found.start) / DAY));
  return date > LAST_DATE ? null : { date, dueAt: isTimed ? new Date(found.start * 1000) : null };
}

/** Whether a rule names its days and repeats them in each period. */
const isFixed = ({ interval, byMonth, byWeekNo, byYearDay, byMonthDay, byDay }: Rule): boolean =>
  interval === 1 && [byMonth, byWeekNo, byYearDay, byMonthDay, byDay].some((part) => part.length > 0);

/** The place of an occurrence by the schedule: of one whose series was set before places were stored, or of the first one. */
function placeOf(first: number, clock: Clock, rule: Rule, wall: number): number {
  const window = { from: Number.NEGATIVE_INFINITY, to: instantOf(wall, clock) + 1, limit: rule.count ?? 1 };
  return Math.max(1, instancesOf(seriesFrom(first, clock, rule), window).length);
}

/** For a series of days, converts an UNTIL in UTC to the day in the task's time zone. */
function withLocalEnd(rule: Rule, isTimed: boolean, zone: Zone): Rule {
  if (isTimed || rule.until?.kind !== 'utc') return rule;
  return { ...rule, until: { kind: 'date', time: midnight(zone.toWall(rule.until.time)) } };
}

const seconds = (date: Date): number => Math.floor(date.getTime() / 1000);
const midnight = (wall: number): number => Math.floor(wall / DAY) * DAY;

function wallOf(text: string): number {
  const wall = parseWallTime(text);
  if (wall === null) throw new RangeError(`Not a date or time: ${text}`);
  return wall;
}
