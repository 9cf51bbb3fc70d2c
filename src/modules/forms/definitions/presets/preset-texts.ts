import type { Definition, Option, Question, QuestionType, Rule } from '../../../../lib/forms/index.js';

export const LANGUAGES = ['en', 'de', 'pt', 'vi'] as const;
export type Language = (typeof LANGUAGES)[number];

/** A text in each language: English, German, Portuguese, Vietnamese. */
type Texts = readonly [en: string, de: string, pt: string, vi: string];

interface PresetQuestion {
  id: string;
  type: QuestionType;
  title: Texts;
  required?: boolean;
  options?: readonly (readonly [id: string, label: Texts])[];
  rows?: readonly (readonly [id: string, label: Texts])[];
  validation?: Question['validation'];
  settings?: Question['settings'];
}

export interface PresetSource {
  id: string;
  category: string;
  title: Texts;
  description: Texts;
  questions: readonly PresetQuestion[];
  logic?: readonly Omit<Rule, 'id' | 'match'>[];
}

export interface Preset {
  id: string;
  category: string;
  title: string;
  description: string;
  definition: Definition;
}

/** A rule that shows a question after this answer to another one. */
export const showIf = (target: string, question: string, value: string): Omit<Rule, 'id' | 'match'> => ({
  action: 'show',
  target,
  conditions: [{ question, operator: 'equals', value }],
});

/** A preset in one language. */
export function translatePreset(source: PresetSource, language: Language): Preset {
  const text = (texts: Texts): string => texts[LANGUAGES.indexOf(language)]!;
  const options = (list: PresetQuestion['options']): Option[] | undefined =>
    list?.map(([id, label]) => ({ id, label: text(label) }));
  const questions = source.questions.map((question) => ({
    help: '',
    required: false,
    ...question,
    title: text(question.title),
    ...(question.options && { options: options(question.options)! }),
    ...(question.rows && { rows: options(question.rows)! }),
  })) as Question[];
  const { id, category, logic = [] } = source;
  return {
    id,
    category,
    title: text(source.title),
    description: text(source.description),
    definition: {
      sections: [{ id: 'main', title: '', description: '', questions }],
      logic: logic.map((rule, n) => ({ id: `rule-${n + 1}`, match: 'all', ...rule })),
    },
  };
}

export const YES_NO = [
  ['yes', ['Yes', 'Ja', 'Sim', 'Có']],
  ['no', ['No', 'Nein', 'Não', 'Không']],
] as const satisfies PresetQuestion['options'];

export const NAME: PresetQuestion = {
  id: 'name',
  type: 'short_text',
  title: ['Name', 'Name', 'Nome', 'Họ và tên'],
  required: true,
};

export const EMAIL: PresetQuestion = {
  id: 'email',
  type: 'email',
  title: ['E-mail address', 'E-Mail-Adresse', 'Endereço de e-mail', 'Địa chỉ e-mail'],
  required: true,
};

export const COMMENTS: PresetQuestion = {
  id: 'comments',
  type: 'long_text',
  title: ['Comments', 'Anmerkungen', 'Comentários', 'Ý kiến khác'],
};

export const AGREEMENT = [
  ['disagree', ['Disagree', 'Stimme nicht zu', 'Discordo', 'Không đồng ý']],
  ['neutral', ['Neutral', 'Neutral', 'Neutro', 'Trung lập']],
  ['agree', ['Agree', 'Stimme zu', 'Concordo', 'Đồng ý']],
] as const satisfies PresetQuestion['options'];
