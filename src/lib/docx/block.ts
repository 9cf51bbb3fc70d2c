import type { Element } from 'hast';
import { attribute, declarations, pixels, twips, TWIPS_PER_PX } from './css.js';
import { LIST_STEP, type Marker } from './lists.js';
import type { Alignment, LineHeight, ParagraphPlace } from './paragraph.js';
import type { Direction } from './text-style.js';

/** The properties that the content of a block inherits. */
export interface Block {
  readonly style?: string;
  /** Indent from the start side, twips. */
  readonly indent: number;
  /** Width between the margins, twips. */
  readonly width: number;
  readonly lists: number;
  readonly tables: number;
  readonly quoted?: boolean;
  readonly align?: Alignment;
  readonly dir?: Direction;
  readonly keepNext?: boolean;
  readonly lines?: LineHeight;
  readonly firstLine?: number;
  /** Space above and below, twips: of this element, not of those in it. */
  readonly before?: number;
  readonly after?: number;
}

const QUOTE_STEP = 360;
const MAX_INDENT = 5_400;

/** Elements that separate paragraphs. */
const BLOCKS = new Set(
  'p div center li h1 h2 h3 h4 h5 h6 blockquote pre details summary dl dt dd figure figcaption section article header footer nav aside main address'.split(
    ' ',
  ),
);
const ALIGNMENTS = new Set<string>(['left', 'right', 'center', 'justify', 'start', 'end']);
/** The style of paragraphs of code. */
export const CODE = 'Code';
const STYLES: Readonly<Record<string, string>> = {
  pre: CODE,
  figcaption: 'Caption',
  ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`h${n}`, `Heading${n}`])),
};
const KEPT_WITH_NEXT = new Set(['summary', 'dt']);

/** The block with a larger indent, limited so that some width remains for text. */
export const indented = (block: Block, by: number): Block => ({
  ...block,
  indent: Math.min(MAX_INDENT, Math.round(block.width * 0.6), block.indent + by),
});

/** Levels of headings that the document has styles for. */
const HEADING_LEVELS = 6;

/** The style of a heading by its role (WAI-ARIA), whatever its element is; undefined for another element. */
function roleStyle(element: Element): string | undefined {
  const isTag = /^h[1-6]$/.test(element.tagName);
  if (!isTag && attribute(element, 'role')?.trim().toLowerCase() !== 'heading') return undefined;
  const level = /^\s*([1-9])\s*$/.exec(attribute(element, 'aria-level') ?? '')?.[1];
  if (level === undefined) return isTag ? undefined : 'Heading2';
  return `Heading${Math.min(Number(level), HEADING_LEVELS)}`;
}

/** Whether an element separates paragraphs. */
export const isBlock = (element: Element): boolean =>
  BLOCKS.has(element.tagName) || roleStyle(element) !== undefined;

/** @returns the block of an element inside another block */
export function blockIn(element: Element, around: Block): Block {
  const { tagName } = element;
  let block = around.before === undefined && around.after === undefined ? around : withoutMargins(around);
  const style = roleStyle(element) ?? STYLES[tagName];
  if (style) block = { ...block, style };
  if (KEPT_WITH_NEXT.has(tagName)) block = { ...block, keepNext: true };
  if (tagName === 'blockquote') block = indented({ ...block, quoted: true }, QUOTE_STEP);
  if (tagName === 'dd') block = indented(block, LIST_STEP);
  const dir = attribute(element, 'dir')?.toLowerCase();
  if (dir !== undefined) block = { ...block, dir: dir === 'rtl' || dir === 'ltr' ? dir : undefined };
  const css = declarations(element);
  // The attribute of a table moves the table and not its text.
  const attributed = tagName === 'table' ? undefined : attribute(element, 'align')?.toLowerCase();
  const align = css.get('text-align') ?? attributed ?? (tagName === 'center' ? 'center' : undefined);
  if (align !== undefined && ALIGNMENTS.has(align)) block = { ...block, align: align as Alignment };
  const moved = pixels(css.get('margin-left'), 0) ?? pixels(css.get('padding-left'), 0);
  // The levels of lists have their own indent.
  if (moved && isBlock(element)) block = indented(block, Math.round(moved * TWIPS_PER_PX));
  return css.size === 0 ? block : spaced(block, css, isBlock(element));
}

function withoutMargins(given: Block): Block {
  const { before: _, after: __, ...block } = given;
  return block;
}

/** Twips. */
const MAX_MARGIN = 1_584;

/** The block with the line height, the indent of the first line and the margins of its style. */
function spaced(block: Block, css: ReadonlyMap<string, string>, hasMargins: boolean): Block {
  const lines = lineHeight(css.get('line-height')) ?? block.lines;
  const firstLine = twips(css.get('text-indent')) ?? block.firstLine;
  const margin = (side: 'top' | 'bottom'): number | undefined => {
    const size = twips(css.get(`margin-${side}`));
    return size === undefined || !hasMargins ? undefined : Math.min(MAX_MARGIN, size);
  };
  const [before, after] = [margin('top'), margin('bottom')];
  return {
    ...block,
    ...(lines && { lines }),
    ...(firstLine !== undefined && { firstLine }),
    ...(before !== undefined && before >= 0 && { before }),
    ...(after !== undefined && after >= 0 && { after }),
  };
}

const LINE = 240;

function lineHeight(css: string | undefined): LineHeight | undefined {
  const [, amount, unit] = /^(\d{1,3}(?:\.\d{1,6})?|\.\d{1,6})(em|%)?$/.exec(css ?? '') ?? [];
  if (amount !== undefined) {
    const factor = Number(amount) / (unit === '%' ? 100 : 1);
    return { line: Math.max(120, Math.min(1_440, Math.round(factor * LINE))), rule: 'auto' };
  }
  const size = twips(css);
  return size === undefined || size <= 0 ? undefined : { line: Math.min(2_880, size), rule: 'atLeast' };
}

const BREAKS = /^(?:always|page|left|right|recto|verso)$/;

/** Whether a page ends before and after an element. */
export function pageBreaks(element: Element): { before: boolean; after: boolean } {
  const css = declarations(element);
  const isBroken = (side: string): boolean =>
    BREAKS.test(css.get(`break-${side}`) ?? css.get(`page-break-${side}`) ?? '');
  return { before: isBroken('before'), after: isBroken('after') };
}

/** The position of a paragraph in a block. */
export function placeOf(block: Block, marker: Marker | undefined): ParagraphPlace {
  const { indent, align, dir, keepNext, lists, quoted, lines, firstLine, before, after } = block;
  const style = block.style ?? (quoted ? 'Quote' : lists > 0 ? 'ListParagraph' : undefined);
  const numbering = marker?.kind === 'number' ? { id: marker.id, level: marker.level } : undefined;
  const ownIndent = numbering ? LIST_STEP * (numbering.level + 1) : style === 'Quote' ? QUOTE_STEP : 0;
  const hanging = (numbering && indent !== ownIndent) || marker?.kind === 'box' ? LIST_STEP : undefined;
  return {
    style,
    indent,
    ownIndent,
    hanging,
    numbering,
    align,
    dir,
    keepNext,
    lines,
    firstLine,
    before,
    after,
    bar: quoted && style !== 'Quote',
  };
}
