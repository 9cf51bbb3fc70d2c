import { asciiDigits, charactersOf, mailAddress } from '../../text/index.js';
import { ANSWER_LIMITS, DEFINITION_LIMITS, type Question, type Validation } from '../definition.js';
import { compact, type Fields, isPlainText } from '../fields.js';
import { compilePattern, MAX_MATCHED_TEXT, type Pattern } from '../pattern.js';
import { type AnswerCheck, checkOrder, type Kind, problem, text } from './kind.js';

const TEXT = {
  comparison: 'text',
  summary: 'text',
  cells: (_question, answer) => [text(answer as string)],
} satisfies Partial<Kind>;

const patterns = new WeakMap<Question, Pattern | null>();

function patternOf(question: Question): Pattern | null {
  let pattern = patterns.get(question);
  if (pattern === undefined) {
    pattern = question.validation?.pattern ? compilePattern(question.validation.pattern) : null;
    patterns.set(question, pattern);
  }
  return pattern;
}

function parseText(fields: Fields): Partial<Question> {
  const validation = fields.object('validation');
  if (!validation) return {};
  const min = validation.integer('min_length', 0, ANSWER_LIMITS.text);
  const max = validation.integer('max_length', 1, ANSWER_LIMITS.text);
  checkOrder(validation, 'min_length', 'max_length', [min, max]);
  const pattern = validation.text('pattern', DEFINITION_LIMITS.pattern);
  if (pattern && !compilePattern(pattern))
    validation.problem('pattern', 'is_pattern', 'must be a pattern in RE2 syntax of limited size');
  const rules: Validation = {
    min_length: min,
    max_length: max,
    pattern: pattern || undefined,
    pattern_message: validation.text('pattern_message', 500) || undefined,
  };
  return { validation: compact(rules) };
}

/** Text is stored as given. */
function plain(value: unknown, check: (given: string) => AnswerCheck): AnswerCheck {
  if (typeof value !== 'string') return problem('is_string', 'must be text');
  if (charactersOf(value) > ANSWER_LIMITS.text)
    return problem('max_length', `must be at most ${ANSWER_LIMITS.text} characters long`);
  if (!isPlainText(value)) return problem('characters', 'must not contain control characters');
  return check(value);
}

function checkText(question: Question, value: unknown, lines: boolean): AnswerCheck {
  const { min_length: min = 0, pattern, pattern_message: message } = question.validation ?? {};
  const limit = pattern ? MAX_MATCHED_TEXT : ANSWER_LIMITS.text;
  const max = Math.min(question.validation?.max_length ?? limit, limit);
  return plain(value, (given) => {
    if (!lines && /[\n\r]/.test(given)) return problem('one_line', 'must be one line');
    const length = charactersOf(given);
    if (length < min) return problem('min_length', `must be at least ${min} characters long`);
    if (length > max) return problem('max_length', `must be at most ${max} characters long`);
    if (patternOf(question)?.matches(given) === false)
      return problem('pattern', message ?? 'must have the required form');
    return { answer: given };
  });
}

/** Text in a fixed form. */
const formatted = (code: string, message: string, valid: (value: string) => string | null): Kind => ({
  ...TEXT,
  check: (_question, value) =>
    plain(value, (given) => {
      const answer = valid(given.trim());
      return answer === null ? problem(code, message) : { answer };
    }),
});

const EMAIL = /^[^\s@<>(),;:"[\]\\]{1,64}@(?=.{1,255}$)[^\s@.<>(),;:"[\]\\]+(?:\.[^\s@.<>(),;:"[\]\\]+)+$/u;
const PHONE = /^\+?[\d ()./\p{Pd}]{3,40}(?:(?:;ext=|#|x|extn?\.?) ?\d{1,7})?$/iu;

function httpUrl(value: string): string | null {
  const url = value.length <= 2048 && !/\s/.test(value) ? URL.parse(value) : null;
  return url && /^https?:$/.test(url.protocol) && url.hostname !== '' ? value : null;
}

export const SHORT_TEXT: Kind = {
  ...TEXT,
  parse: parseText,
  check: (question, value) => checkText(question, value, false),
};

export const LONG_TEXT: Kind = {
  ...TEXT,
  parse: parseText,
  check: (question, value) => checkText(question, value, true),
};

export const EMAIL_ADDRESS = formatted('is_email', 'must be an e-mail address', (value) => {
  const address = mailAddress(value);
  return EMAIL.test(address) ? address : null;
});

export const PHONE_NUMBER: Kind = {
  ...formatted('is_phone', 'must be a telephone number', (value) => {
    const number = asciiDigits(value);
    return PHONE.test(number) && (number.match(/\d/g) ?? []).length >= 3 ? value : null;
  }),
  cells: (_question, answer) => [{ kind: 'phone', value: answer as string }],
};

export const WEB_ADDRESS = formatted('is_url', 'must be an http or https address', httpUrl);

export const COLOR = formatted('is_color', 'must be a colour such as #2f80ed', (value) =>
  /^#[\da-f]{6}$/i.test(value) ? value.toLowerCase() : null,
);
