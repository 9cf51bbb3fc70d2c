import type { Question } from '../definition.js';
import { compact, type Fields, isObject } from '../fields.js';
import { type AnswerCheck, checkOrder, type Kind, problem } from './kind.js';

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

/** A day of the Gregorian calendar from the year 1 on. */
export function isDate(value: unknown): value is string {
  const match = typeof value === 'string' ? DATE.exec(value) : null;
  if (!match || match[1] === '0000') return false;
  const day = new Date(`${match[0]}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(match[0]);
}

const isTime = (value: unknown): value is string => typeof value === 'string' && TIME.test(value);

/** Reads `min` and `max`, which have the form of answers. */
const bounds =
  (valid: (value: unknown) => boolean, form: string) =>
  (fields: Fields): Partial<Question> => {
    const validation = fields.object('validation');
    if (!validation) return {};
    const bound = (name: string): string | undefined => {
      const value = validation.value(name);
      if (value === undefined || valid(value)) return value as string | undefined;
      validation.problem(name, 'is_date', `must have the form ${form}`);
      return undefined;
    };
    const [min, max] = [bound('min'), bound('max')];
    checkOrder(validation, 'min', 'max', [min, max]);
    return { validation: compact({ min, max }) };
  };

function outside({ validation }: Question, from: string, to: string): AnswerCheck | undefined {
  const { min, max } = validation ?? {};
  if (typeof min === 'string' && from < min) return problem('min', `must not be before ${min}`);
  if (typeof max === 'string' && to > max) return problem('max', `must not be after ${max}`);
  return undefined;
}

const point = (kind: 'date' | 'time', valid: (value: unknown) => value is string, form: string): Kind => ({
  comparison: 'order',
  summary: 'range',
  parse: bounds(valid, form),
  check: (question, value) => {
    if (!valid(value)) return problem(`is_${kind}`, `must be a ${kind} in the form ${form}`);
    return outside(question, value, value) ?? { answer: value };
  },
  cells: (_question, answer) => [{ kind, value: answer as string }],
});

export const DATE_KIND = point('date', isDate, 'YYYY-MM-DD');
export const TIME_KIND = point('time', isTime, 'HH:MM');

export const DATE_RANGE: Kind = {
  comparison: 'none',
  summary: 'range',
  parse: bounds(isDate, 'YYYY-MM-DD'),
  check: (question, value) => {
    if (!isObject(value) || !isDate(value['from']) || !isDate(value['to']))
      return problem('is_date_range', 'must have from and to in the form YYYY-MM-DD');
    const { from, to } = value as { from: string; to: string };
    if (to < from) return problem('is_date_range', 'must not end before it begins');
    return outside(question, from, to) ?? { answer: { from, to } };
  },
  columns: () => [
    { id: 'from', label: 'from' },
    { id: 'to', label: 'to' },
  ],
  cells: (_question, answer, columns) =>
    columns.map((id) => ({ kind: 'date', value: (answer as Record<string, string>)[id] as string })),
};
