import { isURL } from 'class-validator';
import { escapeHtml, plainText } from '../../../lib/html/index.js';
import {
  CalendarZones,
  component,
  type Component,
  ICalendarError,
  propertiesOf,
  propertyOf,
  textList,
  textOf,
} from '../../../lib/icalendar/index.js';
import { DAY, formatDay } from '../../../lib/recurrence/index.js';
import {
  filledText,
  hasVisibleCharacter,
  labelsOf as distinctLabels,
  cutText,
  charactersOf,
} from '../../../lib/text/index.js';
import { MAX_TITLE } from '../task-fields.dto.js';
import type { StoredReminder, TaskPriority, TaskStatus } from '../tasks.schema.js';
import {
  dueOf,
  instantText,
  isCalendarDay,
  MAX_REMINDERS,
  momentOf,
  reminderOf,
  type TodoClock,
  type TodoValues,
  wallOf,
} from './todo-values.js';
import { currentOf } from './todo-series.js';

const MAX_LABELS = 100;
const MAX_LABEL = 100;
const MAX_URL = 2048;
/** The title of a task without a SUMMARY. */
const UNTITLED = 'Untitled';

const STATUSES: Readonly<Record<string, TaskStatus>> = {
  'NEEDS-ACTION': 'open',
  'IN-PROCESS': 'in_progress',
  COMPLETED: 'done',
  CANCELLED: 'cancelled',
};

/**
 * @param others the VTIMEZONEs of the text are among them
 * @param readerZone of times that name no zone, where a program states one
 */
export const clockOf = (
  others: readonly Component[],
  taskZone: string,
  readerZone = taskZone,
): TodoClock => ({
  zones: new CalendarZones(component('VCALENDAR', [], [...others])),
  zone: readerZone,
  taskZone,
});

/** HTML that shows a plain text as it is. */
export function htmlOf(text: string): string {
  const style = /\n| {2}/.test(text) ? ' style="white-space: pre-wrap"' : '';
  return `<p${style}>${escapeHtml(text)}</p>`;
}

/**
 * The fields of a task that a VTODO states: those of a series with the times of its first open instance. What the task cannot have, such
 * as an hourly rule, is read as absent.
 * @param others changed instances of the series are among them
 * @throws ICalendarError
 */
export function readTodo(series: Component, others: readonly Component[], clock: TodoClock): TodoValues {
  const { todo, rrule, place, end } = currentOf(series, others, clock);
  const status = end ?? statusOf(todo);
  const due = dueOf(todo, clock);
  const date = due && formatDay(Math.floor(wallOf(due, clock) / DAY));
  if (date !== null && !isCalendarDay(date))
    throw new ICalendarError('invalid_value', 'DUE must be in the years 1900 to 9999', 'DUE');
  const description = textOf(todo, 'DESCRIPTION') ?? '';
  const stated = status === 'done' ? propertyOf(todo, 'COMPLETED') : undefined;
  const completed = stated && momentOf(stated, clock);
  const from = textOf(todo, 'X-WORKSPACE-REPEAT-FROM')?.trim().toUpperCase();
  return {
    title: titleOf(todo),
    description: plainText(htmlOf(description)) || null,
    status,
    priority: priorityOf(Number(propertyOf(todo, 'PRIORITY')?.value.trim() ?? 0)),
    labels: labelsOf(todo),
    date,
    dueAt: due && !due.isDate ? instantText(due.instant) : null,
    zone: due?.zone ?? null,
    rrule,
    from: from === 'COMPLETION' ? 'completion' : 'schedule',
    reminders: remindersOf(todo, clock),
    url: urlOf(todo),
    createdAt: null,
    completedAt: completed ? instantText(completed.instant) : null,
    place,
    isOver: end !== null,
  };
}

function titleOf(todo: Component): string {
  const text = filledText(textOf(todo, 'SUMMARY') ?? '');
  const title = filledText(cutText(text, MAX_TITLE));
  return title || UNTITLED;
}

function statusOf(todo: Component): TaskStatus {
  const stated = STATUSES[(propertyOf(todo, 'STATUS')?.value ?? '').trim().toUpperCase()];
  if (stated) return stated;
  const isWhole = propertyOf(todo, 'PERCENT-COMPLETE')?.value.trim() === '100';
  return isWhole || propertyOf(todo, 'COMPLETED') ? 'done' : 'open';
}

/** The three levels that programs have, and none, for which the task has its default (RFC 5545, 3.8.1.9). */
function priorityOf(value: number): TaskPriority {
  if (value >= 1 && value <= 4) return 'high';
  if (value === 5) return 'medium';
  return value >= 6 && value <= 9 ? 'low' : 'normal';
}

function labelsOf(todo: Component): string[] {
  const all = propertiesOf(todo, 'CATEGORIES').flatMap(({ value }) => textList(value));
  const valid = distinctLabels(all).filter(
    (label) => charactersOf(label) <= MAX_LABEL && hasVisibleCharacter(label),
  );
  return valid.slice(0, MAX_LABELS);
}

function remindersOf(todo: Component, clock: TodoClock): StoredReminder[] {
  const found = new Map<string, StoredReminder>();
  for (const alarm of todo.components) {
    const reminder = alarm.name === 'VALARM' ? reminderOf(alarm, todo, clock) : null;
    if (reminder) found.set(JSON.stringify(reminder), reminder);
  }
  return [...found.values()].slice(0, MAX_REMINDERS);
}

function urlOf(todo: Component): string | null {
  const url = propertyOf(todo, 'URL')?.value.trim() ?? '';
  const rules = {
    protocols: ['http', 'https'],
    require_protocol: true,
    require_tld: false,
    allow_underscores: true,
  };
  return url.length <= MAX_URL && isURL(url, rules) ? url : null;
}
