import {
  DAY,
  formatDay,
  isPlainScale,
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
    const [name = '', value = ''] = part.split('=');
    if (isPlainScale(name, value)) continue;
    if (!PARTS.includes(name) || part.split(',').length > MAX_VALUES) return null;
    parts.set(name, part);
  }
  if (!isAllowed(given)) return null;
  return PARTS.flatMap((name) => parts.get(name) ?? []).join(';');
}

function isAllowed(text: string): boolean {
  try {
    const { freq, interval, count, byDay, byMonth } = parseRule(text);
    if (freq === 'HOURLY' || interval > MAX_INTERVAL || (count ?? 0) > MAX_COUNT) return false;
    // With BYMONTH, numbers count within a month.
    return byMonth.length === 0 || byDay.every(({ nth }) => Math.abs(nth ?? 0) <= WEEKS_OF_MONTH);
  } catch (error) {
    if (error instanceof RecurrenceError) return false;
    throw error;
  }
}

/** The fields of a repeating task that its next date depends on. */
export interface Repeating {
  rrule: string;
  from: 'schedule' | 'completion';
  /** Local day, or day and time, of the first occurrence: `2026-01-05` or `2026-01-05T09:00:00`. */
  start: string;
  /** The day of this occurrence by the rule. The task may have been moved to another date since. */
  scheduled?: string;
  timeZone: string;
  /** The date of the task that is being completed. */
  date: string;
  dueAt: Date | null;
}

interface Occurrence {
  date: string;
  dueAt: Date | null;
}

/**
 * Finds the next occurrence of a repeating task. The local hour stays the same across changes of daylight saving time.
 * @param now when the task is completed
 * @returns null when the series has ended
 */
export function nextOccurrence(task: Repeating, now: Date): Occurrence | null {
  const isTimed = task.dueAt !== null && task.start.includes('T');
  const zone = Zone.of(task.timeZone);
  // A day without an hour does not depend on a time zone: it is compared as midnight UTC.
  const dayOrInstant = (wall: number): number => (isTimed ? zone.toInstant(wall) : midnight(wall));
  const current = isTimed ? seconds(task.dueAt as Date) : wallOf(task.date);
  const after = [current];
  if (task.from === 'completion') after.push(isTimed ? seconds(now) : midnight(zone.toWall(seconds(now))));
  const hour = isTimed ? task.start.slice(10) : '';
  if (task.scheduled) after.push(dayOrInstant(wallOf(task.scheduled + hour)));
  const series = {
    start: wallOf(task.start.slice(0, 10) + hour),
    zone: isTimed ? task.timeZone : null,
    isDate: !isTimed,
    rules: [withLocalEnd(parseRule(task.rrule), isTimed, zone)],
  };
  const found = nextInstance(series, Math.max(...after));
  if (!found) return null;
  const date = formatDay(Math.floor((isTimed ? zone.toWall(found.start) : found.start) / DAY));
  return date > LAST_DATE ? null : { date, dueAt: isTimed ? new Date(found.start * 1000) : null };
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
