/** The script classes of Word. */
export type Script = 'plain' | 'rtl' | 'complex' | 'chinese' | 'japanese' | 'korean';

export type Direction = 'ltr' | 'rtl';

interface Segment {
  text: string;
  script: Script;
}

const extensions = (names: string): string =>
  names
    .split(' ')
    .map((name) => String.raw`\p{scx=${name}}`)
    .join('');

const RTL = extensions('Arab Hebr Syrc Thaa Nkoo Adlm Samr Mand Rohg');
/** Left-to-right scripts for which Word uses the "complex script" font, size and weight. */
const COMPLEX = extensions('Thai Laoo Khmr Mymr Tibt Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh');
const EAST_ASIAN = `${extensions('Han Hira Kana Hang Bopo')}\\u3000-\\u303F\\uFF00-\\uFFEF`;

/** Runs of one script. White space, digits and punctuation between two right-to-left runs belong to them. */
const STRETCH = new RegExp(
  `([${RTL}](?:[^\\p{L}]{0,64}?[${RTL}])*)|([${COMPLEX}](?:[^\\p{L}]{0,64}?[${COMPLEX}])*)|([${EAST_ASIAN}]+)`,
  'gu',
);

const HANGUL = /\p{scx=Hang}/u;
const KANA = /[\p{sc=Hira}\p{sc=Kana}]/u;
const STRONG = /\p{L}/u;
const STRONG_RTL = new RegExp(`^[${RTL}]`, 'u');
const WORDS = /[\p{L}\p{N}]+/gu;
/** Text without these characters is Latin, which is the usual case. */
const BEYOND_LATIN = /[^\u0000-\u058F]/u; // oxlint-disable-line no-control-regex -- a range, not a character

/** The direction of the first letter, for text without `dir`; undefined without letters. */
export function firstStrong(text: string): Direction | undefined {
  const letter = STRONG.exec(text)?.[0];
  return letter === undefined ? undefined : STRONG_RTL.test(letter) ? 'rtl' : 'ltr';
}

/**
 * Splits a text where Word needs another font or direction.
 *
 * @param around direction of the paragraph, for neutral characters (digits, brackets)
 * @param language of the text, if known: Chinese, Japanese and Korean share their ideographs
 */
export function segments(text: string, around: Direction | undefined, language?: string): Segment[] {
  const found: Segment[] = [];
  const between = (part: string): void => void found.push(...otherScripts(part, around));
  if (!BEYOND_LATIN.test(text)) {
    between(text);
    return found;
  }
  let end = 0;
  for (const match of text.matchAll(STRETCH)) {
    const [stretch, rtl, complex] = match;
    if (match.index > end) between(text.slice(end, match.index));
    found.push({ text: stretch, script: rtl ? 'rtl' : complex ? 'complex' : eastAsian(stretch, language) });
    end = match.index + stretch.length;
  }
  if (end < text.length) between(text.slice(end));
  return found;
}

/** Text in other scripts. In a right-to-left paragraph, punctuation at its ends belongs to the paragraph. */
function otherScripts(text: string, around: Direction | undefined): Segment[] {
  if (around !== 'rtl') return [{ text, script: 'plain' }];
  const [before, middle, after] = edges(text);
  const parts: Segment[] = [
    { text: before, script: 'rtl' },
    { text: middle, script: /\p{L}/u.test(middle) ? 'plain' : 'rtl' },
    { text: after, script: 'rtl' },
  ];
  return parts.filter((part) => part.text !== '');
}

/** Neutral characters at the start of a text, the part with letters and digits, and neutral characters at the end. */
function edges(text: string): [before: string, middle: string, after: string] {
  // Not by one expression with `.*?`: its time is quadratic in a run of neutral characters.
  let start = text.length;
  let end = text.length;
  for (const { 0: word, index } of text.matchAll(WORDS)) {
    start = Math.min(start, index);
    end = index + word.length;
  }
  return [text.slice(0, start), text.slice(start, end), text.slice(end)];
}

function eastAsian(text: string, language: string | undefined): Script {
  if (HANGUL.test(text)) return 'korean';
  if (KANA.test(text)) return 'japanese';
  const given = language?.slice(0, 2).toLowerCase();
  return given === 'ja' ? 'japanese' : given === 'ko' ? 'korean' : 'chinese';
}
