import { type Compound, CompoundReader, replaceJoiners } from './compounds.js';
import { toHiragana } from '../text/index.js';
import { cut, fold, type Span, spans } from './tokens.js';
import { escapeHtml, textPieces } from '../html/index.js';
import type { SearchQuery, Term } from './search-query.js';

/** Characters of a snippet, and how many of them come before the first match. */
const SNIPPET = 240;
const LEAD = 60;
const MARK = ['<mark>', '</mark>'] as const;
const ELLIPSIS = '…';
/** Characters of a text that are kept for its excerpts. */
const BEGINNING = 1_500;

/** A part of a text that a term matches. */
interface Mark {
  start: number;
  end: number;
  term: Term;
}

/** An excerpt of a body, and whether it has a match. */
interface Snippet {
  html: string;
  found: boolean;
}

/**
 * A short text with its matches marked. The result is HTML with only escaped text and `<mark>`.
 */
export function highlight(text: string, query: SearchQuery): string {
  return marked(text, 0, text.length, marksIn(text, query));
}

/**
 * The part of a body around its matches, escaped and marked like `highlight`; the beginning when nothing matches. Reads
 * the body piece by piece, up to the first piece with a match.
 */
export function snippet(html: string, query: SearchQuery): Snippet {
  let first = '';
  let before = '';
  const pieces = textPieces(html);
  for (let step = pieces.next(); !step.done; step = pieces.next()) {
    const piece = step.value;
    const tail = lead(before);
    const cutBefore = before.length > tail.length;
    if (first.length < SNIPPET) first += piece;
    before = piece;
    if (!mayMatch(piece, query)) continue;
    // The snippet may need this much of the following text, which is searched together with the piece.
    let text = squeezed(tail + piece);
    const enough = text.length + SNIPPET;
    for (step = pieces.next(); !step.done; step = pieces.next()) {
      text += squeezed(step.value);
      before = step.value;
      if (first.length < SNIPPET) first += before;
      if (text.length >= enough) break;
    }
    const { marks, best } = excerptMarks(text, query);
    if (best) return { html: around(text, best, marks, cutBefore, !step.done), found: true };
  }
  return { html: opening(squeezed(first).trim()), found: false };
}

function opening(text: string): string {
  const end = wordEnd(text, SNIPPET);
  return escapeHtml(text.slice(0, end)) + (end < text.length ? ELLIPSIS : '');
}

/** The beginning of the text of a body: not HTML, white space collapsed. Ends with … when it is cut. */
export class Beginning {
  private text = '';

  /** True when no further piece is needed. */
  get isFull(): boolean {
    return this.text.length > 2 * BEGINNING;
  }

  /** Adds the next piece of the text. */
  add(piece: string): void {
    if (!this.isFull) this.text += piece;
  }

  toString(): string {
    const text = squeezed(this.text).replaceAll('\0', '').trim().toWellFormed();
    return text.length <= BEGINNING ? text : text.slice(0, wordEnd(text, BEGINNING)) + ELLIPSIS;
  }
}

/** Makes a `snippet` of the text of a `Beginning`. `found` is also true without a match when this is the whole text of the body. */
export function beginningSnippet(text: string, query: SearchQuery): Snippet {
  const { marks, best } = excerptMarks(text, query);
  const html = best ? around(text, best, marks, false, false) : opening(text);
  return { html, found: best !== undefined || !text.endsWith(ELLIPSIS) };
}

/** The end of the previous piece, from the beginning of a word if possible. */
function lead(before: string): string {
  if (before.length <= LEAD) return before;
  const end = before.slice(boundary(before, before.length - LEAD));
  return end.slice(end.search(/\s/) + 1);
}

/** A cheap test that rejects pieces without a match: a token that begins with a term is part of the folded text. */
function mayMatch(piece: string, query: SearchQuery): boolean {
  const hasRuns = query.terms.some(({ kind }) => kind === 'run');
  const isIn = (text: string): boolean => query.terms.some((term) => text.includes(term.text));
  const folded = fold(piece);
  return isIn(hasRuns ? toHiragana(folded) : folded) || isIn(fold(replaceJoiners(piece, '')));
}

function marksIn(text: string, query: SearchQuery): Mark[] {
  const marks: Mark[] = [];
  for (const span of spansIn(text)) {
    for (const term of query.terms) addMarks(text, span, term, marks);
  }
  return inOrder(marks);
}

/** The spans of a text, and its compounds, each before the span that follows it. */
function* spansIn(text: string): Generator<Span> {
  const compounds = new CompoundReader(text);
  for (const span of spans(text)) {
    yield* compounds.add(span).map(spanOf);
    yield span;
  }
  yield* compounds.close().map(spanOf);
}

