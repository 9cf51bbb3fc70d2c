/** Types of questions. `section_text` is text between questions and takes no answer. */
export const QUESTION_TYPES = [
  'short_text',
  'long_text',
  'email',
  'phone',
  'url',
  'color',
  'number',
  'linear_scale',
  'rating',
  'nps',
  'date',
  'time',
  'date_range',
  'single_choice',
  'dropdown',
  'multiple_choice',
  'ranking',
  'matrix',
  'consent',
  'file',
  'section_text',
] as const;
export type QuestionType = (typeof QUESTION_TYPES)[number];

/** Limits of a definition. */
export const DEFINITION_LIMITS = {
  bytes: 512 * 1024,
  sections: 100,
  questions: 300,
  options: 500,
  rules: 200,
  conditions: 20,
  pattern: 500,
} as const;

/** Limits of answers. */
export const ANSWER_LIMITS = { text: 10_000, files: 10, fileBytes: 20 * 1024 * 1024 } as const;

export interface Option {
  id: string;
  label: string;
}

/** Rules for the answer of a question. Which ones apply depends on its type. */
export interface Validation {
  min_length?: number;
  max_length?: number;
  /** RE2 syntax. The whole text must match. */
  pattern?: string;
  pattern_message?: string;
  min?: number | string;
  max?: number | string;
  integer?: boolean;
  min_choices?: number;
  max_choices?: number;
  /** Every row of a matrix needs an answer. */
  all_rows?: boolean;
}

/** Presentation of a question, and limits of its files. Each type of question uses some of them. */
interface QuestionSettings {
  min?: number;
  max?: number;
  min_label?: string;
  max_label?: string;
  /** A matrix takes several columns for each row. */
  multiple?: boolean;
  max_files?: number;
  max_bytes?: number;
  /** Accepted content types: `application/pdf`, `image/*`. Empty: any. */
  content_types?: string[];
}

export interface Question {
  id: string;
  type: QuestionType;
  title: string;
  help: string;
  required: boolean;
  options?: Option[];
  rows?: Option[];
  validation?: Validation;
  settings?: QuestionSettings;
}

export interface Section {
  id: string;
  title: string;
  description: string;
  questions: Question[];
}

export const OPERATORS = [
  'answered',
  'not_answered',
  'equals',
  'not_equals',
  'in',
  'contains',
  'not_contains',
  'greater_than',
  'less_than',
  'at_least',
  'at_most',
] as const;
export type Operator = (typeof OPERATORS)[number];

export interface Condition {
  question: string;
  operator: Operator;
  /** Missing for `answered` and `not_answered`; a list for `in`. */
  value?: string | number | boolean | string[];
}

export const ACTIONS = ['show', 'skip', 'require'] as const;

/** Applies `action` to `target` while the conditions hold. */
export interface Rule {
  id: string;
  action: (typeof ACTIONS)[number];
  /** Id of a question; of a section too for `show` and `skip`. */
  target: string;
  match: 'all' | 'any';
  conditions: Condition[];
}

/** The content of a form: questions in sections, and the logic between them. */
export interface Definition {
  sections: Section[];
  logic: Rule[];
}

/** A file in a stored answer. */
export interface AnswerFile {
  id: string;
  name: string;
  size: number;
  content_type: string;
}

/** A stored answer. Its form depends on the type of the question. */
export type Answer =
  | string
  | number
  | boolean
  | string[]
  | { from: string; to: string }
  | { upload_ids: string[] }
  | { files: AnswerFile[] }
  | Record<string, string | string[]>;

/** Stored answers by question id. */
export type Answers = Record<string, Answer>;

/** An error in a definition or in answers. */
export interface Problem {
  /** The place in a definition, e.g. `sections.0.questions.2.title`, or the id of the question of an answer. */
  path: string;
  code: string;
  message: string;
}

export const EMPTY_DEFINITION: Definition = { sections: [], logic: [] };

export const questionsOf = ({ sections }: Definition): Question[] =>
  sections.flatMap(({ questions }) => questions);
