import { type Component, ICalendarError, propertyOf } from '../../../lib/icalendar/index.js';
import { instancesOf, parseRule, RecurrenceError } from '../../../lib/recurrence/index.js';
import { dueOf, type Moment, momentOf, startOf, type TodoClock } from './todo-values.js';

/** Instants in seconds; null: unbounded. */
export interface TodoWindow {
  from: number | null;
  to: number | null;
}

/** Instances that are compared with a window. */
const MAX_INSTANCES = 10;

/**
 * Whether a task is in a window, by the table of RFC 4791, 9.9; of a series, whether one of its instances is.
 * @param todo with CREATED
 */
export function occursIn(todo: Component, clock: TodoClock, { from, to }: TodoWindow): boolean {
  const window = { from: from ?? Number.NEGATIVE_INFINITY, to: to ?? Number.POSITIVE_INFINITY };
  try {
    const [start, due] = [startOf(todo, clock), dueOf(todo, clock)];
    const rule = propertyOf(todo, 'RRULE')?.value;
    const anchor = start ?? due;
    if (!anchor) return isClosedIn(todo, clock, window);
    if (rule === undefined) return isInside(start?.instant ?? null, due?.instant ?? null, window);
    return shifts(anchor, rule, clock, (due?.instant ?? anchor.instant) - anchor.instant, window).some((by) =>
      isInside(start && start.instant + by, due && due.instant + by, window),
    );
  } catch (error) {
    // Stored by a program, and not readable: the program decides.
    if (error instanceof ICalendarError || error instanceof RecurrenceError) return true;
    throw error;
  }
}

interface Bounds {
  from: number;
  to: number;
}

function isInside(start: number | null, due: number | null, { from, to }: Bounds): boolean {
  if (start !== null && due !== null) return (from < due || from <= start) && (to > start || to >= due);
  if (start !== null) return from <= start && to > start;
  return due === null || (from < due && to >= due);
}

/** A task without dates: by when it was created and completed. */
function isClosedIn(todo: Component, clock: TodoClock, { from, to }: Bounds): boolean {
  const instant = (name: string): number | null => {
    const found = propertyOf(todo, name);
    return found ? (momentOf(found, clock)?.instant ?? null) : null;
  };
  const [created, completed] = [instant('CREATED'), instant('COMPLETED')];
  if (created !== null && completed !== null)
    return (from <= created || from <= completed) && (to >= created || to >= completed);
  if (completed !== null) return from <= completed && to >= completed;
  return created === null || to > created;
}

/** By how many seconds instances that may be in the window are later than the first one. @param length seconds of an instance */
function shifts(
  anchor: Moment,
  rule: string,
  clock: TodoClock,
  length: number,
  { from, to }: Bounds,
): number[] {
  const { isDate, wall, instant, zone } = anchor;
  // Times without a zone, and days, are read in the zone of the task.
  const isUtc = !isDate && zone === null && wall === instant;
  const series = { start: wall, zone: isUtc ? 'UTC' : zone, isDate, rules: [parseRule(rule)] };
  const window = {
    from: Math.max(from - length, instant),
    to: to === Number.POSITIVE_INFINITY ? to : to + 1,
    limit: MAX_INSTANCES,
    readerZone: clock.zone,
  };
  return instancesOf(series, window).map((each) => each.start - instant);
}
