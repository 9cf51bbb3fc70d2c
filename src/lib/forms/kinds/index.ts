import type { Question, QuestionType } from '../definition.js';
import { MATRIX, MULTIPLE_CHOICE, RANKING, SINGLE_CHOICE } from './choices.js';
import {
  COLOR,
  CONSENT,
  DATE_KIND,
  DATE_RANGE,
  EMAIL_ADDRESS,
  FILE,
  LINEAR_SCALE,
  LONG_TEXT,
  NPS,
  NUMBER,
  PHONE_NUMBER,
  RATING,
  SECTION_TEXT,
  SHORT_TEXT,
  TIME_KIND,
  WEB_ADDRESS,
} from './values.js';
import type { Kind } from './kind.js';

const KINDS: Record<QuestionType, Kind> = {
  short_text: SHORT_TEXT,
  long_text: LONG_TEXT,
  email: EMAIL_ADDRESS,
  phone: PHONE_NUMBER,
  url: WEB_ADDRESS,
  color: COLOR,
  number: NUMBER,
  linear_scale: LINEAR_SCALE,
  rating: RATING,
  nps: NPS,
  date: DATE_KIND,
  time: TIME_KIND,
  date_range: DATE_RANGE,
  single_choice: SINGLE_CHOICE,
  dropdown: SINGLE_CHOICE,
  multiple_choice: MULTIPLE_CHOICE,
  ranking: RANKING,
  matrix: MATRIX,
  consent: CONSENT,
  file: FILE,
  section_text: SECTION_TEXT,
};

export const kindOf = ({ type }: Pick<Question, 'type'>): Kind => KINDS[type];

/** Whether the question takes an answer. */
export const isAnswerable = ({ type }: Pick<Question, 'type'>): boolean => type !== 'section_text';
