import {
  type Answer,
  type Answers,
  type Definition,
  type Problem,
  type Question,
  questionsOf,
} from './definition.js';
import { hasVisibleCharacter, cutText } from '../text/index.js';
import { isObject } from './fields.js';
import { isAnswerable, kindOf } from './kinds/index.js';
import { LogicPlan } from './logic.js';

/** The result of checking the answers of a respondent. */
export interface CheckedAnswers {
  /** Canonical, without answers to hidden questions. To be used only when there are no problems. */
  answers: Answers;
  /** Hidden questions whose answers are not stored, in the order of the form. */
  discarded: string[];
  /** `path` is the id of a question. */
  problems: Problem[];
}

/** Levels of an answer. */
const MAX_DEPTH = 3;

/** Whether a page sent an input that was left empty: no text, no choice, or fields that are all empty. */
function isBlank(value: unknown, depth = MAX_DEPTH): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value === 'string') return !hasVisibleCharacter(value);
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && depth > 0 && Object.values(value).every((each) => isBlank(each, depth - 1));
}

/** A version of a form, prepared for checking answers. */
export class AnswerChecker {
  readonly questions: ReadonlyMap<string, Question>;
  private readonly plan: LogicPlan;

  constructor(definition: Definition) {
    this.questions = new Map(
      questionsOf(definition)
        .filter(isAnswerable)
        .map((question) => [question.id, question]),
    );
    this.plan = new LogicPlan(definition);
  }

  /** @param plain untrusted: an object of answers by question id; null is no answer */
  check(plain: unknown): CheckedAnswers {
    if (!isObject(plain)) {
      const problem = { path: '', code: 'is_object', message: 'answers must be an object' };
      return { answers: {}, discarded: [], problems: [problem] };
    }
    const given = new Map(Object.entries(plain).filter(([, value]) => value !== null));
    const problems: Problem[] = [...given.keys()]
      .filter((id) => !this.questions.has(id))
      .slice(0, 100)
      .map((id) => ({
        path: cutText(id, 100),
        code: 'unknown_question',
        message: 'the form has no such question',
      }));
    const accepted = new Map<string, Answer>();
    const hidden = new Set<string>();
    for (const question of this.plan.order ?? []) this.take(question, { given, accepted, hidden, problems });
    const ids = [...this.questions.keys()];
    const answers = Object.fromEntries(
      ids.filter((id) => accepted.has(id)).map((id) => [id, accepted.get(id) as Answer]),
    );
    return { answers, discarded: ids.filter((id) => hidden.has(id)), problems };
  }

  private take(
    question: Question,
    state: {
      given: Map<string, unknown>;
      accepted: Map<string, Answer>;
      hidden: Set<string>;
      problems: Problem[];
    },
  ): void {
    if (!isAnswerable(question)) return;
    const { given, accepted, hidden, problems } = state;
    const { id } = question;
    if (!this.plan.isVisible(question, accepted)) {
      if (given.has(id)) hidden.add(id);
      return;
    }
    const value = given.get(id);
    const isRequired = this.plan.isRequired(question, accepted);
    const checked = isBlank(value)
      ? { empty: true as const }
      : kindOf(question).check(question, value, isRequired);
    if ('problem' in checked) problems.push({ path: id, ...checked.problem });
    else if ('answer' in checked) accepted.set(id, checked.answer);
    else if (isRequired) problems.push({ path: id, code: 'required', message: 'must be answered' });
  }
}
