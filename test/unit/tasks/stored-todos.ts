import { isDeepStrictEqual } from 'node:util';
import { formatComponent, propertyOf } from '../../../src/lib/icalendar/index.js';
import {
  createTask,
  type UpdateCommand,
  updateTask,
} from '../../../src/modules/tasks/model/rules/task-rules.js';
import type { TaskChange, TaskRow } from '../../../src/modules/tasks/model/rules/task-row.js';
import type { TaskPatch } from '../../../src/modules/tasks/model/rules/task-merge.js';
import { assertOrder, type SingleTodo, singleTodo } from '../../../src/modules/tasks/model/single-todo.js';
import {
  changedInput,
  createdInput,
  keptOf,
  placedRecurrence,
  shownValues,
  textOfTodo,
  todoOf,
} from '../../../src/modules/tasks/model/todo-merge.js';
import { expandedTodo } from '../../../src/modules/tasks/model/todo-range.js';
import { clockOf, readTodo } from '../../../src/modules/tasks/model/todo-reader.js';
import type { TaskResourceRow, TodoValues } from '../../../src/modules/tasks/model/todo-values.js';
import { valuesOf } from '../../../src/modules/tasks/model/todo-writer.js';
import { PRIORITIES, STATUSES } from '../../../src/modules/tasks/tasks.schema.js';

/** Writes of programs and of the API, by the functions of the model alone. */

export const BERLIN = 'Europe/Berlin';
const now = new Date('2026-01-01T00:00:00Z');
const facts = {
  now,
  folderRole: 'owner',
  endPosition: 'a',
  inactive: [],
  role: 'owner',
  seenFolder: 'folder',
  untouchedNext: null,
  ownUid: null,
} as const;

/** A time in Berlin, as the parameters and the value of a property. */
export const berlin = (...times: string[]): string => `;TZID=Europe/Berlin:${times.join(',')}`;

const textOf = (...todos: (readonly string[])[]): string => {
  const blocks = todos.map((lines) => `BEGIN:VTODO\r\nUID:one\r\n${lines.join('\r\n')}\r\nEND:VTODO\r\n`);
  return `BEGIN:VCALENDAR\r\nVERSION:2.0\r\n${blocks.join('')}END:VCALENDAR\r\n`;
};

/** The fields of a request to the API. */
const fieldsOf = (input: Record<string, any>): TaskPatch => {
  const { status, priority, due_at, references, ...rest } = input;
  return {
    ...rest,
    ...(status && { status: STATUSES.indexOf(status) }),
    ...(priority && { priority: PRIORITIES.indexOf(priority) }),
    ...(due_at !== undefined && { due_at: due_at && new Date(due_at) }),
    ...(references && { refs: references }),
  };
};

const rowOf = (task: TaskRow): TaskResourceRow => {
  const row = { ...task, is_repeated: task.next_task_id !== null };
  return JSON.parse(JSON.stringify(row)) as TaskResourceRow;
};

const valuesIn = ({ todo, others }: SingleTodo, zone: string): TodoValues => {
  const clock = clockOf(others, zone);
  assertOrder(todo, clock);
  return readTodo(todo, others, clock);
};

const changed = (change: unknown): TaskChange => {
  if (!change || !(change as TaskChange).task) throw new Error(JSON.stringify(change));
  return change as TaskChange;
};

/** The task that a program creates. */
export function putTodo(lines: readonly string[], ...instances: (readonly string[])[]): TaskRow {
  const text = singleTodo(Buffer.from(textOf(lines, ...instances)));
  const values = valuesIn(text, BERLIN);
  const fields = fieldsOf(createdInput('folder', values, text));
  const recurrence = fields.recurrence && { ...fields.recurrence, ...values.place };
  const icalendar = keptOf(text, values, { ...values, completedAt: null, zone: BERLIN });
  const patch = { ...fields, ...(recurrence && { recurrence }), uid: text.uid, icalendar };
  return changed(createTask({ ...facts, timeZone: BERLIN }, { id: 'one', userId: 'ann', patch })).task;
}

/** The task after a request to the API. */
export function patchTask(task: TaskRow, patch: TaskPatch): TaskRow {
  return changed(updateTask({ ...facts, task }, { userId: 'ann', patch, base: null, nextId: 'next' })).task;
}

/** The task after a program has sent its text with changes. */
export function putAgain(task: TaskRow, change: (text: string) => string): TaskRow {
  const row = rowOf(task);
  const shownText = textOfTodo(todoOf(row), true);
  const text = singleTodo(Buffer.from(change(shownText)));
  const next = valuesIn(text, row.time_zone);
  const shown = singleTodo(Buffer.from(shownText));
  const before = shownValues(row, shown, clockOf(shown.others, row.time_zone));
  const input = changedInput(row, before, next, text);
  const [kept, old] = [keptOf(text, next, valuesOf(row)), keptOf(shown, before, valuesOf(row))];
  const isKept = isDeepStrictEqual(kept, old);
  if (isKept && Object.keys(input).length === 0) return task;
  const recurrence = placedRecurrence(row, before, next);
  return patchTask(task, {
    ...fieldsOf(input),
    ...(recurrence && { recurrence }),
    ...(!isKept && { icalendar: kept }),
  });
}

const SERIES = /^(?:RECURRENCE-ID|DTSTART|DUE|DURATION|RRULE|RDATE|EXDATE)\b/;

/** The lines of the times and of the series that programs read, with those of changed instances, in the order of their texts. */
export function seriesLines(task: TaskRow): string[] {
  const { todo, others } = todoOf(rowOf(task));
  const texts = [todo, ...others].map((each) => formatComponent(each).replaceAll('\r\n ', ''));
  return texts
    .flatMap((text) => text.split('\r\n'))
    .filter((line) => SERIES.test(line))
    .toSorted();
}

/** The due times of the open instances that programs read. */
export function instancesOf(task: TaskRow, from: string, to: string): string[] {
  const row = rowOf(task);
  const text = todoOf(row);
  const window = { from: Date.parse(from) / 1000, to: Date.parse(to) / 1000 };
  const todos = expandedTodo(text, clockOf(text.others, row.time_zone), window) ?? [];
  return todos
    .filter((each) => !/COMPLETED|CANCELLED/.test(propertyOf(each, 'STATUS')?.value ?? ''))
    .map((each) => propertyOf(each, 'DUE')?.value ?? '');
}

/** The due times of a task and of those that follow as each one is completed. */
export function completions(task: TaskRow, count: number): string[] {
  const found: string[] = [];
  for (let each: TaskRow | undefined = task; each && found.length < count;) {
    found.push(
      each.due_at?.toISOString().replaceAll(/[-:]|\.000/g, '') ?? each.date?.replaceAll('-', '') ?? '',
    );
    const command: UpdateCommand = { userId: 'ann', patch: { status: 2 }, base: null, nextId: `${each.id}+` };
    each = changed(updateTask({ ...facts, task: each }, command)).next?.task;
  }
  return found;
}
