import { cut, fold } from './fold.js';

/**
 * `word`: a folded word, an emoji, a number. `run`: folded text of a script that writes without spaces, or (Korean) glues
 * endings to words; it is searched by pairs of characters.
 */
export interface Token {
  kind: 'word' | 'run';
  text: string;
}

/** Where a token stands in the text it was read from. A span holds several tokens when folding takes it apart. */
export interface Span {
  start: number;
  end: number;
  tokens: readonly Token[];
}

/** By script, and what these share: voicing and tone marks, repetition signs, the long vowel of kana. */
const SPACELESS =
  '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Bopomofo}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}' +
  '\\u302a-\\u302f\\u3031-\\u3035\\u303c\\u3099\\u309a\\u30fc\\uff70\\uff9e\\uff9f';
/** Joiners and the soft hyphen stand within words; letter-like symbols and squared words (㎏, ㌔) become words by NFKC. */
const WORDLIKE = '[\\p{L}\\p{N}\\p{M}\\u00ad\\u200c\\u200d\\u2060\\u2100-\\u214f\\u3300-\\u33ff]';
const LETTERS = '[\\p{L}\\p{N}\\p{M}]';
const LAST_ASCII = 0x7f;
/** With U+0338 (struck through), an arrow is another character and no sign. */
const SIGNS = '\\p{RI}{2}|\\p{Extended_Pictographic}(?!\\u0338)';
const pattern = (characters: string, flags: string): RegExp =>
  new RegExp(`([${characters}&&[${SPACELESS}]]+)|[${characters}--[${SPACELESS}]]+|${SIGNS}`, `v${flags}`);
const SPAN_HERE = pattern(WORDLIKE, 'y');
const FOLDED = pattern(LETTERS, 'g');

/**
 * Takes a text apart, in order: words, runs and signs with their places. Everything else (spaces, punctuation, markup
 * characters) separates and is in no token, so a token never holds a character that means something to PostgreSQL.
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

  constructor(private readonly text: string) {}

  /** Moves to the next span. @returns false at the end of the text */
  next(): boolean {
    const { text } = this;
    for (let at = this.end; at < text.length;) {
      // Most words of most texts are plain: those need no look at the tables of Unicode, which are ten times slower.
      const end = plainEnd(text, at);
      if (end > at && !(text.charCodeAt(end) > LAST_ASCII)) return this.moveTo(at, end, plainTokens);
      if (end === at && text.charCodeAt(at) <= LAST_ASCII) {
        at += 1;
        continue;
      }
      SPAN_HERE.lastIndex = at;
      const [whole] = SPAN_HERE.exec(text) ?? [];
      if (whole === undefined) at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
      else if (this.moveTo(at, at + whole.length, foldedTokens)) return true;
      else at = this.end;
    }
    return false;
  }

  /** @returns false for a span without tokens */
  private moveTo(start: number, end: number, tokensOf: (span: string) => readonly Token[]): boolean {
    this.start = start;
    this.end = end;
    this.tokens = cached(this.text.slice(start, end), tokensOf);
    return this.tokens.length > 0;
  }
}

function plainEnd(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at) | 0x20;
    if (!(code >= 0x61 && code <= 0x7a) && !(code >= 0x30 && code <= 0x39 && text.charCodeAt(at) === code))
      break;
  }
  return at;
}

const wordToken = (text: string): Token => ({ kind: 'word', text: cut(text) });

/** Tokens of words met lately: folding a word anew costs more than ten look-ups, and texts repeat their words. */
const lately = new Map<string, readonly Token[]>();
const LATELY = 4_096;
/** V8 copies a part of a text up to this length. A longer part keeps the whole text in memory. */
const LATELY_LENGTH = 12;

function cached(span: string, tokensOf: (span: string) => readonly Token[]): readonly Token[] {
  if (span.length > LATELY_LENGTH) return tokensOf(span);
  const known = lately.get(span);
  if (known) return known;
  if (lately.size >= LATELY) lately.clear();
  const tokens = tokensOf(span);
  lately.set(span, tokens);
  return tokens;
}

const plainTokens = (span: string): Token[] => [wordToken(span.toLowerCase())];

/** Folding can bring separators forth (`½` is `1⁄2`, `ﷺ` four words), hence the second look. */
function foldedTokens(span: string): Token[] {
  return [...fold(span).matchAll(FOLDED)].map(([text, run]) =>
    run === undefined ? wordToken(text) : { kind: 'run', text: run },
  );
}

/** The overlapping pairs of a run, by code points; none of a single character. */
export function pairs(run: string): string[] {
  const characters = [...run];
  return characters.slice(1).map((character, n) => `${characters[n]}${character}`);
}
