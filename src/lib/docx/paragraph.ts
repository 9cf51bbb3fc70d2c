import { type Direction, firstStrong, runProperties, segments, type TextStyle } from './text-style.js';
import { withoutControls, wVal, xmlText } from './xml.js';

export type Alignment = 'left' | 'right' | 'center' | 'justify' | 'start' | 'end';

/** The position of a paragraph. Indents in twips from the start side. */
export interface ParagraphPlace {
  style?: string;
  indent: number;
  /** Hanging indent of the first line. */
  hanging?: number;
  /** Indent that the style or the numbering already has. */
  ownIndent: number;
  /** Inside a quotation but in another style, so that it needs its own bar. */
  bar?: boolean;
  numbering?: { id: number; level: number };
  align?: Alignment;
  /** Undefined means the direction of the first letter. */
  dir?: Direction;
  keepNext?: boolean;
  /** The paragraph begins on a new page. */
  breakBefore?: boolean;
  lines?: LineHeight;
  /** Further indent of the first line, twips; negative: it hangs. */
  firstLine?: number;
  /** Space above and below, twips. */
  before?: number;
  after?: number;
}

/** `w:line` and `w:lineRule`: 240ths of a line, or twips. */
export interface LineHeight {
  line: number;
  rule: 'auto' | 'atLeast';
}

/** Text (with `\n` for line breaks and `\t` for tabs) or XML such as a picture. */
type Piece = { style: TextStyle } & ({ text: string; verbatim: boolean } | { xml: string });

const BAR = '<w:pBdr><w:left w:val="single" w:sz="18" w:space="10" w:color="BFBFBF"/></w:pBdr>';
/** Word's names of the sides in right-to-left text, where "left" is the start side. */
const MIRRORED: Partial<Record<Alignment, Alignment>> = { left: 'right', right: 'left' };

/** Collects the text of a paragraph and collapses white space as browsers do. */
export class Paragraph {
  private readonly pieces: Piece[] = [];
  private bookmarks = '';
  /** A space at this place is invisible: at the start, or after white space. */
  private atSpace = true;

  constructor(private readonly place: ParagraphPlace) {}

  /** Adds text. White space that its style does not keep is collapsed: one space for each run, none at the beginning of a line. */
  text(value: string, style: TextStyle): void {
    const lines = value.replace(/\r\n?/g, '\n');
    if (style.space === 'pre') return this.add(lines, style, true);
    let text =
      style.space === 'pre-line'
        ? lines.replace(/[\t\f ]+/g, ' ').replace(/ ?\n ?/g, '\n')
        : lines.replace(/[\t\n\f ]+/g, ' ');
    if (text.startsWith(' ') && this.atSpace) text = text.slice(1);
    this.add(text, style, false);
  }

  lineBreak(style: TextStyle): void {
    this.add('\n', style, false);
  }

  /** Adds XML: a picture, a check box. */
  object(xml: string, style: TextStyle): void {
    this.pieces.push({ xml, style });
    this.atSpace = false;
  }

  /** Adds a target of links to the start of the paragraph. @param id unique in the document */
  bookmark(id: number, name: string): void {
    this.bookmarks += `<w:bookmarkStart w:id="${id}" w:name="${name}"/><w:bookmarkEnd w:id="${id}"/>`;
  }

  private add(text: string, style: TextStyle, verbatim: boolean): void {
    if (text === '') return;
    this.atSpace = ' \n\t'.includes(text.at(-1) as string);
    const last = this.pieces.at(-1);
    if (last && 'text' in last && last.style === style && last.verbatim === verbatim) last.text += text;
    else this.pieces.push({ text, style, verbatim });
  }

  /** Removes white space and one line break at the end of the paragraph, which are invisible. */
  private trimEnd(): void {
    const last = this.pieces.at(-1);
    if (!last || !('text' in last)) return;
    last.text = last.verbatim ? last.text.replace(/\n$/, '') : last.text.replace(/ *\n?$/, '');
    if (last.text === '') this.pieces.pop();
  }

