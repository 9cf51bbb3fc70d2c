import { hasKana, inBothKana, toAsciiDigits, toHiragana } from '../text/index.js';
import { formerTokens, pairs, quoteLexeme, readerLexeme, spans, type Token, UNPLACED } from './tokens.js';

/** Characters of a query. */
export const MAX_QUERY = 256;
/** Different words of a query. */
export const MAX_TERMS = 12;
/** Pairs of one run in a tsquery: these are selective enough. */
const MAX_PAIRS = 32;
/** Minimum length of a word that also matches as a prefix. The last word, which the user may still type, needs two letters. */
const PREFIX = 3;
const LAST_PREFIX = 2;

/** A token of a query; a run is in hiragana. */
export interface Term extends Token {
  /** The query also matches words that begin with it. */
  prefix: boolean;
}

/**
 * A search query. It is built from tokens only: no raw text reaches PostgreSQL's query syntax, so operators, quotes and
 * backslashes are punctuation.
 */
export class SearchQuery {
  /** @param former the terms in documents that keep the digits of the query, if it has digits of other scripts */
  private constructor(
    readonly terms: readonly Term[],
    private readonly former: readonly Term[],
  ) {}

  static parse(text: string): SearchQuery {
    const isTyping = /[\p{L}\p{N}\p{M}]$/u.test(text);
    const terms = termsOf(
      [...spans(text)].flatMap((span) => span.tokens),
      isTyping,
    );
    const former = toAsciiDigits(text) === text ? [] : termsOf(formerTokens(text), isTyping);
    return new SearchQuery(terms, former.slice(0, MAX_TERMS));
  }

  /** More words than a query may have; do not build a tsquery of it. */
  get isTooLong(): boolean {
    return this.terms.length > MAX_TERMS;
  }

  /** The query has no words: it is blank, or punctuation only. */
  get isEmpty(): boolean {
    return this.terms.length === 0;
  }

  /** The text form of a `tsquery`: every term, in documents that this user can read. */
  readableBy(userId: string): string {
    return `${quoteLexeme(readerLexeme(userId))} & ${this.match}`;
  }

  /** The text form of a `tsquery`: every term, for any reader. */
  get match(): string {
    const match = this.terms.map(matching).join(' & ');
    return this.former.length === 0 ? match : `(${match} | ${this.former.map(matching).join(' & ')})`;
  }

  /**
   * The text form of a `tsquery` for `ts_rank`: any term, so that the cost of ranking grows with the positions of the terms and
   * not with the pairs of positions. A whole word counts in addition to its prefix.
   */
  get rank(): string {
    return [...this.terms, ...this.former].flatMap(ranking).join(' | ');
  }
}

function termsOf(tokens: readonly Token[], isTyping: boolean): Term[] {
  const terms = new Map<string, Term>();
  for (const [n, { kind, text: written }] of tokens.entries()) {
    const token = { kind, text: kind === 'run' ? toHiragana(written) : written };
    const least = isTyping && n === tokens.length - 1 ? LAST_PREFIX : PREFIX;
    const prefix = token.kind === 'word' && [...token.text].length >= least;
    const known = terms.get(token.text);
    if (known) known.prefix ||= prefix;
    else terms.set(token.text, { ...token, prefix });
  }
  return [...terms.values()];
}

function matching({ kind, text, prefix }: Term): string {
  if (kind === 'word') return quoteLexeme(text) + (prefix ? ':*' : '');
  const lexemes = pairs(text)
    .slice(0, MAX_PAIRS)
    .map((pair) => anyOf(inAnyKana(pair).map(quoteLexeme)));
  if (lexemes.length === 0) return anyOf(inBothKana(text).map((each) => `${quoteLexeme(each)}:*`));
  if (lexemes.length === 1) return lexemes[0] as string;
  return `(${lexemes.join(' <-> ')} | ${quoteLexeme(UNPLACED)} & ${lexemes.join(' & ')})`;
}

function ranking({ kind, text, prefix }: Term): string[] {
  if (kind === 'word') return prefix ? [quoteLexeme(text), `${quoteLexeme(text)}:*`] : [quoteLexeme(text)];
  const lexemes = pairs(text).slice(0, MAX_PAIRS).flatMap(inAnyKana).map(quoteLexeme);
  return lexemes.length === 0 ? inBothKana(text).map((each) => `${quoteLexeme(each)}:*`) : lexemes;
}

const anyOf = (lexemes: readonly string[]): string =>
  lexemes.length === 1 ? (lexemes[0] as string) : `(${lexemes.join(' | ')})`;

/** The forms of a pair with each of its characters in hiragana and in katakana, since texts mix them. Indexes keep the kana of the texts. */
function inAnyKana(pair: string): string[] {
  if (!hasKana(pair)) return [pair];
  const [first = [], second = []] = [...pair].map(inBothKana);
  return first.flatMap((one) => second.map((other) => one + other));
}
