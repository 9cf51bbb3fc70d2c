import { parseFragment } from 'parse5';

/** Elements within a line of text: a word may begin inside and end outside of them. Every other tag separates. */
const INLINE = new Set(
  'a abbr b bdi bdo cite code data del dfn em font i ins kbd mark q rp rt ruby s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);
const NAME = /[a-zA-Z][^\s/>]*/y;
const ENTITY = /&(?:#\d+;?|#[xX][\da-fA-F]+;?|[a-zA-Z][a-zA-Z\d]{1,31};?)/g;
const COMMON: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00a0',
};
/** HTML names 2,231 characters, so what is remembered stays small; numeric references are not remembered. */
const named = new Map<string, string>(Object.entries(COMMON));

/** Characters after which a piece ends at the next separator. */
const PIECE = 512;
/** Characters after which it ends whatever stands there: a text without any separator. */
const LONGEST_PIECE = 65_536;

/**
 * The text of stored HTML, in pieces that never part a word (short of one of 64 Ki characters). Reads as far as it is
 * asked to: what looks for the beginning of a long note does not pay for the end. The result is text, not HTML: escape it.
 */
export function* textPieces(html: string): Generator<string> {
  let piece = '';
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    const until = open < 0 ? html.length : open;
    while (at < until) {
      const end = textEnd(html, at, until);
      piece += decoded(html.slice(at, end));
      at = end;
      if (at < until) {
        yield piece;
        piece = '';
      }
    }
    if (open < 0) break;
    const { end, name } = tagAt(html, open);
    if (end === open) {
      piece += '<';
      at = open + 1;
      continue;
    }
    at = end;
    const separates = name !== '' && !INLINE.has(name.toLowerCase());
    if (separates && !piece.endsWith('\n')) piece += '\n';
    if ((separates && piece.length >= PIECE) || piece.length >= LONGEST_PIECE) {
      yield piece;
      piece = '';
    }
  }
  if (piece !== '') yield piece;
}

/**
 * Where the tag (or comment) that begins at `<` ends, and its name. A `<` that begins none ends where it begins; a tag
 * without end swallows the rest, as it does in a browser.
 */
function tagAt(html: string, open: number): { end: number; name: string } {
  const next = html[open + 1] ?? '';
  if (next === '!' || next === '?')
    return { end: after(html, html.startsWith('<!--', open) ? '-->' : '>', open), name: '' };
  const start = next === '/' ? open + 2 : open + 1;
  NAME.lastIndex = start;
  const name = NAME.exec(html)?.[0];
  if (name !== undefined) return { end: attributesEnd(html, start + name.length), name };
  // `</` and something else than a name is a comment to a browser; at the very end it is text.
  const comment = next === '/' && start < html.length;
  return { end: comment ? after(html, '>', open) : open, name: '' };
}

/** An attribute's value may hold `>` between quotes; quotes elsewhere mean nothing. */
function attributesEnd(html: string, from: number): number {
  let named = false;
  for (let at = from; at < html.length; at += 1) {
    const character = html[at] as string;
    if (character === '>') return at + 1;
    if (character === '/') named = false;
    else if (character === '=' && named) {
      at = valueEnd(html, at + 1) - 1;
      named = false;
    } else if (!isSpace(character)) named = true;
  }
  return html.length;
}

function valueEnd(html: string, from: number): number {
  let at = from;
  while (isSpace(html[at])) at += 1;
  const quote = html[at];
  if (quote === '"' || quote === "'") return after(html, quote, at + 1);
  while (at < html.length && html[at] !== '>' && !isSpace(html[at])) at += 1;
  return at;
}

const isSpace = (character: string | undefined): boolean =>
  character === ' ' || character === '\n' || character === '\t' || character === '\r' || character === '\f';

function after(html: string, what: string, from: number): number {
  const at = html.indexOf(what, from);
  return at < 0 ? html.length : at + what.length;
}

/** A text longer than a piece may be is parted at a space. */
function textEnd(html: string, from: number, until: number): number {
  if (until - from <= LONGEST_PIECE) return until;
  const space = html.lastIndexOf(' ', from + LONGEST_PIECE);
  return space > from ? space : from + LONGEST_PIECE;
}

function decoded(text: string): string {
  return text.includes('&') ? text.replace(ENTITY, character) : text;
}

function character(reference: string): string {
  const known = named.get(reference);
  if (known !== undefined) return known;
  const [node] = parseFragment(reference).childNodes;
  const text = node && 'value' in node ? node.value : reference;
  if (reference.endsWith(';') && !reference.startsWith('&#') && text.length <= 2) named.set(reference, text);
  return text;
}

/** The text of HTML to be read by people: one line for each block, no empty ones at the ends, at most one in between. */
export function plainText(html: string): string {
  return [...textPieces(html.replace(/<br\s*\/?>/gi, '<br>'))]
    .join('')
    .replace(/[^\S\n]+/gu, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
