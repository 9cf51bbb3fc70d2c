import { type Component, type Property } from '../../../lib/icalendar/index.js';
import { DAY, formatDay, parseWallTime, Zone } from '../../../lib/recurrence/index.js';
import type { StoredReminder } from '../tasks.schema.js';
import { instantMover, isSnoozed, movedAlarm, wallOfDate } from './fixed-alarms.js';
import { withoutProperties } from './rules/task-merge.js';
import type { TaskRow } from './rules/task-row.js';
import { nextOccurrence, type Occurrence } from './task-recurrence.js';
import { clockOf } from './todo-reader.js';
import {
  datesOf,
  filterDates,
  InstanceMap,
  instanceOf,
  isBefore,
  type SeriesClock,
  seriesClock,
} from './todo-instances.js';
import { shiftedTodo, withNamesMoved } from './todo-series.js';
import {
  dueOf,
  instantText,
  type KeptTodo,
  type Moment,
  readable,
  reminderOf,
  storedTodo,
  type TodoClock,
} from './todo-values.js';
import { reminderKey, timeProperty } from './todo-writer.js';

type Time = Pick<Occurrence, 'date' | 'dueAt'>;

/** Properties of the completed occurrence. The rule is written with the number of occurrences that are left. */
const OF_OCCURRENCE = ['UID', 'CREATED', 'COMPLETED', 'PERCENT-COMPLETE', 'STATUS', 'RRULE'];

/**
 * The next occurrence of a repeating task that is completed, by the rule and by the excluded, added and changed dates that programs stored.
 * @param completedAt when the task was completed
 * @returns null when the series has ended
 */
export function followingOccurrence(task: TaskRow, completedAt: Date): Occurrence | null {
  const { recurrence, date, due_at: dueAt, time_zone: timeZone, icalendar: kept } = task;
  if (recurrence === null || date === null) return null;
  const repeating = { ...recurrence, timeZone, date, dueAt };
  const { scheduled, start, hour } = recurrence;
  if (kept === null) return nextOccurrence(repeating, completedAt);
  const todo = storedTodo(kept);
  const { clock, length } = seriesClock(task, todo, clockOf(kept.others, task.time_zone));
  const { excluded, closed, open, added } = datesOf(todo, kept.others, clock);
  const dueIn = (override: Component): Moment | null => readable(() => dueOf(override, clock));
  // A program that moved this occurrence moved no other one.
  const isMoved = open.values.some((override) => isAt(dueIn(override), task, clock));
  const current =
    isMoved && scheduled !== undefined
      ? { ...repeating, ...scheduledAt(scheduled, dueAt && (hour ?? start.slice(10)), timeZone) }
      : repeating;
  const next = nextOccurrence(current, completedAt, {
    length,
    passed: InstanceMap.union(excluded, closed),
    added,
  });
  const override = next?.nominal && open.get(next.nominal.instance);
  const moved = override && dueIn(override);
  return next && moved ? { ...next, ...dateOf(moved, clock) } : next;
}

/**
 * What programs stored, and the reminders, for the next occurrence of a task. The start is as long before the due date as it was, and alarms
 * that refer to the start follow it. Reminders at a fixed moment move as far as the due date on the clock of the task. Snoozed alarms belong
 * to the completed occurrence, and so do changed, excluded and added dates before the next one.
 */
export function nextTodo(
  task: TaskRow,
  next: Occurrence,
): { icalendar: KeptTodo | null; reminders: StoredReminder[] } {
  const kept = withoutProperties(task.icalendar, OF_OCCURRENCE);
  const { date, due_at: dueAt, time_zone: zone } = task;
  if (date === null) return { icalendar: kept, reminders: task.reminders };
  const current = { date, dueAt };
  const move = reminderMover(current, next, zone);
  if (kept === null) return { icalendar: kept, reminders: uniqueReminders(task.reminders.map(move)) };
  const clock = clockOf(kept.others, task.time_zone);
  const stored = storedTodo(kept);
  const due = readable(() => dueOf(stored, clock));
  const from = due ? dateOf(due, clock) : current;
  const at = (to: Time): Component => {
    // Times in UTC move with the due moment, others with the day.
    const { wall, exact } = distanceOf(from, to);
    return shiftedTodo(stored, wall, exact);
  };
  const { anchor = next } = next.nominal ?? {};
  const ofSeries = due || isSameTime(anchor, next) ? [] : timesOf(anchor, task.time_zone);
  const ofTask = seriesClock(task, stored, clock).clock;
  const alarmAt = (alarm: Component, to: Time): Component =>
    movedAlarm(alarm, instantMover(wallOfDate(from, zone), wallOfDate(to, zone), zone), clock);
  const alarms = kept.alarms.flatMap((alarm) => (isSnoozed(alarm) ? [] : alarmAt(alarm, anchor)));
  const left = withoutPassed(
    { ...kept, alarms, properties: byName([...at(anchor).properties, ...ofSeries]) },
    next,
    ofTask,
  );
  const { wall, exact } = distanceOf(from, anchor);
  const icalendar = ofTask.ahead === null ? left : withNamesMoved(left, exact - wall, clock);
  const moved = new Map(task.reminders.map((reminder) => [reminderKey(reminder), move(reminder)]));
  const found: StoredReminder[] = [];
  const [before, after] = [at(current), at(next)];
  for (const alarm of kept.alarms) {
    const old = reminderOf(alarmAt(alarm, current), before, clock);
    const later = reminderOf(alarmAt(alarm, next), after, clock);
    if (!old || !later || !('at' in later) || !moved.delete(reminderKey(old))) continue;
    if (!isSnoozed(alarm)) found.push(later);
  }
  return { icalendar, reminders: uniqueReminders([...moved.values(), ...found]) };
}

