import { toKatakana } from '../text/index.js';
import { cut, fold, type Span } from './tokens.js';

/** Apostrophes as people and programs write them in names: typewriter, typographic, modifier letters, accents and primes in their place. */
const APOSTROPHES = "'`\u00b4\u02bb\u02bc\u2018\u2019\u2032\uff07";
/** Hyphens; the soft one is ignored. */
const HYPHENS = '-\u2010\u2011';

const codesOf = (characters: string): ReadonlySet<number> =>
  new Set(Array.from(characters, (character) => character.charCodeAt(0)));
const APOSTROPHE_CODES = codesOf(APOSTROPHES);
const HYPHEN_CODES = codesOf(HYPHENS);
const JOINERS = new RegExp(`[${APOSTROPHES}\\${HYPHENS}]`, 'g');
const INNER_JOINERS = new RegExp(String.raw`(?<=[\p{L}\p{M}])${JOINERS.source}(?=\p{L})`, 'gu');

/** The form in which texts are compared that may have any apostrophe, hyphen and kana: readers do not see, or mind, which one a text has. */
export const foldLoosely = (text: string): string => toKatakana(fold(text.replaceAll(JOINERS, "'")));

/** The text with another character, or none, in place of the apostrophes and hyphens between letters. */
export const replaceJoiners = (text: string, by: string): string => text.replaceAll(INNER_JOINERS, by);

/** Characters of a compound from which on it is complete: more than a lexeme has. */
const LONGEST = 256;
const LETTERS = /^[\p{L}\p{M}]+$/u;

/** Words that are read as one: `O'Brien` as `obrien`. */
export interface Compound {
  text: string;
  start: number;
  end: number;
}

const NONE: readonly Compound[] = [];

/**
 * Joins words between which only an apostrophe or a hyphen is. People write such names with another one, with a space or in one word:
 * the words between hyphens are joined by their apostrophes, and then all of them (`O'Brien-Smith`: `obrien`, `obriensmith`).
 */
class Compounds {
  private readonly last: Compound = { text: '', start: 0, end: 0 };
  private byApostrophes: Compound | null = null;
  private all: Compound | null = null;
  private hasHyphen = false;

  /**
   * Reads the next word.
   * @param text folded
   * @param separator code of the only character since the word before; -1 for other separators
   * @returns compounds that end before this word
   */
  add(text: string, start: number, end: number, separator: number): readonly Compound[] {
    const isHyphen = HYPHEN_CODES.has(separator);
    const isJoined =
      (isHyphen || APOSTROPHE_CODES.has(separator)) && LETTERS.test(this.last.text) && LETTERS.test(text);
    const ended = isJoined ? this.extend(text, end, isHyphen) : this.close();
    this.last.text = text;
    this.last.start = start;
    this.last.end = end;
    return ended;
  }

  private extend(text: string, end: number, isHyphen: boolean): readonly Compound[] {
    this.all = joined(this.all ?? this.last, text, end);
    if (!isHyphen) {
      this.byApostrophes = joined(this.byApostrophes ?? this.last, text, end);
      return NONE;
    }
    this.hasHyphen = true;
    const ended = this.byApostrophes;
    this.byApostrophes = null;
    return ended ? [ended] : NONE;
  }

  /** @returns compounds that end with the last word */
  close(): readonly Compound[] {
    this.last.text = '';
    if (this.all === null) return NONE;
    const ended = [this.byApostrophes, this.hasHyphen ? this.all : null].filter((each) => each !== null);
    this.byApostrophes = null;
    this.all = null;
    this.hasHyphen = false;
    return ended;
  }
}

const joined = (before: Compound, text: string, end: number): Compound => ({
  text: before.text.length < LONGEST ? before.text + text : before.text,
  start: before.start,
  end,
});

/** Finds the compounds of a text whose spans it reads in their order. */
export class CompoundReader {
  private readonly compounds = new Compounds();
  private end = -1;

  constructor(private readonly text: string) {}

  /** @returns compounds that end before this span */
  add({ start, end, tokens }: Span): readonly Compound[] {
    const separator = start === this.end + 1 ? this.text.charCodeAt(this.end) : -1;
    this.end = end;
    const token = tokens.length === 1 ? tokens[0] : undefined;
    return token?.kind === 'word'
      ? this.compounds.add(token.text, start, end, separator)
      : this.compounds.close();
  }

  /** @returns compounds that end with the last span */
  close(): readonly Compound[] {
    return this.compounds.close();
  }
}

/** Characters that are not in words; two modifier letters are apostrophes. */
const SEPARATORS = /([[^\p{L}\p{N}\p{M}]\u02bb\u02bc]+)/v;

/** The words of a text, folded, as they are in a query of `nameWords`. */
export const foldedWords = (text: string): string[] =>
  fold(text)
    .split(SEPARATORS)
    .filter((word, n) => n % 2 === 0 && word !== '');

/** The words of a name, folded, and then its compounds: an index has them for the words of queries. */
export function nameWords(text: string): string[] {
  // NFKC would make a space of an acute accent.
  const parts = fold(text.replaceAll('\u00b4', "'")).split(SEPARATORS);
  const compounds = new Compounds();
  const words: string[] = [];
  const found: Compound[] = [];
  for (let n = 0; n < parts.length; n += 2) {
    const word = parts[n] as string;
    if (word === '') continue;
    const separator = parts[n - 1] ?? '';
    found.push(...compounds.add(word, 0, 0, separator.length === 1 ? separator.charCodeAt(0) : -1));
    words.push(word);
  }
  return [...words, ...[...found, ...compounds.close()].map((compound) => cut(compound.text))];
}
