import type { Element, ElementContent, Nodes } from 'hast';
import { type Block, blockIn, CODE, isBlock, indented, pageBreaks, placeOf } from './block.js';
import { attribute, declarations, pixels, TWIPS_PER_PX } from './css.js';
import { pictureXml, shownSize } from './image.js';
import {
  drawnState,
  isChecked,
  leadingCheckbox,
  LIST_STEP,
  ListMarkers,
  type Marker,
  taggedState,
} from './lists.js';
import { Paragraph } from './paragraph.js';
import { Bookmarks, type DocxParts } from './parts.js';
import { isWithoutLines, layOutTable, tableXml } from './table.js';
import { type TextStyle, textStyle } from './text-style.js';

/** Word rejects deeply nested tables. Deeper tables are written as text. */
const MAX_TABLES = 10;

/** Elements without visible text. The HTML policy removes them, but the converter does not depend on it. */
const SKIPPED = new Set(
  'script style template title head link meta base noscript noembed noframes iframe frame frameset object embed applet svg math audio video canvas textarea select option button rp'.split(
    ' ',
  ),
);
/** Converts a tree of HTML to the content of `w:body`. */
export class BodyWriter {
  private out: string[] = [];
  private paragraph: Paragraph | undefined;
  /** The marker of the next paragraph: the number, bullet or check box of its list item. */
  private marker: Marker | undefined;
  /** The check box of `marker`, which is not written again. */
  private shownBox: Element | undefined;
  private readonly bookmarks = new Bookmarks();
  /** Bookmarks of the next paragraph. */
  private pending: string[] = [];
  /** The next paragraph begins a page. */
  private atPageEnd = false;

  constructor(
    private readonly parts: DocxParts,
    private readonly pageWidth: number,
  ) {}

  /** @returns paragraphs and tables; `''` for a tree without visible content */
  write(nodes: ElementContent[]): string {
    this.bookmarks.collect(nodes);
    this.nodes(nodes, {}, { indent: 0, width: this.pageWidth, lists: 0, tables: 0 });
    this.endParagraph();
    return this.out.join('');
  }

  private nodes(nodes: Nodes[], style: TextStyle, block: Block): void {
    for (const node of nodes) {
      if (node.type === 'text') this.text(node.value, style, block);
      else if (node.type === 'element' && !SKIPPED.has(node.tagName)) this.element(node, style, block);
    }
  }

  private element(element: Element, around: TextStyle, block: Block): void {
    const style = within(block, textStyle(element, around));
    this.mark(element);
    const state = drawnState(element);
    if (state !== undefined && element.tagName !== 'img' && element.tagName !== 'input')
      return this.box(element, state, style, block);
    switch (element.tagName) {
      case 'br':
        return this.open(block).lineBreak(style);
      case 'wbr':
        return this.open(block).text('\u200B', style);
      case 'img':
        return this.image(element, style, block);
      case 'input':
        return this.input(element, style, block);
      case 'a':
        return this.nodes(element.children, this.linked(element, style), block);
      case 'hr':
        this.endParagraph();
        this.out.push(ruleXml());
        return;
      case 'q':
        return this.wrapped('\u201C', element, '\u201D', style, block);
      case 'rt':
        return this.wrapped('(', element, ')', style, block);
      case 'ul':
      case 'menu':
      case 'dir':
      case 'ol':
        return this.list(element, style, block);
      case 'table':
        return this.table(element, style, block);
      default:
        if (isBlock(element)) this.block(element, style, block);
        else {
          this.tag(element, block);
          this.nodes(element.children, style, block);
        }
    }
  }

  /** The check box before a text that is tagged as a task. */
  private tag(element: Element, block: Block): void {
    const state = taggedState(element);
    if (state === undefined) return;
    this.open(block).object(checkboxXml(this.parts.nextId(), state), {});
    this.open(block).text(' ', { space: 'pre' });
  }

  private block(element: Element, style: TextStyle, around: Block): void {
    const { tagName } = element;
    this.endParagraph();
    const breaks = pageBreaks(element);
    this.atPageEnd ||= breaks.before;
    const before = this.out.length;
    const block = blockIn(element, around);
    this.tag(element, block);
    if (tagName === 'details') this.details(element, style, block);
    else this.nodes(element.children, style, block);
    // Editors represent an empty line by an empty paragraph.
    const isEmpty = !this.paragraph && this.out.length === before;
    if (isEmpty && (tagName === 'p' || this.pending.length > 0)) this.open(block);
    this.endParagraph();
    this.atPageEnd ||= breaks.after;
  }

