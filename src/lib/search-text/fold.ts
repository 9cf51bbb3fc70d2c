import { cutText } from '../text/index.js';

/** Maximum code points of a lexeme. Longer words are cut, in texts and in queries alike. */
const MAX_LEXEME = 64;

/**
 * Characters that a search ignores: marks that writers often omit, joiners and hyphens. Other marks count, because they
 * distinguish words: the signs of Indic scripts, Thai vowels and the voicing of kana.
 */
const IGNORED = new RegExp(
  `[${[
    // Accents: Latin, Greek, Cyrillic, Vietnamese.
    '\\u0300-\\u036f\\u0483-\\u0487\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f',
    // Hebrew points.
    '\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7',
    // Arabic vowel signs and tatweel.
    '\\u0610-\\u061a\\u0640\\u064b-\\u065f\\u0670\\u06d6-\\u06dc\\u06df-\\u06e4\\u06e7\\u06e8\\u06ea-\\u06ed',
    // Soft hyphen, joiners, variation selectors.
    '\\u00ad\\u200c\\u200d\\u2060\\ufeff\\ufe00-\\ufe0f',
  ].join('')}]`,
  'g',
);

/** Letters that Unicode does not decompose, with their spelling on keyboards that lack them. */
const LETTERS: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ŧ: 't',
  ı: 'i',
  ŋ: 'ng',
  ς: 'σ',
  ى: 'ي',
  ی: 'ي',
  ک: 'ك',
  ة: 'ه',
};
const LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g');

const NOT_ASCII = /[^\0-\x7f]/;

/**
 * The form in which words are compared: without compatibility variants (NFKC: full width, ligatures), lower case, without accents.
 * Folding is idempotent.
 */
export function fold(word: string): string {
  if (!NOT_ASCII.test(word)) return word.toLowerCase();
  return word
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replace(IGNORED, '')
    .replace(LETTER, (letter) => LETTERS[letter] as string)
    .normalize('NFC');
}

/** A folded word, cut to the length of a lexeme. */
export function cut(word: string): string {
  return cutText(word, MAX_LEXEME);
}
