import { composeText, foldCase } from '../text/index.js';
import type { Answer, Condition, Definition, Question, Rule } from './definition.js';

type Given = ReadonlyMap<string, Answer>;

/** Whether a condition holds for the answers to visible questions. Without an answer, only negated operators hold. */
export function holds({ question, operator, value }: Condition, answers: Given): boolean {
  const answer = answers.get(question);
  if (operator === 'answered') return answer !== undefined;
  if (operator === 'not_answered') return answer === undefined;
  const negated = operator === 'not_equals' || operator === 'not_contains';
  if (answer === undefined) return negated;
  switch (operator) {
    case 'equals':
      return equals(answer, value);
    case 'not_equals':
      return !equals(answer, value);
    case 'in':
      return (value as string[]).includes(answer as string);
    case 'contains':
      return contains(answer, value as string);
    case 'not_contains':
      return !contains(answer, value as string);
    case 'greater_than':
      return answer > value!;
    case 'less_than':
      return answer < value!;
    case 'at_least':
      return answer >= value!;
    case 'at_most':
      return answer <= value!;
  }
}

/** Canonically equivalent texts are one: keyboards and file names of Apple decompose accents. */
const equals = (answer: unknown, value: unknown): boolean =>
  typeof answer === 'string' && typeof value === 'string'
    ? composeText(answer) === composeText(value)
    : answer === value;

/** False for an answer to an older version in which the question had another type. */
const contains = (answer: Answer, value: string): boolean =>
  Array.isArray(answer)
    ? answer.includes(value)
    : typeof answer === 'string' && foldCase(answer).includes(foldCase(value));

/**
 * Orders questions so that visibility can be decided one by one: each question follows those to which its rules and the rules of
 * its section refer.
 */
export class LogicPlan {
  /** Questions in that order; undefined for logic with a cycle. */
  readonly order: readonly Question[] | undefined;
  private readonly rules: ReadonlyMap<string, Rule[]>;
  private readonly sectionOf = new Map<string, string>();

  constructor(definition: Definition) {
    this.rules = Map.groupBy(definition.logic, ({ target }) => target);
    for (const section of definition.sections)
      for (const { id } of section.questions) this.sectionOf.set(id, section.id);
    this.order = this.sorted(definition.sections.flatMap(({ questions }) => questions));
  }

  /** @param answers to the questions before this one that are visible */
  isVisible({ id }: Question, answers: Given): boolean {
    return this.isShown(id, answers) && this.isShown(this.sectionOf.get(id) as string, answers);
  }

  isRequired({ id, required }: Question, answers: Given): boolean {
    return required || this.of(id, 'require').some((rule) => applies(rule, answers));
  }

  private isShown(target: string, answers: Given): boolean {
    const show = this.of(target, 'show');
    if (show.length > 0 && !show.some((rule) => applies(rule, answers))) return false;
    return !this.of(target, 'skip').some((rule) => applies(rule, answers));
  }

  private of(target: string, action: Rule['action']): Rule[] {
    return (this.rules.get(target) ?? []).filter((rule) => rule.action === action);
  }

  private sorted(questions: readonly Question[]): Question[] | undefined {
    const pending = new Map(questions.map(({ id }) => [id, new Set(this.dependencies(id))]));
    const order: Question[] = [];
    let left = [...questions];
    while (left.length > 0) {
      const ready = left.filter(({ id }) => pending.get(id)!.size === 0);
      if (ready.length === 0) return undefined;
      order.push(...ready);
      left = left.filter((question) => !ready.includes(question));
      for (const { id } of left) for (const done of ready) pending.get(id)!.delete(done.id);
    }
    return order;
  }

  /** Ids of the questions on whose answers the visibility of this one depends. */
  private dependencies(id: string): string[] {
    const rules = [...(this.rules.get(id) ?? []), ...(this.rules.get(this.sectionOf.get(id) ?? '') ?? [])];
    return rules.flatMap(({ conditions }) => conditions.map(({ question }) => question));
  }
}

function applies({ match, conditions }: Rule, answers: Given): boolean {
  return match === 'all'
    ? conditions.every((condition) => holds(condition, answers))
    : conditions.some((condition) => holds(condition, answers));
}