  /** An element that links of the text name is the bookmark of its paragraph, or of the next one. */
  private mark(element: Element): void {
    for (const name of this.bookmarks.of(element)) {
      if (this.paragraph && !isBlock(element)) this.paragraph.bookmark(this.parts.nextId(), name);
      else this.pending.push(name);
    }
  }

  /** The content of `details` is indented relative to its summary. */
  private details(element: Element, style: TextStyle, block: Block): void {
    for (const child of element.children) {
      const isSummary = child.type === 'element' && child.tagName === 'summary';
      this.nodes([child], style, isSummary ? block : indented(block, LIST_STEP));
    }
  }

  private text(value: string, style: TextStyle, block: Block): void {
    const isBlank = !/[^\t\n\f\r ]/.test(value);
    // Outside of code, blank lines between the tags of blocks only lay out the source.
    const isKept = style.space === 'pre' && (block.style === CODE || !/[\n\r]/.test(value));
    if (this.paragraph || !isBlank || isKept) this.open(block).text(value, style);
  }

  private wrapped(before: string, element: Element, after: string, style: TextStyle, block: Block): void {
    this.text(before, style, block);
    this.nodes(element.children, style, block);
    this.text(after, style, block);
  }

  private linked(element: Element, style: TextStyle): TextStyle {
    const href = attribute(element, 'href');
    const link = this.bookmarks.link(href) ?? this.parts.link(href);
    return link === undefined ? style : { ...style, link };
  }

  private input(element: Element, style: TextStyle, block: Block): void {
    if (attribute(element, 'type')?.toLowerCase() === 'checkbox')
      this.box(element, isChecked(element), style, block);
  }

  private box(element: Element, checked: boolean, style: TextStyle, block: Block): void {
    if (element === this.shownBox) return;
    this.open(block).object(checkboxXml(this.parts.nextId(), checked), style);
  }

  /** Embedded pictures are written. Others become their description with a link to the address. */
  private image(element: Element, style: TextStyle, block: Block): void {
    if (element === this.shownBox) return;
    const source = attribute(element, 'src') ?? '';
    const alt = (attribute(element, 'alt') ?? attribute(element, 'title') ?? '').trim();
    const picture = this.parts.picture(source);
    if (picture === null) {
      if (alt === '') return;
      const link = style.link ?? this.parts.link(source);
      return this.text(alt, link === undefined ? style : { ...style, link }, block);
    }
    const room = (block.width - block.indent) / TWIPS_PER_PX;
    const css = declarations(element);
    const requested = {
      width: pixels(css.get('width'), room) ?? pixels(attribute(element, 'width'), room),
      height: pixels(css.get('height'), 0) ?? pixels(attribute(element, 'height'), 0),
    };
    const size = shownSize(picture.image, requested, room);
    this.open(block).object(pictureXml(this.parts.nextId(), picture.relationship, size, alt), style);
  }

  private list(list: Element, style: TextStyle, around: Block): void {
    this.endParagraph();
    // The marker of the outer item precedes the markers of this list.
    if (this.marker) this.emptyItem(around);
    const markers = new ListMarkers(list, around.lists, this.parts.numberings);
    const inList = blockIn(list, indented({ ...around, lists: around.lists + 1 }, LIST_STEP));
    for (const child of list.children) {
      if (child.type !== 'element' || child.tagName !== 'li') this.nodes([child], style, inList);
      else this.item(child, markers.of(child), textStyle(child, style), blockIn(child, inList));
      this.endParagraph();
    }
  }

  private item(item: Element, marker: Marker, style: TextStyle, block: Block): void {
    this.endParagraph();
    this.marker = marker;
    this.mark(item);
    if (marker.kind === 'box') this.shownBox = leadingCheckbox(item);
    this.nodes(item.children, style, block);
    this.endParagraph();
    if (this.marker) this.emptyItem(block);
  }

  private emptyItem(block: Block): void {
    this.open(block);
    this.endParagraph();
  }

