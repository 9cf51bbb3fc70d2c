import { parseFragment } from 'parse5';
import { ENTITIES } from '../xml/index.js';

/** Inline elements: a word may begin inside and end outside of them. All other tags separate words. */
const INLINE = new Set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd mark q rp rt ruby s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);
const [EXCLAMATION, SLASH, EQUALS, GREATER, QUESTION] = [0x21, 0x2f, 0x3d, 0x3e, 0x3f] as const;
const ENTITY = /&(?:#\d+;?|#[xX][\da-fA-F]+;?|[a-zA-Z][a-zA-Z\d]{1,31};?)/g;
const ESCAPES: Record<string, string> = { ...ENTITIES, "'": '&#39;' };
const COMMON: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00a0',
};
/** HTML has 2,231 named characters, so this cache stays small. It does not contain numeric references. */
const named = new Map<string, string>(Object.entries(COMMON));

/** Length after which a piece ends at the next separator. Characters. */
const PIECE = 512;
/** Length after which a piece of a text without separators ends. Characters. */
const LONGEST_PIECE = 65_536;

/**
 * Yields the text of stored HTML in pieces that do not split words of up to 64 Ki characters. It is lazy: a caller that needs the
 * beginning of a long note does not read the rest. The result is text, not HTML: escape it.
 */
export function* textPieces(html: string): Generator<string> {
  let piece = '';
  // Reading the last character of `piece` would make V8 copy it.
  let endsLine = false;
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    const until = open < 0 ? html.length : open;
    while (at < until) {
      const end = textEnd(html, at, until);
      const text = decodeEntities(html.slice(at, end));
      piece += text;
      endsLine = text.endsWith('\n');
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
      endsLine = false;
      at = open + 1;
      continue;
    }
    at = end;
    const separates = name !== '' && !INLINE.has(name.toLowerCase());
    if (separates && !endsLine) {
      piece += '\n';
      endsLine = true;
    }
    if ((separates && piece.length >= PIECE) || piece.length >= LONGEST_PIECE) {
      yield piece;
      piece = '';
    }
  }
  if (piece !== '') yield piece;
}

/**
 * Returns the end and the name of the tag or comment at a `<`. A `<` without a tag ends where it begins; an unterminated tag
 * contains the rest of the text, as in browsers.
 */
function tagAt(html: string, open: number): { end: number; name: string } {
  const next = html.charCodeAt(open + 1);
  if (next === EXCLAMATION || next === QUESTION) {
    const end = html.startsWith('<!--', open) ? commentEnd(html, open) : after(html, '>', open);
    return { end, name: '' };
  }
  const start = next === SLASH ? open + 2 : open + 1;
  if (isLetter(html.charCodeAt(start))) {
    let end = start + 1;
    for (; end < html.length; end += 1) {
      const code = html.charCodeAt(end);
      if (code === GREATER || code === SLASH || isSpace(code)) break;
    }
    return { end: attributesEnd(html, end), name: html.slice(start, end) };
  }
  // Browsers read `</` without a name as a comment, and as text at the end.
  const comment = next === SLASH && start < html.length;
  return { end: comment ? after(html, '>', open) : open, name: '' };
}

/** The end of a comment, `-->` or `--!>`. The first may share the hyphens of the start: `<!-->` is a comment. */
const COMMENT_END = /-->|..--!>/gs;

function commentEnd(html: string, open: number): number {
  COMMENT_END.lastIndex = open + 2;
  return COMMENT_END.test(html) ? COMMENT_END.lastIndex : html.length;
}

/** The value of an attribute may contain `>` between quotes. Quotes elsewhere have no meaning. */
function attributesEnd(html: string, from: number): number {
  let named = false;
  for (let at = from; at < html.length; at += 1) {
    const code = html.charCodeAt(at);
    if (code === GREATER) return at + 1;
    if (code === SLASH) named = false;
    else if (code === EQUALS && named) {
      at = valueEnd(html, at + 1) - 1;
      named = false;
    } else if (!isSpace(code)) named = true;
  }
  return html.length;
}

function valueEnd(html: string, from: number): number {
  let at = from;
  while (isSpace(html.charCodeAt(at))) at += 1;
  const quote = html[at];
  if (quote === '"' || quote === "'") return after(html, quote, at + 1);
  while (at < html.length && html.charCodeAt(at) !== GREATER && !isSpace(html.charCodeAt(at))) at += 1;
  return at;
}

const isLetter = (code: number): boolean => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d && code !== 0x0b);

function after(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from);
  return at < 0 ? html.length : at + mark.length;
}

/** Splits a text that is longer than a piece at a space. */
function textEnd(html: string, from: number, until: number): number {
  if (until - from <= LONGEST_PIECE) return until;
  const space = html.lastIndexOf(' ', from + LONGEST_PIECE);
  return space > from ? space : from + LONGEST_PIECE;
}

