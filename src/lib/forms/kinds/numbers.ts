import type { Question } from '../definition.js';
import { compact, type Fields } from '../fields.js';
import { type AnswerCheck, checkOrder, type Kind, problem } from './kind.js';

const NUMERIC = {
  comparison: 'number',
  summary: 'number',
  cells: (_question, answer) => [{ kind: 'number', value: answer as number }],
} satisfies Partial<Kind>;

function checkNumber({ validation = {} }: Question, value: unknown): AnswerCheck {
  const { min, max, integer } = validation;
  if (typeof value !== 'number' || !Number.isFinite(value)) return problem('is_number', 'must be a number');
  if (integer && !Number.isInteger(value)) return problem('is_int', 'must be a whole number');
  if (typeof min === 'number' && value < min) return problem('min', `must be at least ${min}`);
  if (typeof max === 'number' && value > max) return problem('max', `must be at most ${max}`);
  // JSON has no -0.
  return { answer: value === 0 ? 0 : value };
}

function within(value: unknown, min: number, max: number): AnswerCheck {
  const valid = Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
  return valid
    ? { answer: value as number }
    : problem('is_int', `must be a whole number from ${min} to ${max}`);
}

/** A scale with the bounds of its settings. @param low allowed values of `settings.min` @param high of `settings.max` */
const scale = (low: [number, number], high: [number, number], otherwise: [number, number]): Kind => ({
  ...NUMERIC,
  parse: (fields: Fields) => {
    const settings = fields.object('settings');
    if (!settings) return {};
    const labels = {
      min_label: settings.text('min_label', 200) || undefined,
      max_label: settings.text('max_label', 200) || undefined,
    };
    const min = settings.integer('min', ...low) ?? otherwise[0];
    const max = settings.integer('max', ...high) ?? otherwise[1];
    return { settings: compact({ min, max, ...labels }) };
  },
  check: ({ settings }, value) => within(value, settings?.min ?? otherwise[0], settings?.max ?? otherwise[1]),
});

export const NUMBER: Kind = {
  ...NUMERIC,
  parse: (fields) => {
    const validation = fields.object('validation');
    if (!validation) return {};
    const [min, max] = [validation.number('min'), validation.number('max')];
    checkOrder(validation, 'min', 'max', [min, max]);
    return { validation: compact({ min, max, integer: validation.boolean('integer') || undefined }) };
  },
  check: checkNumber,
};

export const LINEAR_SCALE = scale([0, 1], [2, 10], [1, 5]);
export const RATING = scale([1, 1], [2, 10], [1, 5]);
export const NPS: Kind = { ...scale([0, 0], [10, 10], [0, 10]), summary: 'nps' };
