import { RE2JS } from 're2js';
import { asciiDigits, charactersOf, composeText, mailAddress } from '../../text/index.js';
import {
  ANSWER_LIMITS,
  type AnswerFile,
  DEFINITION_LIMITS,
  type Question,
  type Validation,
} from '../definition.js';
import { compact, type Fields, isObject, isPlainText } from '../fields.js';
import { type AnswerCheck, checkOrder, type Kind, problem, text } from './kind.js';

/** Patterns of users run in linear time (RE2), so that no pattern can block the process. */
export interface Pattern {
  /** Whether the whole text matches. */
  matches(text: string): boolean;
}

/** Sum of the counted repetitions, which multiply the size of the compiled pattern. */
const MAX_REPETITIONS = 200;
/** Maximum length of a text with a pattern. The time grows with the product of both lengths. */
export const MAX_MATCHED_TEXT = 1_000;

/** @returns null for an invalid pattern, or one that is too large */
export function compilePattern(pattern: string): Pattern | null {
  if (pattern.length > DEFINITION_LIMITS.pattern) return null;
  const counts = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].map(([, min, max]) => Number(max || min));
  if (counts.reduce((sum, count) => sum + count, 0) > MAX_REPETITIONS) return null;
  try {
    const compiled = RE2JS.compile(pattern);
    return { matches: (text) => compiled.matches(text) };
  } catch {
    return null;
  }
}

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

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const CONTENT_TYPE = /^[a-z]+\/(?:\*|[\w.+-]+)$/;

/** True or false. Where it is required, it must be true. */
export const CONSENT: Kind = {
  comparison: 'boolean',
  summary: 'boolean',
  check: (_question, value, isRequired) => {
    if (typeof value !== 'boolean') return problem('is_boolean', 'must be true or false');
    return isRequired && !value ? problem('required', 'must be accepted') : { answer: value };
  },
  cells: (_question, answer) => [{ kind: 'boolean', value: answer as boolean }],
};

/** `{ upload_ids }` on submission; the stored answer has the names, sizes and types of the files. */
export const FILE: Kind = {
  comparison: 'none',
  summary: 'files',
  parse: (fields) => {
    const settings = fields.object('settings');
    if (!settings) return {};
    const types = settings.entries('content_types', 50);
    if (types.some((type) => typeof type !== 'string' || type.length > 100 || !CONTENT_TYPE.test(type)))
      settings.problem('content_types', 'is_content_type', 'must contain types such as image/png or image/*');
    return {
      settings: compact({
        max_files: settings.integer('max_files', 1, ANSWER_LIMITS.files),
        max_bytes: settings.integer('max_bytes', 1, ANSWER_LIMITS.fileBytes),
        content_types: types.length > 0 ? (types as string[]) : undefined,
      }),
    };
  },
  check: ({ settings }, value) => {
    const ids: unknown = isObject(value) ? value['upload_ids'] : undefined;
    if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string' && UUID.test(id)))
      return problem('is_upload', 'must have upload_ids with ids of uploads');
    const uploads = ids.map((id: string) => id.toLowerCase());
    if (new Set(uploads).size < uploads.length) return problem('unique', 'must name each upload once');
    const max = settings?.max_files ?? 1;
    if (uploads.length > max) return problem('max_files', `must have at most ${max} files`);
    return { answer: { upload_ids: uploads } };
  },
  cells: (_question, answer) => [
    text(((answer as { files?: AnswerFile[] }).files ?? []).map(({ name }) => name).join('; ')),
  ],
};

/** Text without an answer. */
export const SECTION_TEXT: Kind = {
  comparison: 'none',
  summary: 'text',
  check: () => problem('not_answerable', 'takes no answer'),
  columns: () => [],
  cells: () => [],
};

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

/** Text without control characters. */
function plain(value: unknown, check: (given: string) => AnswerCheck): AnswerCheck {
  if (typeof value !== 'string') return problem('is_string', 'must be text');
  if (charactersOf(value) > ANSWER_LIMITS.text)
    return problem('max_length', `must be at most ${ANSWER_LIMITS.text} characters long`);
  if (!isPlainText(value)) return problem('characters', 'must not contain control characters');
  return check(value);
}

/** Whether a text keeps the rules of its question. */
function checkRules(question: Question, answer: string): AnswerCheck {
  const { min_length: min = 0, pattern, pattern_message: message } = question.validation ?? {};
  const limit = pattern ? MAX_MATCHED_TEXT : ANSWER_LIMITS.text;
  const max = Math.min(question.validation?.max_length ?? limit, limit);
  const length = charactersOf(answer);
  if (length < min) return problem('min_length', `must be at least ${min} characters long`);
  if (length > max) return problem('max_length', `must be at most ${max} characters long`);
  if (patternOf(question)?.matches(answer) === false)
    return problem('pattern', message ?? 'must have the required form');
  return { answer };
}

const checkText = (question: Question, value: unknown, lines: boolean): AnswerCheck =>
  plain(value, (given) =>
    !lines && /[\n\r]/.test(given)
      ? problem('one_line', 'must be one line')
      : // Keyboards and file names of Apple decompose accents.
        checkRules(question, composeText(given)),
  );

/** Text in a fixed form, of which a question may accept a part, such as addresses of one domain. */
const formatted = (code: string, message: string, valid: (value: string) => string | null): Kind => ({
  ...TEXT,
  parse: parseText,
  check: (question, value) =>
    plain(value, (given) => {
      const answer = valid(given.trim());
      return answer === null ? problem(code, message) : checkRules(question, answer);
    }),
});

/** Without dots at an end or in a row (RFC 5321, 4.1.2), or hyphens at an end of a label of the domain (RFC 1123, 2.1). */
const ATOM = String.raw`[^\s@.<>(),;:"[\]\\]+`;
const EMAIL_LABEL = `(?!-)${ATOM}(?<!-)`;
const EMAIL = new RegExp(
  String.raw`^(?=[^@]{1,64}@.{1,255}$)${ATOM}(?:\.${ATOM})*@${EMAIL_LABEL}(?:\.${EMAIL_LABEL})+$`,
  'u',
);
const PHONE = /^\+?[\d ()./\p{Pd}]{3,40}(?:(?:;ext=|#|x|extn?\.?) ?\d{1,7})?$/iu;

const INVISIBLE = /[\s\p{Cf}]/u;

/** Without blanks and marks around a pasted text, such as those of its direction. */
function trimInvisible(text: string): string {
  const characters = [...text];
  const isVisible = (character: string): boolean => !INVISIBLE.test(character);
  const end = characters.findLastIndex(isVisible) + 1;
  return characters.slice(0, end).slice(characters.findIndex(isVisible)).join('');
}

function httpUrl(given: string): string | null {
  const value = trimInvisible(given);
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
