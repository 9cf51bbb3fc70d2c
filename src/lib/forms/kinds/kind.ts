import type { Answer, Problem, Question } from '../definition.js';
import type { Fields } from '../fields.js';

/** Value of an exported cell. `date` is `YYYY-MM-DD`, `time` is `HH:MM`, `phone` is a checked telephone number. */
export type Cell =
  | { kind: 'text'; value: string }
  | { kind: 'phone'; value: string }
  | { kind: 'number'; value: number }
  | { kind: 'boolean'; value: boolean }
  | { kind: 'date'; value: string }
  | { kind: 'time'; value: string }
  | null;

export type AnswerCheck = { answer: Answer } | { empty: true } | { problem: Omit<Problem, 'path'> };

/** How answers are compared in logic and filters. */
export type Comparison = 'text' | 'number' | 'order' | 'choice' | 'choices' | 'boolean' | 'none';

/** How answers are summarised in analytics. */
type Summary = 'text' | 'number' | 'nps' | 'options' | 'rows' | 'ranks' | 'boolean' | 'range' | 'files';

/** The behaviour of a type of question. */
export interface Kind {
  readonly comparison: Comparison;
  readonly summary: Summary;
  /** Reads the members of a definition that only this type has. */
  parse?(fields: Fields): Partial<Question>;
  /** Errors that a draft may have and a published version may not. */
  incomplete?(question: Question): string | undefined;
  /**
   * The canonical form of an answer that is neither null nor missing.
   * @param isRequired by the question or a rule of the form
   */
  check(question: Question, value: unknown, isRequired: boolean): AnswerCheck;
  /** Names of the columns of an export, appended to the title of the question; one '' for a single column. */
  columns?(question: Question): { id: string; label: string }[];
  /** One cell for each column id. */
  cells(question: Question, answer: Answer, columns: readonly string[]): Cell[];
}

export const text = (value: string): Cell => ({ kind: 'text', value });

export const problem = (code: string, message: string): AnswerCheck => ({ problem: { code, message } });

/** Reports an upper bound that is below the lower one. */
export function checkOrder<T extends number | string>(
  fields: Fields,
  low: string,
  high: string,
  [min, max]: [T | undefined, T | undefined],
): void {
  if (min !== undefined && max !== undefined && max < min)
    fields.problem(high, 'min', `must not be below ${low}`);
}
