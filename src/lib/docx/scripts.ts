/** How Word has to be told to set a piece of text. */
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
/** Scripts that Word keeps the "complex script" font, size and weight for, besides those written from the right. */
const COMPLEX = extensions('Thai Laoo Khmr Mymr Tibt Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh');
const EAST_ASIAN = `${extensions('Han Hira Kana Hang Bopo')}\\u3000-\\u303F\\uFF00-\\uFFEF`;

/** Runs of one script; white space, digits and punctuation between two stretches from the right belong to them. */
const STRETCH = new RegExp(
  `([${RTL}](?:[^\\p{L}]{0,64}?[${RTL}])*)|([${COMPLEX}](?:[^\\p{L}]{0,64}?[${COMPLEX}])*)|([${EAST_ASIAN}]+)`,
  'gu',
);

const HANGUL = /\p{scx=Hang}/u;
const KANA = /[\p{sc=Hira}\p{sc=Kana}]/u;
const STRONG = /\p{L}/u;
const STRONG_RTL = new RegExp(`^[${RTL}]`, 'u');
/** Neutral characters at the edges of a text, and what is between them. */
const EDGES = /^([^\p{L}\p{N}]*)(.*?)([^\p{L}\p{N}]*)$/su;
/** Below this everything is Latin: most text needs no more than this look. */
const BEYOND_LATIN = /[^\u0000-\u058F]/u; // oxlint-disable-line no-control-regex -- a range, not a character

/** The direction that the first letter gives a text without a `dir`; undefined without any letter. */
export function firstStrong(text: string): Direction | undefined {
  const letter = STRONG.exec(text)?.[0];
  return letter === undefined ? undefined : STRONG_RTL.test(letter) ? 'rtl' : 'ltr';
}

/**
 * Cuts a text where Word needs other fonts or another direction.
 *
 * @param around direction of the paragraph: what has no direction of its own (digits, brackets) follows it
 * @param language of the text, where the writer gave one: Chinese, Japanese and Korean share their ideographs
 */
export function segments(text: string, around: Direction | undefined, language?: string): Segment[] {
  const found: Segment[] = [];
  const between = (part: string): void => void found.push(...unmarked(part, around));
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

/** Text in none of the scripts above. In a paragraph from the right, punctuation at its edges belongs to the paragraph. */
function unmarked(text: string, around: Direction | undefined): Segment[] {
  if (around !== 'rtl') return [{ text, script: 'plain' }];
  const [, before = '', middle = '', after = ''] = EDGES.exec(text) ?? [];
  const parts: Segment[] = [
    { text: before, script: 'rtl' },
    { text: middle, script: /\p{L}/u.test(middle) ? 'plain' : 'rtl' },
    { text: after, script: 'rtl' },
  ];
  return parts.filter((part) => part.text !== '');
}

function eastAsian(text: string, language: string | undefined): Script {
  if (HANGUL.test(text)) return 'korean';
  if (KANA.test(text)) return 'japanese';
  const given = language?.slice(0, 2).toLowerCase();
  return given === 'ja' ? 'japanese' : given === 'ko' ? 'korean' : 'chinese';
}
