import {
  type Component,
  ICalendarError,
  parseCalendars,
  propertyOf,
  storedUid,
  textOf,
} from '../../../lib/icalendar/index.js';
import { type ApiError, fieldError } from '../../../platform/http/errors.js';
import { isStorable } from '../../../platform/http/storable-text.js';
import type { TodoText } from './todo-merge.js';
import { SERIES_NAMES } from './todo-series.js';
import { dueOf, isDueBefore, startOf, type TodoClock } from './todo-values.js';

/** Codes in `details` of an error about a text that is valid iCalendar, but not one task (RFC 4791, 4.1). */
export const TODO_PROBLEMS = {
  notOneTask: 'not_one_task',
  severalKinds: 'several_kinds',
  unsupportedComponent: 'unsupported_component',
  method: 'method',
} as const;

/** The only task of a text, with the changed instances of its series. */
export interface SingleTodo extends TodoText {
  uid: string;
}

/** @throws ApiError 422 with a code of `TODO_PROBLEMS` or of the library */
export function singleTodo(text: Uint8Array): SingleTodo {
  const { notOneTask, severalKinds, unsupportedComponent, method } = TODO_PROBLEMS;
  const calendars = checkedTodo(() => parseCalendars(text));
  const [calendar] = calendars;
  if (!calendar || calendars.length > 1)
    throw fieldError('', notOneTask, 'The text must have exactly one VCALENDAR.');
  if (!isStorableIn(calendar)) throw fieldError('', 'invalid_value', 'The text must not contain U+0000.');
  if (propertyOf(calendar, 'METHOD')) throw fieldError('', method, 'The text must not have a METHOD.');
  const items = calendar.components.filter(({ name }) => name !== 'VTIMEZONE');
  const kinds = new Set(items.map(({ name }) => name));
  if (kinds.size > 1)
    throw fieldError('', severalKinds, 'The text must not have components of several kinds.');
  if (kinds.size === 1 && !kinds.has('VTODO'))
    throw fieldError('', unsupportedComponent, 'A list of tasks contains tasks only.');
  const [todo, ...more] = items.filter((each) => !propertyOf(each, 'RECURRENCE-ID'));
  const uid = todo && uidOf(todo);
  if (!todo || !uid || more.length > 0 || items.some((each) => uidOf(each) !== uid))
    throw fieldError('', notOneTask, 'The text must have exactly one task, with a UID.');
  return { uid, todo, others: calendar.components.filter((each) => each !== todo) };
}

/** Encoded values are checked too. */
const isStorableIn = ({ properties, components }: Component): boolean =>
  properties.every(
    ({ value, parameters }) =>
      isStorable(value) && parameters.every(({ values }) => values.every((each) => isStorable(each))),
  ) && components.every(isStorableIn);

/** The UID of a task as it is stored; empty without one. */
const uidOf = (todo: Component): string => storedUid(textOf(todo, 'UID')?.trim() ?? '');

/**
 * Programs of telephones store single tasks that are due before their start: these are read without it (`todo-merge.ts`).
 * @throws ApiError 422 for a series of such tasks (RFC 5545, 3.8.2.3)
 */
export function assertOrder(todo: Component, clock: TodoClock): void {
  const [start, due] = [startOf(todo, clock), dueOf(todo, clock)];
  if (start && due && isDueBefore(due, start) && SERIES_NAMES.some((name) => propertyOf(todo, name)))
    throw fieldError('', 'invalid_value', 'DUE must not be before DTSTART.');
}

/** @throws ApiError 422 for errors of the library */
export function checkedTodo<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof ICalendarError ? asApiError(error) : error;
  }
}

const asApiError = ({ code, message }: ICalendarError): ApiError => fieldError('', code, message);