  private table(table: Element, style: TextStyle, around: Block): void {
    this.endParagraph();
    if (around.tables >= MAX_TABLES) return this.nodes(cellsOf(table), style, around);
    if (this.marker) this.emptyItem(around);
    const block = blockIn(table, around);
    const grid = layOutTable(table, block.width - block.indent);
    for (const caption of grid.captions) this.captioned(caption, style, block);
    if (grid.rows.length === 0) return;
    // Word merges adjacent tables.
    if (this.out.at(-1)?.startsWith('<w:tbl>')) this.out.push('<w:p/>');
    this.out.push(
      tableXml(
        grid,
        { indent: block.indent, rtl: block.dir === 'rtl', withoutLines: isWithoutLines(table) },
        (cell, width) => this.cell(cell.sources, style, { ...block, width }),
      ),
    );
  }

  private captioned(caption: Element, style: TextStyle, block: Block): void {
    this.nodes(caption.children, textStyle(caption, style), { ...block, style: 'Caption', keepNext: true });
    this.endParagraph();
  }

  /** The content of a cell. Its last element is a paragraph. */
  private cell(sources: Element[], style: TextStyle, around: Block): string {
    const { out } = this;
    this.out = [];
    for (const source of sources) {
      this.mark(source);
      const { indent: _, style: __, quoted: ___, ...block } = blockIn(source, around);
      // The background belongs to the cell and not to its text.
      const { mark: ____, ...inside } = textStyle(source, style);
      this.nodes(
        source.children,
        { ...inside, mark: style.mark },
        { ...block, indent: 0, lists: 0, tables: around.tables + 1 },
      );
      this.endParagraph();
    }
    const content = this.out;
    this.out = out;
    return content.at(-1)?.startsWith('<w:p') ? content.join('') : `${content.join('')}<w:p/>`;
  }

  private open(block: Block): Paragraph {
    this.paragraph ??= this.begin(block);
    return this.paragraph;
  }

  private begin(block: Block): Paragraph {
    const { marker } = this;
    this.marker = undefined;
    const place = { ...placeOf(block, marker), breakBefore: this.atPageEnd };
    this.atPageEnd = false;
    const paragraph = new Paragraph(place);
    for (const name of this.pending.splice(0)) paragraph.bookmark(this.parts.nextId(), name);
    if (marker?.kind === 'box') {
      paragraph.object(checkboxXml(this.parts.nextId(), marker.checked), {});
      paragraph.text('\t', { space: 'pre' });
    }
    return paragraph;
  }

  private endParagraph(): void {
    if (!this.paragraph) return;
    this.out.push(this.paragraph.toXml());
    this.paragraph = undefined;
  }
}

/** Text in a block of code needs no additional code style. */
function within(block: Block, style: TextStyle): TextStyle {
  return block.style === CODE && style.code ? { ...style, code: undefined } : style;
}

/** The cells of a table that is too deeply nested. */
function cellsOf(table: Element): Element[] {
  return table.children.flatMap((child) => {
    if (child.type !== 'element') return [];
    return /^(?:td|th|caption)$/.test(child.tagName) ? [{ ...child, tagName: 'div' }] : cellsOf(child);
  });
}

/** A check box that readers can change in Word. @param id unique in the document */
function checkboxXml(id: number, checked: boolean): string {
  return (
    `<w:sdt><w:sdtPr><w:id w:val="${id}"/><w14:checkbox><w14:checked w14:val="${checked ? 1 : 0}"/>` +
    '<w14:checkedState w14:val="2612" w14:font="MS Gothic"/><w14:uncheckedState w14:val="2610" w14:font="MS Gothic"/></w14:checkbox></w:sdtPr>' +
    '<w:sdtContent><w:r><w:rPr><w:rFonts w:hint="eastAsia" w:ascii="MS Gothic" w:hAnsi="MS Gothic" w:eastAsia="MS Gothic"/></w:rPr>' +
    `<w:t>${checked ? '\u2612' : '\u2610'}</w:t></w:r></w:sdtContent></w:sdt>`
  );
}

/** A horizontal rule. */
const ruleXml = (): string => '<w:p><w:pPr><w:pStyle w:val="HorizontalRule"/></w:pPr></w:p>';
