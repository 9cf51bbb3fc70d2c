import { hasVisibleCharacter } from '../../text/index.js';
import { DEFINITION_LIMITS, type Option, type Question } from '../definition.js';
import { compact, type Fields, isObject } from '../fields.js';
import { type AnswerCheck, checkOrder, type Kind, problem, text } from './kind.js';

const withOptions = (fields: Fields): Partial<Question> => ({
  options: fields.options('options', DEFINITION_LIMITS.options),
});

const withoutOptions = ({ options = [] }: Question): string | undefined =>
  options.length === 0 ? 'needs options' : withoutLabel(options, 'option');

const withoutLabel = (options: readonly Option[], what: string): string | undefined =>
  options.every(({ label }) => hasVisibleCharacter(label)) ? undefined : `needs a label for each ${what}`;

const has = (options: readonly Option[] = [], id: unknown): id is string =>
  options.some((option) => option.id === id);

const labelOf = (options: readonly Option[] = [], id: string | undefined): string | undefined =>
  options.find((option) => option.id === id)?.label ?? id;

const label = (options: readonly Option[] | undefined, id: string | undefined) =>
  id === undefined ? null : text(labelOf(options, id) ?? '');

const unknownOption = (): AnswerCheck => problem('unknown_option', 'must be an option of the question');

export const SINGLE_CHOICE: Kind = {
  comparison: 'choice',
  summary: 'options',
  parse: withOptions,
  incomplete: withoutOptions,
  check: ({ options }, value) => {
    return has(options, value) ? { answer: value } : unknownOption();
  },
  cells: ({ options }, answer) => [label(options, answer as string)],
};

/** Distinct ids of options. */
function checkOptions(options: readonly Option[] | undefined, value: unknown): AnswerCheck {
  if (!Array.isArray(value)) return problem('is_array', 'must be a list of options');
  if (value.length === 0) return { empty: true };
  if (!value.every((id) => has(options, id))) return unknownOption();
  if (new Set(value).size < value.length) return problem('unique', 'must name each option once');
  return { answer: value };
}

export const MULTIPLE_CHOICE: Kind = {
  comparison: 'choices',
  summary: 'options',
  parse: (fields) => {
    const validation = fields.object('validation');
    const min = validation?.integer('min_choices', 1, DEFINITION_LIMITS.options);
    const max = validation?.integer('max_choices', 1, DEFINITION_LIMITS.options);
    if (validation) checkOrder(validation, 'min_choices', 'max_choices', [min, max]);
    return { ...withOptions(fields), validation: compact({ min_choices: min, max_choices: max }) };
  },
  incomplete: (question) =>
    withoutOptions(question) ??
    ((question.validation?.min_choices ?? 0) > question.options!.length
      ? 'requires more choices than it has options'
      : undefined),
  check: ({ options, validation = {} }, value) => {
    const checked = checkOptions(options, value);
    if (!('answer' in checked)) return checked;
    const { min_choices: min = 1, max_choices: max = Infinity } = validation;
    const chosen = checked.answer as string[];
    if (chosen.length < min) return problem('min_choices', `must name at least ${min} options`);
    if (chosen.length > max) return problem('max_choices', `must name at most ${max} options`);
    // In the order of the question, so that equal selections are equal answers.
    return { answer: options!.map(({ id }) => id).filter((id) => chosen.includes(id)) };
  },
  cells: ({ options }, answer) => [text((answer as string[]).map((id) => labelOf(options, id)).join('; '))],
};

/** All options, the best first. */
export const RANKING: Kind = {
  comparison: 'none',
  summary: 'ranks',
  parse: withOptions,
  incomplete: withoutOptions,
  check: ({ options = [] }, value) => {
    const checked = checkOptions(options, value);
    if ('answer' in checked && (checked.answer as string[]).length < options.length)
      return problem('all_options', 'must rank all options');
    return checked;
  },
  columns: ({ options = [] }) => options.map((_, n) => ({ id: String(n + 1), label: String(n + 1) })),
  cells: ({ options }, answer, columns) =>
    columns.map((rank) => label(options, (answer as string[])[Number(rank) - 1])),
};

function checkRow({ options, settings }: Question, value: unknown): AnswerCheck {
  if (settings?.multiple) return checkOptions(options, value);
  return has(options, value) ? { answer: value } : unknownOption();
}

/** Options are the columns of the matrix. */
export const MATRIX: Kind = {
  comparison: 'none',
  summary: 'rows',
  parse: (fields) => ({
    ...withOptions(fields),
    rows: fields.options('rows', DEFINITION_LIMITS.options),
    settings: compact({ multiple: fields.object('settings')?.boolean('multiple') || undefined }),
    validation: compact({ all_rows: fields.object('validation')?.boolean('all_rows') || undefined }),
  }),
  incomplete: (question) =>
    withoutOptions(question) ??
    (question.rows!.length === 0 ? 'needs rows' : withoutLabel(question.rows!, 'row')),
  check: (question, value) => {
    const { rows = [], validation } = question;
    if (!isObject(value)) return problem('is_object', 'must name a column for each row');
    const given = new Map(Object.entries(value).filter(([, column]) => column !== null && column !== ''));
    if ([...given.keys()].some((row) => !has(rows, row)))
      return problem('unknown_row', 'must name rows of the question');
    const answer: Record<string, string | string[]> = {};
    for (const { id } of rows.filter((row) => given.has(row.id))) {
      const checked = checkRow(question, given.get(id));
      if ('problem' in checked) return checked;
      if ('answer' in checked) answer[id] = checked.answer as string | string[];
    }
    if (validation?.all_rows && Object.keys(answer).length < rows.length)
      return problem('all_rows', 'must have an answer for each row');
    return { answer };
  },
  columns: ({ rows = [] }) => rows,
  cells: ({ options }, answer, columns) =>
    columns.map((row) => {
      const value = (answer as Record<string, string | string[]>)[row];
      if (Array.isArray(value)) return text(value.map((id) => labelOf(options, id)).join('; '));
      return label(options, value);
    }),
};
