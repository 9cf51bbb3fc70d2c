import {
  DAY,
  formatDay,
  formatWallTime,
  type Instance,
  instancesOf,
  namesDays,
  nextInstance,
  parseRule,
  parseWallTime,
  RecurrenceError,
  type Rule,
  type Series,
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
  /** The time of that day, where it is not that of `start`. */
  hour?: string;
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
  /** Place in the series, from 1, where COUNT needs it: intervals count from completions, or programs state dates of the series. */
  number?: number;
  /** The instance by the rule, where programs state dates of the series. */
  nominal?: NominalOccurrence;
}

/** An occurrence by the rule and by what programs stored of the series. */
interface NominalOccurrence extends Pick<SeriesPlace, 'scheduled' | 'hour'> {
  /** The instance of the series that starts it. */
  instance: Instance;
  /** The first occurrence of the rule from there on: an added one may be before it. */
  anchor: { date: string; dueAt: Date | null };
  /** The rule has no occurrence from there on: this one was added after its end. */
  isBeyond: boolean;
}

/** What programs stored of a series: how long it takes and the dates in which it differs from its rule. */
export interface SeriesDates {
  /** Seconds on the wall clock from the start to the due time. */
  length: number;
  /** Instances that are excluded or closed. */
  passed: NonNullable<Series['excluded']>;
  /** Wall times at which further instances start. */
  added: readonly number[];
}

/** Where the rule starts, and the day of the instance by the rule, both by the due date. Null means that both are the date of the task. */
export interface SeriesPlace {
  /** `2026-12-01` or `2026-12-01T09:00:00`. */
  start: string;
  scheduled: string;
  /** The time of an instance that is added at another one than that of `start`: `T07:00:00`. */
  hour?: string;
}

/**
 * Finds the next occurrence of a repeating task. The local hour stays the same across changes of daylight saving time.
 *
 * With `from: completion`, the interval counts from the day of the completion. A rule that names its days and has the interval 1
 * means the same days whatever the interval counts from.
 * @param now when the task is completed
 * @param dates of the programs; they do not concern intervals that count from completions
 * @returns null when the series has ended
 */
export function nextOccurrence(task: Repeating, now: Date, dates?: SeriesDates): Occurrence | null {
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
    const number = task.number ?? placeOf(first, clock, rule, scheduledWall(task, task.date, hour));
    if (rule.count !== null && number >= rule.count) return null;
    const found = nextIn(completed, clock, { ...rule, count: null }, [current, instantOf(completed, clock)]);
    return found && { ...found, number: number + 1 };
  }
  const after = [current];
  if (task.from === 'completion') after.push(isTimed ? seconds(now) : midnight(zone.toWall(seconds(now))));
  if (task.scheduled) after.push(instantOf(scheduledWall(task, task.scheduled, hour), clock));
  return dates ? nextWith(dates, first, clock, rule, Math.max(...after)) : nextIn(first, clock, rule, after);
}

/** The rule of a series that starts with the given occurrence: its COUNT does not count earlier ones (RFC 5545, 3.3.10). */
export function remainingRule(
  task: Pick<Repeating, 'rrule' | 'start' | 'scheduled' | 'hour' | 'number' | 'timeZone'> & {
    isTimed: boolean;
  },
): string {
  const isTimed = task.isTimed && task.start.includes('T');
  const zone = Zone.of(task.timeZone);
  const rule = withLocalEnd(parseRule(task.rrule), isTimed, zone);
  if (rule.count === null) return task.rrule;
  const hour = isTimed ? task.start.slice(10) : '';
  const day = task.start.slice(0, 10);
  const scheduled = scheduledWall(task, day, hour);
  const number = task.number ?? placeOf(wallOf(day + hour), { isTimed, zone, hour }, rule, scheduled);
  return task.rrule.replace(/COUNT=\d+/, `COUNT=${Math.max(1, rule.count - number + 1)}`);
}

/** The rule of a series that starts after its last day, with an occurrence that programs added: it has this one alone. */
export const withoutLastDay = (rrule: string): string => rrule.replace(/UNTIL=[^;]+/, 'COUNT=1');

/** The time of an occurrence by the rule. @param day where no day by the rule is stored @param hour of the series; empty for days */
const scheduledWall = (
  { scheduled, hour: own }: Pick<Repeating, 'scheduled' | 'hour'>,
  day: string,
  hour: string,
): number => wallOf((scheduled ?? day) + (hour && (own ?? hour)));

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
  return found && boundedAt(found.start, clock);
}

/** As a date that a task can have. */
function boundedAt(instant: number, clock: Clock): Occurrence | null {
  const occurrence = occurrenceAt(instant, clock);
  return occurrence.date > LAST_DATE ? null : occurrence;
}

const occurrenceAt = (instant: number, { isTimed, zone }: Clock): { date: string; dueAt: Date | null } => ({
  date: formatDay(Math.floor((isTimed ? zone.toWall(instant) : instant) / DAY)),
  dueAt: isTimed ? new Date(instant * 1000) : null,
});

/** Finds the next occurrence of a series with dates of its own. @param start the due time of the first occurrence */
function nextWith(
  { length, passed, added }: SeriesDates,
  start: number,
  clock: Clock,
  rule: Rule,
  after: number,
): Occurrence | null {
  const { isTimed, zone } = clock;
  const byRule = seriesFrom(start - length, clock, rule);
  const series = { ...byRule, added, excluded: passed };
  const found = nextInstance(series, isTimed ? zone.toInstant(zone.toWall(after) - length) : after - length);
  const due = ({ key }: Instance): number => instantOf(key + length, clock);
  const occurrence = found && boundedAt(due(found), clock);
  if (!occurrence) return null;
  const byRuleNext = nextInstance(byRule, found.start - 1);
  const anchor = byRuleNext ?? found;
  const hour = isTimed ? formatWallTime(found.key + length).slice(10) : '';
  return {
    ...occurrence,
    ...(rule.count !== null && { number: placeIn(byRule, anchor.start, rule.count) }),
    nominal: {
      scheduled: occurrence.date,
      ...(hour !== clock.hour && { hour }),
      instance: found,
      anchor: occurrenceAt(due(anchor), clock),
      isBeyond: byRuleNext === null,
    },
  };
}

/** The place of the instance at an instant among those of a rule, from 1. */
export function placeIn(byRule: Series, instant: number, count: number): number {
  const window = { from: Number.NEGATIVE_INFINITY, to: instant + 1, limit: count };
  return Math.max(1, instancesOf(byRule, window).length);
}

/** Whether a rule names its days and repeats them in each period. */
const isFixed = (rule: Rule): boolean => rule.interval === 1 && namesDays(rule);

/** The place of an occurrence by the schedule: of one whose series was set before places were stored, or of the first one. */
function placeOf(first: number, clock: Clock, rule: Rule, wall: number): number {
  return placeIn(seriesFrom(first, clock, rule), instantOf(wall, clock), rule.count ?? 1);
}

/** For a series of days, converts an UNTIL in UTC to the day in the task's time zone. */
export function withLocalEnd(rule: Rule, isTimed: boolean, zone: Zone): Rule {
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