  toXml(): string {
    this.trimEnd();
    const dir = this.place.dir ?? firstStrong(this.plainText());
    return `<w:p>${paragraphProperties(this.place, dir)}${this.bookmarks}${this.runs(dir)}</w:p>`;
  }

  private plainText(): string {
    return this.pieces.map((piece) => ('text' in piece ? piece.text : '')).join('');
  }

  private runs(dir: Direction | undefined): string {
    let xml = '';
    let link: string | undefined;
    for (const piece of this.pieces) {
      if (piece.style.link !== link) {
        if (link !== undefined) xml += '</w:hyperlink>';
        link = piece.style.link;
        if (link !== undefined)
          xml += link.startsWith('#')
            ? `<w:hyperlink w:anchor="${link.slice(1)}" w:history="1">`
            : `<w:hyperlink r:id="${link}" w:history="1">`;
      }
      xml += 'xml' in piece ? piece.xml : textRuns(piece.text, piece.style, dir);
    }
    return link === undefined ? xml : `${xml}</w:hyperlink>`;
  }
}

function textRuns(text: string, style: TextStyle, dir: Direction | undefined): string {
  let xml = '';
  for (const segment of segments(withoutControls(text), style.dir ?? dir, style.language)) {
    const properties = runProperties(style, segment.script);
    xml += `<w:r>${properties && `<w:rPr>${properties}</w:rPr>`}${runContent(segment.text)}</w:r>`;
  }
  return xml;
}

function runContent(text: string): string {
  if (!/[\n\t]/.test(text)) return `<w:t xml:space="preserve">${xmlText(text)}</w:t>`;
  return text
    .split(/([\n\t])/)
    .map((part) => {
      if (part === '\n') return '<w:br/>';
      if (part === '\t') return '<w:tab/>';
      return part && `<w:t xml:space="preserve">${xmlText(part)}</w:t>`;
    })
    .join('');
}

/** Its elements have the order of the schema. */
function paragraphProperties(place: ParagraphPlace, dir: Direction | undefined): string {
  let xml = '';
  if (place.style) xml += wVal('pStyle', place.style);
  if (place.keepNext) xml += '<w:keepNext/>';
  if (place.breakBefore) xml += '<w:pageBreakBefore/>';
  if (place.numbering)
    xml += `<w:numPr>${wVal('ilvl', place.numbering.level)}${wVal('numId', place.numbering.id)}</w:numPr>`;
  if (place.bar) xml += BAR;
  if (dir === 'rtl') xml += '<w:bidi/>';
  xml += spacingXml(place);
  const first = place.hanging ? -place.hanging : (place.firstLine ?? 0);
  if (place.indent !== place.ownIndent || first !== 0)
    xml += `<w:ind w:left="${place.indent}"${first < 0 ? ` w:hanging="${-first}"` : first > 0 ? ` w:firstLine="${first}"` : ''}/>`;
  xml += alignment(place.align, dir);
  return xml && `<w:pPr>${xml}</w:pPr>`;
}

function spacingXml({ before, after, lines }: ParagraphPlace): string {
  const xml =
    (before === undefined ? '' : ` w:before="${before}"`) +
    (after === undefined ? '' : ` w:after="${after}"`) +
    (lines ? ` w:line="${lines.line}" w:lineRule="${lines.rule}"` : '');
  return xml && `<w:spacing${xml}/>`;
}

function alignment(align: Alignment | undefined, dir: Direction | undefined): string {
  if (align === undefined || align === 'start') return '';
  if (align === 'justify') return wVal('jc', 'both');
  const side = align === 'end' ? 'right' : dir === 'rtl' ? (MIRRORED[align] ?? align) : align;
  return side === 'left' ? '' : wVal('jc', side);
}