function decodeEntities(text: string): string {
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

/** Text as the content of an element, or as an attribute value between quotes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ESCAPES[character] as string);

/** The readable text of HTML: one line for each block, no empty lines at the ends, at most one between blocks. */
export function plainText(html: string): string {
  return [...textPieces(html)]
    .join('')
    .replace(/[^\S\n]+/gu, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** PARAGRAPH stands for an empty line. BREAK stands before a line break that stays. */
const [PARAGRAPH, BREAK] = ['\ue000', '\ue001'] as const;
const MARKS = /[\ue000\ue001]/g;

/**
 * The readable text of a document of another program: without scripts, styles, the title and the line breaks of its source. The address of
 * a link follows its text in brackets.
 * @param gap between paragraphs
 */
export function documentText(html: string, gap: '\n' | '\n\n' = '\n\n'): string {
  const marked = joinedLines(withAddresses(withoutScripts(html.replaceAll(MARKS, ''))))
    .replaceAll(/<(?=\/?(?:p|h[1-6]|[uod]l|table|blockquote|pre|hr)\b)/gi, `${PARAGRAPH}<`)
    .replaceAll(/<(?=br\b)/gi, `${BREAK}<`);
  return [...textPieces(marked)]
    .join('')
    .replace(/[^\S\n]+/gu, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n+/g, '\n')
    .replaceAll(BREAK, '')
    .split(PARAGRAPH)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '')
    .join(gap)
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** The position of a text in ASCII from a position on, in any letter case; -1 without one. Lower case of a whole text may have another length. */
function positionOf(html: string, wanted: RegExp, from: number): number {
  wanted.lastIndex = from;
  return wanted.exec(html)?.index ?? -1;
}

/** The elements whose text is hidden, and their ends. */
const HIDDEN = new Map(
  ['script', 'style', 'title'].map((name) => [name, new RegExp(String.raw`</${name}(?=[\s/>])`, 'gi')]),
);

/** The HTML without scripts, styles, the title and comments, in one pass. */
export function withoutScripts(html: string): string {
  let kept = '';
  let from = 0;
  let open = html.indexOf('<');
  while (open >= 0) {
    const { end, name } = tagAt(html, open);
    const isComment = name === '' && end > open;
    const closing = html.charCodeAt(open + 1) === SLASH ? undefined : HIDDEN.get(name.toLowerCase());
    const next = closing ? positionOf(html, closing, end) : Math.max(end, open + 1);
    if (isComment || closing) {
      kept += html.slice(from, open);
      from = next;
    }
    if (next < 0) return kept;
    open = html.indexOf('<', next);
  }
  return kept + html.slice(from);
}

const [PRE_START, PRE_END] = [/<pre\b/gi, /<\/pre/gi] as const;

/** The HTML with spaces in place of line breaks, which have no meaning outside of `<pre>`, and with marks before the others. */
function joinedLines(html: string): string {
  const joined = (from: number, to?: number): string => html.slice(from, to).replaceAll(/[\r\n]+/g, ' ');
  let text = '';
  let at = 0;
  for (let open = positionOf(html, PRE_START, 0); open >= 0; open = positionOf(html, PRE_START, at)) {
    const close = positionOf(html, PRE_END, open);
    const end = close < 0 ? html.length : close;
    text += joined(at, open) + html.slice(open, end).replaceAll(/\r?\n/g, `${BREAK}\n`);
    at = end;
  }
  return text + joined(at);
}

const [LINK_START, LINK_END] = [/<a\s/gi, /<\/a(?![^\s/>])/gi] as const;
const HREF = /\shref\s*=\s*(?:"(https?:[^"]*)"|'(https?:[^']*)'|(https?:[^\s"'>]+))/i;

/** Characters of a text that may name the address of its link, and of this address. A search in longer ones can take seconds. */
const LONGEST_NAMED = 2_000;

/** The HTML with the address of each link after its text, unless the text names it. A link without text is a picture. */
function withAddresses(html: string): string {
  let text = '';
  let at = 0;
  for (let open = positionOf(html, LINK_START, 0); open >= 0; open = positionOf(html, LINK_START, at)) {
    const { end } = tagAt(html, open);
    const close = positionOf(html, LINK_END, end);
    if (close < 0) break;
    const [, quoted, single, bare] = HREF.exec(html.slice(open, end)) ?? [];
    const href = (quoted ?? single ?? bare ?? '').trim();
    const label = plainText(html.slice(end, close));
    const isNamed = label === '' || isNamedBy(label, href);
    text += html.slice(at, close) + (isNamed ? '' : ` [${href.replaceAll('<', '&lt;')}]`);
    at = close;
  }
  return text + html.slice(at);
}

const isNamedBy = (label: string, href: string): boolean =>
  Math.max(label.length, href.length) <= LONGEST_NAMED && label.includes(plainText(href).replace(/\/$/, ''));
