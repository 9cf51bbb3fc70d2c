import { isDeepStrictEqual } from 'node:util';
import { textOf } from '../../../lib/icalendar/index.js';
import type { StoredReference } from '../task.entity.js';
import { htmlOf } from './todo-reader.js';
import type { TodoText } from './todo-merge.js';
import type { TaskResourceRow, TodoValues } from './todo-values.js';
import { reminderKey } from './todo-writer.js';

/**
 * The fields of a request to the API in which two texts of a task differ.
 * @param before as the program read the task
 * @param next as the program wrote it
 */
export function changedInput(
  row: TaskResourceRow,
  before: TodoValues,
  next: TodoValues,
  text: TodoText,
): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  const differs = (name: keyof TodoValues): boolean => !isDeepStrictEqual(before[name], next[name]);
  if (differs('title')) input['title'] = next.title;
  if (differs('description')) input['description'] = descriptionIn(next, text);
  if (differs('status')) input['status'] = next.status;
  if (differs('priority')) input['priority'] = next.priority;
  if (differs('labels')) input['labels'] = next.labels;
  if (differs('date') || differs('dueAt')) Object.assign(input, dueIn(next));
  else if (next.dueAt !== null && next.zone !== null && differs('zone')) input['time_zone'] = next.zone;
  if (differs('rrule') && !row.is_repeated) {
    // A program that does not know the property of completions leaves it out.
    const from = next.from === 'completion' || before.rrule === null ? next.from : before.from;
    input['recurrence'] = next.rrule === null ? null : { rrule: next.rrule, from };
  }
  const keys = ({ reminders }: TodoValues): Set<string> => new Set(reminders.map(reminderKey));
  if (!isDeepStrictEqual(keys(before), keys(next))) input['reminders'] = next.reminders;
  if (differs('url')) input['references'] = withUrl(row.refs, next.url);
  return input;
}

/** The fields of a request that creates the task. */
export function createdInput(folderId: string, values: TodoValues, text: TodoText): Record<string, unknown> {
  const { title, status, priority, labels, rrule, from, reminders, url } = values;
  return {
    folder_id: folderId,
    title,
    description: descriptionIn(values, text),
    status,
    priority,
    labels,
    ...(values.date !== null && dueIn(values)),
    ...(rrule !== null && { recurrence: { rrule, from } }),
    reminders,
    references: withUrl([], url),
  };
}

const descriptionIn = ({ description }: TodoValues, { todo }: TodoText): string | null =>
  description === null ? null : htmlOf((textOf(todo, 'DESCRIPTION') ?? '').trim());

/** A day replaces a moment; a moment decides the day. */
function dueIn({ date, dueAt, zone }: TodoValues): Record<string, unknown> {
  if (dueAt === null) return { date, due_at: null };
  return { due_at: dueAt, ...(zone !== null && { time_zone: zone }) };
}

/** The references with this web address in place of the first one. */
function withUrl(refs: readonly StoredReference[], url: string | null): StoredReference[] {
  const at = refs.findIndex(({ type }) => type === 'url');
  const added: StoredReference[] = url === null ? [] : [{ type: 'url', url }];
  return at < 0 ? [...refs, ...added] : refs.toSpliced(at, 1, ...added);
}
