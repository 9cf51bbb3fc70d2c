import { decodeHTML } from 'entities';
import { toHtml } from 'hast-util-to-html';
import { ENTITIES } from '../xml/index.js';
import { HtmlTooComplexError, parseHtml } from './tree.js';
import { FOUND_ONLY, hidesElement, showVisible } from './visible.js';

/** Inline elements: a word may begin inside and end outside of them. All other tags separate words. */
const INLINE = new Set(
  'a abbr acronym annotation annotation-xml b bdi bdo big cite code data del dfn em font i ins kbd mark q rp rt ruby s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
);
const [EXCLAMATION, SLASH, EQUALS, GREATER, QUESTION] = [0x21, 0x2f, 0x3d, 0x3e, 0x3f] as const;
const ESCAPES: Record<string, string> = { ...ENTITIES, "'": '&#39;' };

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

/**
 * The end of a tag. The value of an attribute may contain `>` between quotes. Quotes elsewhere have no meaning.
 * @param visit receives each attribute that has a value, which may have its quotes
 */
function attributesEnd(html: string, from: number, visit?: (name: string, value: string) => void): number {
  let isNamed = false;
  let [start, end] = [from, from];
  for (let at = from; at < html.length; at += 1) {
    const code = html.charCodeAt(at);
    if (code === GREATER) return at + 1;
    if (code === SLASH) isNamed = false;
    else if (code === EQUALS && isNamed) {
      const next = valueEnd(html, at + 1);
      visit?.(html.slice(start, end), html.slice(at + 1, next));
      at = next - 1;
      isNamed = false;
    } else if (!isSpace(code)) {
      if (!isNamed || at > end) start = at;
      end = at + 1;
      isNamed = true;
    }
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

/** References to characters, as browsers read them in a text. */
const decodeEntities = (text: string): string => (text.includes('&') ? decodeHTML(text) : text);

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

/** PARAGRAPH stands for an empty line, BREAK before a line break that stays, BLANK and TAB for a blank and a tab that stay. */
const [PARAGRAPH, BREAK, BLANK, TAB] = ['\ue000', '\ue001', '\ue002', '\ue003'] as const;
const MARKS = /[\ue000-\ue003]/g;

/**
 * The readable text of a document of another program: without scripts, styles, the title and the line breaks of its source. The address of
 * a link follows its text in brackets.
 * @param gap between paragraphs
 */
export function documentText(html: string, gap: '\n' | '\n\n' = '\n\n'): string {
  const whole = withoutScripts(withFormulas(html.replaceAll(MARKS, '')));
  return linesOf(withoutHidden(whole), gap) || linesOf(whole, gap);
}

const FORMULA = /<(?:m|mml)?:?math[\s>]/i;
/** Characters of a document whose formulas are read: parsing it takes some milliseconds. */
const LONGEST_PARSED = 65_536;

/** The HTML with formulas as lines of text. */
function withFormulas(html: string): string {
  if (html.length > LONGEST_PARSED || !FORMULA.test(html)) return html;
  try {
    const { root } = parseHtml(html);
    showVisible(root);
    return toHtml(root);
  } catch (error) {
    if (error instanceof HtmlTooComplexError) return html;
    throw error;
  }
}

function linesOf(html: string, gap: string): string {
  const marked = withMarks(withAddresses(html));
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
    .replaceAll(TRAILING_BLANKS, '')
    .replace(/\n{3,}/g, '\n\n')
    .replaceAll(BLANK, ' ')
    .replaceAll(TAB, '\t')
    .replace(/^\n+/, '')
    .trimEnd();
}

/** The position of a text in ASCII from a position on, in any letter case; -1 without one. Lower case of a whole text may have another length. */
function positionOf(html: string, wanted: RegExp, from: number): number {
  wanted.lastIndex = from;
  return wanted.exec(html)?.index ?? -1;
}

/** The elements whose text is never shown, and their ends. */
const UNSHOWN = new Map(
  ['script', 'style', 'title', 'annotation', 'annotation-xml'].map((name) => [
    name,
    new RegExp(String.raw`</${name}(?=[\s/>])`, 'gi'),
  ]),
);

/** The HTML without scripts, styles, the title, comments and the sources of formulas, in one pass. */
export function withoutScripts(html: string): string {
  let kept = '';
  let from = 0;
  let open = html.indexOf('<');
  const unclosed = new Set<string>();
  while (open >= 0) {
    const { end, name } = tagAt(html, open);
    const isComment = name === '' && end > open;
    const element = html.charCodeAt(open + 1) === SLASH ? '' : name.toLowerCase();
    const closing = unclosed.has(element) ? undefined : UNSHOWN.get(element);
    const closed = closing ? positionOf(html, closing, end) : -1;
    const next = closed < 0 ? Math.max(end, open + 1) : closed;
    if (isComment || closing) {
      kept += html.slice(from, open);
      from = next;
    }
    if (closing && closed < 0) {
      if (!element.startsWith('annotation')) return kept;
      // The formula around it ends it.
      unclosed.add(element);
    }
    open = html.indexOf('<', next);
  }
  return kept + html.slice(from);
}

/** A start tag or an end tag. */
interface Tag {
  open: number;
  end: number;
  /** In lower case. */
  name: string;
  isEnd: boolean;
}

/** The tags of HTML. A text that looks like one may be in a comment, or in the value of an attribute. */
function* tagsIn(html: string): Generator<Tag> {
  for (let open = html.indexOf('<'); open >= 0;) {
    const { end, name } = tagAt(html, open);
    if (name !== '')
      yield { open, end, name: name.toLowerCase(), isEnd: html.charCodeAt(open + 1) === SLASH };
    open = html.indexOf('<', Math.max(end, open + 1));
  }
}

/** The words of tags that may hide their elements. */
const HIDING = /hidden|none|collapse/i;

/**
 * The HTML without elements that browsers do not show, such as the lines that mails begin with for lists of mails. One without an end tag of
 * its own stays: where it ends depends on the elements around.
 */
function withoutHidden(html: string): string {
  if (!HIDING.test(html)) return html;
  const open = new Map<string, Tag[]>();
  const hidden: { from: number; to: number }[] = [];
  for (const tag of tagsIn(html)) {
    const started = open.get(tag.name);
    if (!tag.isEnd) {
      if (started) started.push(tag);
      else open.set(tag.name, [tag]);
      continue;
    }
    const start = started?.pop();
    if (start && hides(html, start)) hidden.push({ from: start.open, to: tag.end });
  }
  let text = '';
  let at = 0;
  for (const { from, to } of hidden.sort((one, other) => one.from - other.from)) {
    if (from >= at) text += html.slice(at, from);
    at = Math.max(at, to);
  }
  return text + html.slice(at);
}

function hides(html: string, { open, end, name }: Tag): boolean {
  const tag = html.slice(open, end);
  if (!HIDING.test(tag)) return false;
  let isHidden = /\shidden(?=[\s/>])/i.test(tag.replaceAll(/"[^"]*"|'[^']*'/g, ''));
  attributesEnd(html, open + 1 + name.length, (attribute, value) => {
    const written = value.replace(/^\s*["']|["']$/g, '');
    if (/^style$/i.test(attribute)) isHidden ||= hidesElement(written);
    if (/^hidden$/i.test(attribute)) isHidden ||= !FOUND_ONLY.test(written);
  });
  return isHidden;
}

const PARAGRAPHS = new Set('p h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre hr'.split(' '));

/** Blanks that stay, at the end of a line. */
const TRAILING_BLANKS = /(?<![\ue002\ue003])[\ue002\ue003]+(?=\n|$)/g;
/** A style by which the lines and blanks of the source stay. */
const VERBATIM_STYLE = /\bwhite-space(?:-collapse)?\s*:\s*(?:pre|break-spaces)/i;

/**
 * The HTML with marks before paragraphs and line breaks, and with spaces in place of the line breaks of its source, which have a meaning in
 * `<pre>` and by a style only.
 */
function withMarks(html: string): string {
  let text = '';
  let at = 0;
  /** The element whose lines and blanks stay, and how many of its name are open. */
  let verbatim = null as { name: string; depth: number } | null;
  const add = (to: number, mark: string): void => {
    const piece = html.slice(at, to);
    text += (verbatim ? verbatimText(piece) : piece.replaceAll(/[\r\n]+/g, ' ')) + mark;
    at = to;
  };
  for (const { open, end, name, isEnd } of tagsIn(html)) {
    add(open, PARAGRAPHS.has(name) ? PARAGRAPH : name === 'br' && !isEnd ? BREAK : '');
    // The blanks of a tag are none of the text.
    text += html.slice(open, end).replaceAll(/[\r\n]+/g, ' ');
    at = end;
    if (verbatim?.name === name) verbatim.depth += isEnd ? -1 : 1;
    else if (!verbatim && !isEnd && isVerbatimTag(name, html.slice(open, end))) verbatim = { name, depth: 1 };
    if (verbatim?.depth === 0) verbatim = null;
  }
  add(html.length, '');
  return text;
}

const verbatimText = (text: string): string =>
  text.replaceAll(/\r?\n/g, `${BREAK}\n`).replaceAll(' ', BLANK).replaceAll('\t', TAB);

/** Elements without content, which no end tag closes. */
const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

const isVerbatimTag = (name: string, tag: string): boolean =>
  name === 'pre' || (!VOID.has(name) && /\bstyle\s*=/i.test(tag) && VERBATIM_STYLE.test(tag));

/** The web address of a link; empty without one. */
function addressOf(html: string, { open }: Tag): string {
  const found: string[] = [];
  attributesEnd(html, open + '<a'.length, (name, value) => {
    if (name.toLowerCase() === 'href')
      found.push(value.replace(/^\s*(?:"([^"]*)"|'([^']*)')$/, '$1$2').trim());
  });
  // Of several attributes with one name, the first counts.
  const [address = ''] = found;
  return /^https?:/i.test(address) ? address : '';
}

/** Characters of a text that may name the address of its link, and of this address. A search in longer ones can take seconds. */
const LONGEST_NAMED = 2_000;

/** The HTML with the address of each link after its text, unless the text names it. A link without text is a picture. */
function withAddresses(html: string): string {
  let text = '';
  let at = 0;
  let link: Tag | null = null;
  for (const tag of tagsIn(html)) {
    if (tag.name !== 'a') continue;
    // A link ends where another one begins.
    if (link) {
      const href = addressOf(html, link);
      const label = href && plainText(html.slice(link.end, tag.open));
      const isNamed = label === '' || isNamedBy(label, href);
      text += html.slice(at, tag.open) + (isNamed ? '' : ` [${href.replaceAll('<', '&lt;')}]`);
      at = tag.open;
    }
    link = tag.isEnd ? null : tag;
  }
  return text + html.slice(at);
}

const isNamedBy = (label: string, href: string): boolean =>
  Math.max(label.length, href.length) <= LONGEST_NAMED && label.includes(plainText(href).replace(/\/$/, ''));
