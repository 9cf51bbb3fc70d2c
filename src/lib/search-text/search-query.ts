import { quoted, readerLexeme, UNPLACED } from './lexeme.js';
import { pairs, spans, type Token } from './tokens.js';

/** Characters of a query. */
export const MAX_QUERY = 256;
/** Words of a query; further ones are ignored. */
export const MAX_TERMS = 12;
/** Pairs of one run that are asked for: the index has found it long before. */
const MAX_PAIRS = 32;
/** Letters from which a word also finds those it begins; the last one, which may still be typed, from two. */
const PREFIX = 3;
const LAST_PREFIX = 2;

export interface Term extends Token {
  /** Also finds words that begin with it. */
  prefix: boolean;
}

/**
 * What somebody looks for. Built from tokens only: nothing of the raw text reaches PostgreSQL's query syntax, so every
 * operator, quote or backslash in it is mere punctuation.
 */
export class SearchQuery {
  private constructor(readonly terms: readonly Term[]) {}

  static parse(text: string): SearchQuery {
    const tokens = [...spans(text)].flatMap((span) => span.tokens);
    const typing = /[\p{L}\p{N}\p{M}]$/u.test(text);
    const terms = new Map<string, Term>();
    for (const [n, token] of tokens.entries()) {
      const least = typing && n === tokens.length - 1 ? LAST_PREFIX : PREFIX;
      const prefix = token.kind === 'word' && [...token.text].length >= least;
      const known = terms.get(token.text);
      if (known) known.prefix ||= prefix;
      else if (terms.size < MAX_TERMS) terms.set(token.text, { ...token, prefix });
    }
    return new SearchQuery([...terms.values()]);
  }

  /** Nothing to look for: blank, or punctuation only. */
  get isEmpty(): boolean {
    return this.terms.length === 0;
  }

  /** The text form of a `tsquery`: every term, in a document this person may see. */
  readableBy(userId: string): string {
    return `${quoted(readerLexeme(userId))} & ${this.match}`;
  }

  /** The text form of a `tsquery`: every term, whoever asks. */
  get match(): string {
    return this.terms.map(matching).join(' & ');
  }

  /**
   * The text form of a `tsquery` for `ts_rank`: any term, so that the cost of ranking grows with the places of the terms
   * and not with the pairs of places; a whole word counts beside its prefix.
   */
  get rank(): string {
    return this.terms.flatMap(ranking).join(' | ');
  }
}

function matching({ kind, text, prefix }: Term): string {
  if (kind === 'word') return quoted(text) + (prefix ? ':*' : '');
  const lexemes = pairs(text).slice(0, MAX_PAIRS).map(quoted);
  if (lexemes.length === 0) return `${quoted(text)}:*`;
  if (lexemes.length === 1) return lexemes[0] as string;
  return `(${lexemes.join(' <-> ')} | ${quoted(UNPLACED)} & ${lexemes.join(' & ')})`;
}

function ranking({ kind, text, prefix }: Term): string[] {
  if (kind === 'word') return prefix ? [quoted(text), `${quoted(text)}:*`] : [quoted(text)];
  const lexemes = pairs(text).slice(0, MAX_PAIRS).map(quoted);
  return lexemes.length === 0 ? [`${quoted(text)}:*`] : lexemes;
}
