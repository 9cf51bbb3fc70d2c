import { hasVisibleCharacter } from '../text/index.js';
import {
  ACTIONS,
  type Condition,
  type Definition,
  DEFINITION_LIMITS,
  OPERATORS,
  type Operator,
  type Problem,
  type Question,
  QUESTION_TYPES,
  questionsOf,
  type Rule,
  type Section,
} from './definition.js';
import { compact, Fields } from './fields.js';
import { isDate } from './kinds/values.js';
import { isAnswerable, kindOf } from './kinds/index.js';
import type { Comparison } from './kinds/kind.js';
import { LogicPlan } from './logic.js';

const ORDERED: readonly Operator[] = [
  'equals',
  'not_equals',
  'greater_than',
  'less_than',
  'at_least',
  'at_most',
];

/** Maximum number of questions with a pattern. It bounds the time to check a response. */
const MAX_PATTERNS = 50;

/** Operators of a comparison besides `answered` and `not_answered`. */
const OPERATORS_OF: Record<Comparison, readonly Operator[]> = {
  text: ['equals', 'not_equals', 'contains', 'not_contains'],
  number: ORDERED,
  order: ORDERED,
  choice: ['equals', 'not_equals', 'in'],
  choices: ['contains', 'not_contains'],
  boolean: ['equals', 'not_equals'],
  none: [],
};

/**
 * Reads an untrusted definition. Unknown members are dropped; unknown types, operators and ids are errors.
 * @returns the canonical definition, to be used only when there are no problems
 */
export function checkDefinition(plain: unknown): { definition: Definition; problems: Problem[] } {
  const problems: Problem[] = [];
  const definition: Definition = { sections: [], logic: [] };
  const fields = Fields.of(plain, '', problems);
  if (!fields) return { definition, problems };
  definition.sections = sectionsOf(fields);
  definition.logic = logicOf(fields, definition);
  if (problems.length === 0) checkWhole(fields, definition);
  return { definition, problems };
}

function checkWhole(fields: Fields, definition: Definition): void {
  if (Buffer.byteLength(JSON.stringify(definition)) > DEFINITION_LIMITS.bytes)
    fields.problem('sections', 'max_bytes', `must be at most ${DEFINITION_LIMITS.bytes} bytes of JSON`);
  if (questionsOf(definition).length > DEFINITION_LIMITS.questions)
    fields.problem('sections', 'max_questions', `must have at most ${DEFINITION_LIMITS.questions} questions`);
  else if (questionsOf(definition).filter(({ validation }) => validation?.pattern).length > MAX_PATTERNS)
    fields.problem('sections', 'max_patterns', `must have at most ${MAX_PATTERNS} questions with a pattern`);
  else if (!new LogicPlan(definition).order)
    fields.problem('logic', 'acyclic', 'must not make a question depend on itself');
}

/** Errors that a draft may have, but not a published version. */
export function checkComplete(definition: Definition): Problem[] {
  const problems = definition.sections.flatMap(({ questions }, section) =>
    questions.flatMap((question, n) => {
      const path = `sections.${section}.questions.${n}`;
      const missing = hasVisibleCharacter(question.title)
        ? kindOf(question).incomplete?.(question)
        : 'needs a title';
      return missing ? [{ path, code: 'incomplete', message: `${path} ${missing}` }] : [];
    }),
  );
  if (!questionsOf(definition).some(isAnswerable))
    problems.push({ path: 'sections', code: 'no_questions', message: 'sections must contain a question' });
  return problems;
}

function sectionsOf(fields: Fields): Section[] {
  const ids = new Set<string>();
  const uniqueId = (entry: Fields): string => {
    const id = entry.id();
    if (id !== '' && ids.has(id)) entry.problem('id', 'unique', 'must be unique in the form');
    ids.add(id);
    return id;
  };
  return fields.list('sections', DEFINITION_LIMITS.sections).map((entry) => ({
    id: uniqueId(entry),
    title: entry.text('title', 500),
    description: entry.text('description', 10_000),
    questions: entry
      .list('questions', DEFINITION_LIMITS.questions)
      .map((question) => questionOf(question, uniqueId(question))),
  }));
}

function questionOf(fields: Fields, id: string): Question {
  const type = fields.oneOf('type', QUESTION_TYPES);
  const question: Question = {
    id,
    type,
    title: fields.text('title', 2_000),
    help: fields.text('help', 10_000),
    required: isAnswerable({ type }) && fields.boolean('required'),
    ...kindOf({ type }).parse?.(fields),
  };
  return compact(question) as Question;
}

function logicOf(fields: Fields, definition: Definition): Rule[] {
  const questions = new Map(questionsOf(definition).map((question) => [question.id, question]));
  const sections = new Set(definition.sections.map(({ id }) => id));
  const ids = new Set<string>();
  return fields.list('logic', DEFINITION_LIMITS.rules).map((entry) => {
    const id = entry.id();
    if (id !== '' && ids.has(id)) entry.problem('id', 'unique', 'must be unique');
    ids.add(id);
    const action = entry.oneOf('action', ACTIONS);
    const target = entry.id('target');
    const known = questions.has(target) || (action !== 'require' && sections.has(target));
    if (!known) entry.problem('target', 'unknown_target', 'must be the id of a question or section');
    const conditions = entry
      .list('conditions', DEFINITION_LIMITS.conditions)
      .map((condition) => conditionOf(condition, questions));
    if (conditions.length === 0) entry.problem('conditions', 'array_min_size', 'must have an entry');
    return { id, action, target, match: entry.oneOf('match', ['all', 'any'], 'all'), conditions };
  });
}

/** Reads a condition of logic or a filter of responses. */
export function conditionOf(fields: Fields, questions: ReadonlyMap<string, Question>): Condition {
  const id = fields.id('question');
  const operator = fields.oneOf('operator', OPERATORS);
  const question = questions.get(id);
  if (!question || !isAnswerable(question)) {
    fields.problem('question', 'unknown_question', 'must be the id of a question');
    return { question: id, operator };
  }
  if (operator === 'answered' || operator === 'not_answered') return { question: id, operator };
  const { comparison } = kindOf(question);
  const value = fields.value('value');
  if (!OPERATORS_OF[comparison].includes(operator))
    fields.problem('operator', 'is_in', `must be an operator of ${question.type}`);
  else if (!isComparable(question, comparison, operator, value))
    fields.problem('value', 'comparable', `must be comparable with answers to ${question.type}`);
  return { question: id, operator, value: value as Condition['value'] };
}

function isComparable(
  question: Question,
  comparison: Comparison,
  operator: Operator,
  value: unknown,
): boolean {
  const isOption = (id: unknown) => (question.options ?? []).some((option) => option.id === id);
  switch (comparison) {
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'order':
      // Stored forms and reports have times such as 24:00, the end of a day.
      return question.type === 'date'
        ? isDate(value)
        : typeof value === 'string' && /^\d\d:\d\d$/.test(value);
    case 'choice':
      if (operator !== 'in') return isOption(value);
      return Array.isArray(value) && value.length > 0 && value.every((id) => isOption(id));
    case 'choices':
      return isOption(value);
    case 'text':
      return typeof value === 'string' && value.length <= 500;
    case 'none':
      return false;
  }
}
