import { component, formatTime, type Property, timesOf } from '../../../lib/icalendar/index.js';
import { parseWallTime } from '../../../lib/recurrence/index.js';
import type { StoredReminder } from '../tasks.schema.js';
import type { TaskRow } from './rules/task-row.js';
import { withoutProperties } from './rules/task-merge.js';
import type { Occurrence } from './task-recurrence.js';
import { clockOf } from './todo-reader.js';
import { type KeptTodo, reminderOf } from './todo-values.js';
import { reminderKey } from './todo-writer.js';

/** Properties of the completed occurrence. */
const OF_OCCURRENCE = ['CREATED', 'COMPLETED', 'PERCENT-COMPLETE', 'STATUS'];

/**
 * What programs stored, and the reminders, for the next occurrence of a task. The start is as long before the due date as it was, and alarms
 * that refer to the start follow it. Other reminders at a fixed moment belong to the completed occurrence.
 */
export function nextTodo(
  task: TaskRow,
  next: Occurrence,
): { icalendar: KeptTodo | null; reminders: StoredReminder[] } {
  const kept = withoutProperties(task.icalendar, OF_OCCURRENCE);
  const reminders: StoredReminder[] = task.reminders.filter((reminder) => 'minutes_before' in reminder);
  if (kept === null) return { icalendar: null, reminders };
  const shifted = Object.entries(kept.properties).map(([name, given]): [string, Property[]] => [
    name,
    name === 'DTSTART' || name === 'DUE' ? given.map((time) => shiftedTime(time, task, next)) : given,
  ]);
  const icalendar = { ...kept, properties: Object.fromEntries(shifted) };
  const [before, after] = [kept, icalendar].map(({ properties }) =>
    component('VTODO', Object.values(properties).flat()),
  );
  const clock = clockOf(kept.others, task.time_zone);
  const wanted = new Set(task.reminders.map(reminderKey));
  const found = new Set<string>();
  for (const alarm of kept.alarms) {
    const [old, moved] = [before, after].map((todo) => reminderOf(alarm, todo!, clock));
    if (!old || !moved || !('at' in moved) || !wanted.has(reminderKey(old))) continue;
    const key = reminderKey(moved);
    // Several alarms, such as one with a sound and one with a text, are one reminder.
    if (reminderKey(old) === key || found.has(key)) continue;
    found.add(key);
    reminders.push(moved);
  }
  return { icalendar, reminders };
}

/** A time of the next occurrence: times in UTC move with the due moment, others with the day. */
function shiftedTime(time: Property, task: TaskRow, next: Occurrence): Property {
  const [given] = timesOf(time);
  if (!given || task.date === null) return time;
  const seconds =
    given.kind === 'utc' && task.due_at !== null && next.dueAt !== null
      ? (next.dueAt.getTime() - task.due_at.getTime()) / 1000
      : (parseWallTime(next.date) ?? 0) - (parseWallTime(task.date) ?? 0);
  return { ...time, value: formatTime({ ...given, wall: given.wall + seconds }) };
}