/** Several alarms, such as one with a sound and one with a text, are one reminder. */
const uniqueReminders = (reminders: readonly StoredReminder[]): StoredReminder[] => [
  ...new Map(reminders.map((reminder) => [reminderKey(reminder), reminder])).values(),
];

/** Moves reminders at a fixed moment as far as the date moves from one occurrence to another. */
function reminderMover(from: Time, to: Time, zone: string): (reminder: StoredReminder) => StoredReminder {
  const move = instantMover(wallOfDate(from, zone), wallOfDate(to, zone), zone);
  return (reminder) =>
    'at' in reminder ? { at: instantText(move(Math.floor(Date.parse(reminder.at) / 1000))) } : reminder;
}

const byName = (properties: readonly Property[]): Record<string, Property[]> =>
  Object.fromEntries(Map.groupBy(properties, ({ name }) => name));

function dateOf(due: Moment, { zone }: TodoClock): Time {
  const wall = due.isDate ? due.wall : Zone.of(zone).toWall(due.instant);
  return { date: formatDay(Math.floor(wall / DAY)), dueAt: due.isDate ? null : new Date(due.instant * 1000) };
}

const isSameTime = (one: Time, other: Time): boolean =>
  one.date === other.date && one.dueAt?.getTime() === other.dueAt?.getTime();

/** The times of a series whose next instance is at another one: it was added or moved. */
const timesOf = ({ date, dueAt }: Time, zone: string): Property[] =>
  ['DTSTART', 'DUE'].flatMap((name) =>
    timeProperty(name, { date, dueAt: dueAt && dueAt.toISOString(), zone }),
  );

const isAt = (due: Moment | null, { date, due_at }: TaskRow, clock: TodoClock): boolean => {
  const found = due && dateOf(due, clock);
  return found !== null && isSameTime(found, { date: date ?? '', dueAt: due_at });
};

/** @param hour of the instance, as `T09:00:00`; null means that occurrences are days */
function scheduledAt(day: string, hour: string | null, timeZone: string): Time {
  const wall = hour ? parseWallTime(day + hour) : null;
  return { date: day, dueAt: wall === null ? null : new Date(Zone.of(timeZone).toInstant(wall) * 1000) };
}

/** Seconds between two times: of their days, and of their moments. */
function distanceOf(from: Time, to: Time): { wall: number; exact: number } {
  const wall = (parseWallTime(to.date) ?? 0) - (parseWallTime(from.date) ?? 0);
  const exact =
    from.dueAt !== null && to.dueAt !== null ? (to.dueAt.getTime() - from.dueAt.getTime()) / 1000 : wall;
  return { wall, exact };
}

function withoutPassed(kept: KeptTodo, { nominal }: Occurrence, clock: SeriesClock): KeptTodo {
  if (!nominal) return kept;
  const isLeft = (moment: Moment | null, onClock = clock): boolean =>
    !moment || !isBefore(moment, nominal.instance.key, onClock);
  const properties = Object.entries(kept.properties).flatMap(([name, given]): [string, Property[]][] => {
    if (name !== 'EXDATE' && name !== 'RDATE') return [[name, given]];
    const left = given.flatMap((each) => filterDates(each, clock, isLeft) ?? []);
    return left.length === 0 ? [] : [[name, left]];
  });
  return {
    ...kept,
    properties: Object.fromEntries(properties),
    others: kept.others.filter((other) => isLeft(instanceOf(other, clock))),
  };
}
