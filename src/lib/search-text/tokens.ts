import { cutText, toAsciiDigits } from '../text/index.js';

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
    // Soft hyphen, joiners, spaces without a width, marks of direction, variation selectors.
    '\\u00ad\\u200b-\\u200f\\u2060\\ufeff\\ufe00-\\ufe0f',
  ].join('')}]`,
  'g',
);

/** Letters that Unicode does not decompose, with their spelling on keyboards that lack them. */
const ASCII_LETTERS: Record<string, string> = {
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
const LETTER = new RegExp(`[${Object.keys(ASCII_LETTERS).join('')}]`, 'g');

const NOT_ASCII = /[^\0-\x7f]/;

/**
 * The form in which words are compared: without compatibility variants (NFKC: full width, ligatures), lower case, without accents, with
 * digits in ASCII. Folding is idempotent.
 */
export const fold = (word: string): string =>
  NOT_ASCII.test(word) ? toAsciiDigits(foldLetters(word)) : word.toLowerCase();

/** The folding of versions that kept the digits of each script. */
export function foldLetters(word: string): string {
  if (!NOT_ASCII.test(word)) return word.toLowerCase();
  return word
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replace(IGNORED, '')
    .replace(LETTER, (letter) => ASCII_LETTERS[letter] as string)
    .normalize('NFC');
}

/** A folded word, cut to the length of a lexeme. */
export function cut(word: string): string {
  return cutText(word, MAX_LEXEME);
}

/**
 * `word`: a folded word, an emoji, a number. `run`: folded text of a script without spaces, or of Korean, which appends
 * endings to words; it is searched by pairs of characters.
 */
export interface Token {
  kind: 'word' | 'run';
  text: string;
}

/** The position of a part of a text, with its tokens: several when folding splits the part. */
export interface Span {
  start: number;
  end: number;
  tokens: readonly Token[];
}

/** Characters of the scripts, and shared ones: voicing and tone marks, repetition signs, the long vowel of kana. */
const SPACELESS =
  '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Bopomofo}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}' +
  '\\u302a-\\u302f\\u3031-\\u3035\\u303c\\u3099\\u309a\\u30fc\\uff70\\uff9e\\uff9f';
/** Invisible characters within words are parts of words; letter-like symbols and squared words (㎏, ㌔) become words by NFKC. Two modifier letters are apostrophes. */
const WORDLIKE =
  '[[\\p{L}\\p{N}\\p{M}\\u00ad\\u200b-\\u200f\\u2060\\ufeff\\u2100-\\u214f\\u3300-\\u33ff]--[\\u02bb\\u02bc]]';
const LETTERS = '[[\\p{L}\\p{N}\\p{M}]--[\\u02bb\\u02bc]]';
const LAST_ASCII = 0x7f;
/** An arrow with U+0338 (struck through) is another character and not an emoji. */
const SIGNS = '\\p{RI}{2}|\\p{Extended_Pictographic}(?!\\u0338)';
const pattern = (characters: string, flags: string): RegExp =>
  new RegExp(`([${characters}&&[${SPACELESS}]]+)|[${characters}--[${SPACELESS}]]+|${SIGNS}`, `v${flags}`);
const SPANS = pattern(WORDLIKE, 'g');
const FOLDED = pattern(LETTERS, 'g');

/**
 * Splits a text into words, runs and emoji with their positions, in order. All other characters (spaces, punctuation, markup)
 * separate tokens, so no token contains a character that is special in a query of PostgreSQL.
 */
export function* spans(text: string): Generator<Span> {
  const reader = new SpanReader(text);
  while (reader.next()) yield { start: reader.start, end: reader.end, tokens: reader.tokens };
}

/** Reads the spans of a text like `spans`, without an object for each: a document has a thousand. */
export class SpanReader implements Span {
  start = 0;
  end = 0;
  tokens: readonly Token[] = [];
  private chunkStart = 0;
  private chunkEnd = 0;
  private spans: readonly Span[] = [];
  private read = 0;

  constructor(private readonly text: string) {}

  /** Moves to the next span. @returns false at the end of the text */
  next(): boolean {
    while (this.read === this.spans.length) if (!this.nextChunk()) return false;
    const span = this.spans[this.read] as Span;
    this.read += 1;
    this.start = this.chunkStart + span.start;
    this.end = this.chunkStart + span.end;
    this.tokens = span.tokens;
    return true;
  }

  /** Moves to the characters up to the next ASCII character that is in no span. @returns false at the end of the text */
  private nextChunk(): boolean {
    const { text } = this;
    let start = this.chunkEnd;
    while (start < text.length && isSeparator(text.charCodeAt(start))) start += 1;
    let hash = 0;
    let end = start;
    for (; end < text.length; end += 1) {
      const code = text.charCodeAt(end);
      if (isSeparator(code)) break;
      hash = (Math.imul(hash, 31) + code) | 0;
    }
    this.chunkStart = start;
    this.chunkEnd = end;
    this.read = 0;
    this.spans =
      end - start > MAX_CACHED_LENGTH ? spansOf(text.slice(start, end)) : cached(text, start, end, hash);
    return end > start;
  }
}

const SEPARATORS = Uint8Array.from({ length: LAST_ASCII + 1 }, (_, code) =>
  /[^a-z\d]/i.test(String.fromCharCode(code)) ? 1 : 0,
);
const isSeparator = (code: number): boolean => code <= LAST_ASCII && SEPARATORS[code] === 1;

/** Spans of a chunk; their places are relative to it. */
interface Chunk {
  text: string;
  spans: readonly Span[];
}

/** Recent chunks by their hash. Texts repeat their words, and folding a word costs more than ten look-ups. */
const cache = Array.from({ length: 8_192 }, (): Chunk => ({ text: '', spans: [] }));
/** Maximum length of a cached chunk. V8 copies a substring up to this length; a longer one keeps the whole text in memory. */
const MAX_CACHED_LENGTH = 12;

function cached(text: string, start: number, end: number, hash: number): readonly Span[] {
  const slot = (hash ^ (hash >>> 13)) & (cache.length - 1);
  const known = cache[slot] as Chunk;
  if (known.text.length === end - start && isAt(text, start, known.text)) return known.spans;
  const chunk = text.slice(start, end);
  const spans = spansOf(chunk);
  cache[slot] = { text: chunk, spans };
  return spans;
}

function isAt(text: string, start: number, part: string): boolean {
  for (let n = 0; n < part.length; n += 1)
    if (text.charCodeAt(start + n) !== part.charCodeAt(n)) return false;
  return true;
}

const wordToken = (text: string): Token => ({ kind: 'word', text: cut(text) });

/** Most words are ASCII. They do not need the tables of Unicode, which are ten times slower. */
function spansOf(chunk: string): Span[] {
  if (!NOT_ASCII.test(chunk))
    return chunk ? [{ start: 0, end: chunk.length, tokens: [wordToken(chunk.toLowerCase())] }] : [];
  return Array.from(chunk.matchAll(SPANS), ({ 0: span, index: start }) => ({
    start,
    end: start + span.length,
    tokens: foldedTokens(span),
  })).filter(({ tokens }) => tokens.length > 0);
}

/** Folding can create separators (`½` becomes `1⁄2`, `ﷺ` four words), so the folded text is split again. */
function foldedTokens(span: string, folded: typeof fold = fold): Token[] {
  return [...folded(span).matchAll(FOLDED)].map(([text, run]) =>
    run === undefined ? wordToken(text) : { kind: 'run', text: run },
  );
}

/** The tokens of a text in documents that were indexed by a version which kept the digits of each script. */
export const formerTokens = (text: string): Token[] =>
  [...text.matchAll(SPANS)].flatMap(([span]) => foldedTokens(span, foldLetters));

/** The overlapping pairs of a run, by code points; empty for a single character. */
export function pairs(run: string): string[] {
  const characters = [...run];
  return characters.slice(1).map((character, n) => `${characters[n]}${character}`);
}

const SPECIAL = /['\\]/;

/** A lexeme quoted for the text form of a tsvector or tsquery. */
export function quoteLexeme(lexeme: string): string {
  if (!SPECIAL.test(lexeme)) return `'${lexeme}'`;
  return `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/**
 * The lexeme of a reader. A document has one for each user with access, so that a single look-up in the index checks both the
 * terms and the access. No token contains U+0001, so neither texts nor queries can contain this lexeme.
 */
export const readerLexeme = (userId: string): string => `\u0001u${userId}`;

/** Marks a document in which some pairs have no position, so that a query cannot test whether they are adjacent. */
export const UNPLACED = '\u0002';
