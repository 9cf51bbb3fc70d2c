/** Code points of a lexeme; longer words are cut, in texts and in queries alike. */
const MAX_LEXEME = 64;

/**
 * Characters that a search ignores: marks that writers often omit, joiners and hyphens. Other marks count: the signs of Indic
 * scripts, Thai vowels and the voicing of kana make other words.
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

/** Letters that Unicode does not take apart, as people type them who do not have them on the keyboard. */
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
 * A word as it is compared: compatible forms made one (NFKC: full width, ligatures), lower case, without accents.
 * Folding a folded word gives the same.
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

/** The first code points of a folded word that a lexeme holds. */
export function cut(word: string): string {
  return word.length <= MAX_LEXEME ? word : [...word].slice(0, MAX_LEXEME).join('');
}