const spanOf = ({ text, start, end }: Compound): Span => ({
  start,
  end,
  tokens: [{ kind: 'word', text: cut(text) }],
});

function addMarks(text: string, span: Span, term: Term, marks: Mark[]): void {
  for (const token of span.tokens) {
    if (token.kind !== term.kind) continue;
    if (token.kind === 'word') {
      if (token.text === term.text || (term.prefix && token.text.startsWith(term.text)))
        marks.push({ start: span.start, end: span.end, term });
    } else addRunMarks(text, span, token.text, term, marks);
  }
}

/** Marks characters of a folded run; the whole span when folding has changed it, because offsets then differ. */
function addRunMarks(text: string, { start, end }: Span, run: string, term: Term, marks: Mark[]): void {
  const isChanged = text.slice(start, end) !== run;
  const compared = toHiragana(run);
  for (let at = compared.indexOf(term.text); at >= 0; at = compared.indexOf(term.text, at + 1)) {
    if (isChanged) return void marks.push({ start, end, term });
    marks.push({ start: start + at, end: start + at + term.text.length, term });
  }
}

/** The match to show and the matches near it. It stops reading when both are known: most texts match early. */
function excerptMarks(text: string, query: SearchQuery): { marks: Mark[]; best: Mark | undefined } {
  let marks: Mark[] = [];
  let end = text.length;
  for (const span of spansIn(text)) {
    if (span.start > end) break;
    const known = marks.length;
    for (const term of query.terms) addMarks(text, span, term, marks);
    if (marks.length > known && end === text.length && closeTerms(marks) === query.terms.length)
      end = span.start + 2 * SNIPPET;
  }
  marks = inOrder(marks);
  return { marks, best: bestOf(marks) };
}

/** Number of different terms in an excerpt that ends with the last of these matches. */
function closeTerms(marks: Mark[]): number {
  const from = (marks.at(-1) as Mark).end - SNIPPET + LEAD;
  const terms = new Set<Term>();
  for (let n = marks.length - 1; n >= 0 && (marks[n] as Mark).start >= from; n -= 1)
    terms.add((marks[n] as Mark).term);
  return terms.size;
}

const inOrder = (marks: Mark[]): Mark[] => marks.toSorted((a, b) => a.start - b.start || a.end - b.end);

/** The first match of the excerpt with the most different terms. */
function bestOf(marks: Mark[]): Mark | undefined {
  let best: Mark | undefined;
  let most = 0;
  for (const [n, mark] of marks.entries()) {
    const terms = new Set<Term>();
    for (let m = n; m < marks.length; m += 1) {
      const other = marks[m] as Mark;
      if (other.end > mark.start + SNIPPET - LEAD) break;
      terms.add(other.term);
    }
    if (best === undefined || terms.size > most) {
      best = mark;
      most = terms.size;
    }
  }
  return best;
}

function around(
  text: string,
  { start, end }: Mark,
  marks: Mark[],
  cutBefore: boolean,
  cutAfter: boolean,
): string {
  const from = wordStart(text, Math.max(0, start - LEAD), start);
  const to = Math.max(wordEnd(text, from + SNIPPET), Math.min(end, from + 2 * SNIPPET));
  const head = cutBefore || from > 0 ? ELLIPSIS : '';
  const tail = cutAfter || to < text.length ? ELLIPSIS : '';
  return head + marked(text, from, boundary(text, to), marks).trim() + tail;
}

/** The beginning of a word at or after `at`, but not after `limit`. */
function wordStart(text: string, at: number, limit: number): number {
  if (at === 0) return 0;
  const space = text.indexOf(' ', at);
  return space >= 0 && space < limit ? space + 1 : boundary(text, at);
}

/** The end of the last word that ends before `at`; in text without spaces `at` itself. */
function wordEnd(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const space = text.lastIndexOf(' ', at);
  return space > at - LEAD ? space : boundary(text, at);
}

/** The offset, or the next one if it is between the halves of a surrogate pair. */
function boundary(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}

function marked(text: string, from: number, to: number, marks: Mark[]): string {
  let html = '';
  let at = from;
  let isOpen = false;
  for (const { start, end } of marks) {
    const [begin, stop] = [Math.max(start, at), Math.min(end, to)];
    if (begin >= stop) continue;
    // Adjacent marks are one.
    if (!isOpen || begin > at) html += (isOpen ? MARK[1] : '') + escapeHtml(text.slice(at, begin)) + MARK[0];
    isOpen = true;
    html += escapeHtml(text.slice(begin, stop));
    at = stop;
  }
  return html + (isOpen ? MARK[1] : '') + escapeHtml(text.slice(at, to));
}

/** White space collapsed. Most of it is one space, which the pattern leaves. */
const squeezed = (text: string): string => text.replace(/\s{2,}|[^\S ]/g, ' ');
