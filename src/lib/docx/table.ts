import type { Element } from 'hast';
import { attribute, declarations, hexColor, pixels, TWIPS_PER_PX } from './css.js';
import { wVal } from './xml.js';

/** Maximum number of columns in Word. */
const MAX_COLUMNS = 63;
const MIN_COLUMN = 300;

/** A `w:tc`: a cell, the continuation of a cell above, or a gap in a short row. */
interface GridCell {
  column: number;
  span: number;
  /** Elements with the content of the cell. More than one when a row has more cells than Word has columns. */
  sources: Element[];
  merge?: 'restart' | 'continue';
}

interface GridRow {
  header: boolean;
  cells: GridCell[];
}

export interface TableGrid {
  rows: GridRow[];
  /** Widths, twips. */
  columns: number[];
  captions: Element[];
}

const isElement = (node: { type: string }): node is Element => node.type === 'element';
const named = (parent: Element, ...names: string[]): Element[] =>
  parent.children.filter((child): child is Element => isElement(child) && names.includes(child.tagName));

/** Assigns the cells of a table to a grid by the HTML table model. @param width of the page or the outer cell, twips */
export function layOutTable(table: Element, width: number): TableGrid {
  const groups = table.children.filter(isElement).map((child) => ({
    header: child.tagName === 'thead',
    rows:
      child.tagName === 'tr'
        ? [child]
        : /^t(?:head|body|foot)$/.test(child.tagName)
          ? named(child, 'tr')
          : [],
  }));
  const layout = new Layout();
  for (const group of groups) layout.addGroup(group.rows, group.header);
  layout.finish();
  return {
    rows: layout.rows,
    columns: columnWidths(table, layout, width),
    captions: named(table, 'caption'),
  };
}

class Layout {
  readonly rows: GridRow[] = [];
  columns = 1;
  /** For each column, the cell that spans the next rows and the number of these rows. */
  private reaching: ({ left: number; span: number } | undefined)[] = [];
  private inHeader = true;

  addGroup(rows: Element[], header: boolean): void {
    this.reaching = [];
    for (const [index, row] of rows.entries()) {
      const cells = named(row, 'td', 'th');
      // Only the first rows can be repeated on each page.
      this.inHeader &&= header || (cells.length > 0 && cells.every((cell) => cell.tagName === 'th'));
      this.addRow(cells, rows.length - index - 1);
    }
  }

  private addRow(sources: Element[], rowsBelow: number): void {
    const cells: GridCell[] = [];
    let column = 0;
    const skipReaching = (): void => {
      for (let above = this.reaching[column]; above && above.left > 0; above = this.reaching[column]) {
        cells.push({ column, span: above.span, sources: [], merge: 'continue' });
        above.left--;
        column += above.span;
      }
    };
    for (const source of sources) {
      skipReaching();
      if (column >= MAX_COLUMNS) {
        cells.findLast((cell) => cell.sources.length > 0)?.sources.push(source);
        continue;
      }
      const span = this.freeSpan(column, spanOf(source, 'colspan'));
      const below = Math.min(rowsBelow, rowsDown(source, rowsBelow));
      cells.push({ column, span, sources: [source], ...(below > 0 && { merge: 'restart' as const }) });
      this.reaching[column] = below > 0 ? { left: below, span } : undefined;
      column += span;
    }
    while (column < MAX_COLUMNS && column < this.reaching.length) {
      skipReaching();
      column++;
    }
    const end = cells.at(-1);
    this.columns = Math.max(this.columns, end ? end.column + end.span : 1);
    this.rows.push({ header: this.inHeader, cells });
  }

  /** Limits the width of a cell by the cells that span from above. */
  private freeSpan(column: number, wanted: number): number {
    const limit = Math.min(wanted, MAX_COLUMNS - column);
    for (let n = 1; n < limit; n++) if ((this.reaching[column + n]?.left ?? 0) > 0) return n;
    return limit;
  }

  /** Fills the gaps, because Word requires rows that cover the whole grid. */
  finish(): void {
    for (const row of this.rows) {
      const filled: GridCell[] = [];
      let at = 0;
      const fill = (to: number): void => {
        if (to > at) filled.push({ column: at, span: to - at, sources: [] });
      };
      for (const cell of row.cells) {
        fill(cell.column);
        filled.push(cell);
        at = cell.column + cell.span;
      }
      fill(this.columns);
      row.cells = filled;
    }
    // A table with only header rows has no pages to repeat them on.
    if (this.rows.every((row) => row.header)) for (const row of this.rows) row.header = false;
  }
}

const spanOf = (cell: Element, name: string): number =>
  Math.max(1, Math.min(1_000, Number(attribute(cell, name) ?? 1) || 1));

/** @returns the number of rows below that a cell spans; a rowspan of 0 means the rest of the group */
function rowsDown(cell: Element, rowsBelow: number): number {
  return attribute(cell, 'rowspan') === '0' ? rowsBelow : spanOf(cell, 'rowspan') - 1;
}

/** The requested widths of columns and cells. Other columns share the rest; the sum fits the table. */
function columnWidths(table: Element, layout: Layout, width: number): number[] {
  const whole = width / TWIPS_PER_PX;
  const requested: (number | undefined)[] = named(table, 'colgroup')
    .flatMap((group) => named(group, 'col'))
    .flatMap((col) =>
      Array.from({ length: Math.min(MAX_COLUMNS, spanOf(col, 'span')) }, () => requestedWidth(col, whole)),
    );
  for (const { cells } of layout.rows.slice(0, 1))
    for (const cell of cells)
      if (cell.span === 1 && cell.sources[0])
        requested[cell.column] ??= requestedWidth(cell.sources[0], whole);
  const widths = Array.from({ length: layout.columns }, (_, i) => requested[i]);
  const given = widths.reduce<number>((sum, each) => sum + (each ?? 0), 0);
  const open = widths.filter((each) => each === undefined).length;
  const share = Math.max(MIN_COLUMN, open === 0 ? 0 : (width - given) / open);
  const scale = Math.min(1, width / (given + share * open));
  return widths.map((each) => Math.max(20, Math.round((each ?? share) * scale)));
}

function requestedWidth(element: Element, whole: number): number | undefined {
  const px =
    pixels(declarations(element).get('width'), whole) ??
    pixels(attribute(element, 'width') ?? attribute(element, 'colwidth'), whole);
  return px === undefined || px === 0 ? undefined : px * TWIPS_PER_PX;
}

/** Whether the lines of a table are switched off, as in tables that arrange a page. A table without a statement has lines. */
export function isWithoutLines(table: Element): boolean {
  const border = declarations(table).get('border') ?? declarations(table).get('border-style');
  return border === undefined
    ? attribute(table, 'border') === '0'
    : /^(?:0|none|hidden)(?:px| |$)/.test(border);
}

const NO_LINES = `<w:tblBorders>${['top', 'left', 'bottom', 'right', 'insideH', 'insideV'].map((side) => `<w:${side} w:val="nil"/>`).join('')}</w:tblBorders>`;

/**
 * Writes a table.
 *
 * @param render returns the content of a cell for its width in twips: at least one paragraph
 */
export function tableXml(
  grid: TableGrid,
  options: { indent: number; rtl: boolean; withoutLines: boolean },
  render: (cell: GridCell, width: number) => string,
): string {
  const total = grid.columns.reduce((sum, each) => sum + each, 0);
  const properties =
    wVal('tblStyle', 'TableGrid') +
    (options.rtl ? '<w:bidiVisual/>' : '') +
    `<w:tblW w:w="${total}" w:type="dxa"/>` +
    (options.indent ? `<w:tblInd w:w="${options.indent}" w:type="dxa"/>` : '') +
    (options.withoutLines ? NO_LINES : '') +
    '<w:tblLayout w:type="fixed"/>' +
    '<w:tblLook w:val="04A0" w:firstRow="1" w:lastRow="0" w:firstColumn="0" w:lastColumn="0" w:noHBand="0" w:noVBand="1"/>';
  const columns = grid.columns.map((each) => `<w:gridCol w:w="${each}"/>`).join('');
  const rows = grid.rows.map(
    (row) =>
      `<w:tr>${row.header ? '<w:trPr><w:cantSplit/><w:tblHeader/></w:trPr>' : ''}${row.cells
        .map((cell) => cellXml(grid, cell, row.header, render))
        .join('')}</w:tr>`,
  );
  return `<w:tbl><w:tblPr>${properties}</w:tblPr><w:tblGrid>${columns}</w:tblGrid>${rows.join('')}</w:tbl>`;
}

const HEADER_FILL = 'F2F2F2';

function cellXml(
  grid: TableGrid,
  cell: GridCell,
  header: boolean,
  render: (cell: GridCell, width: number) => string,
): string {
  const width = grid.columns.slice(cell.column, cell.column + cell.span).reduce((sum, each) => sum + each, 0);
  const [source] = cell.sources;
  const css = source && declarations(source);
  const fill =
    hexColor(
      css?.get('background-color') ?? css?.get('background') ?? (source && attribute(source, 'bgcolor')),
    ) ?? (header || source?.tagName === 'th' ? HEADER_FILL : undefined);
  const vertical = { middle: 'center', bottom: 'bottom' }[
    css?.get('vertical-align') ?? (source && attribute(source, 'valign')?.toLowerCase()) ?? ''
  ];
  const properties =
    `<w:tcW w:w="${width}" w:type="dxa"/>` +
    (cell.span > 1 ? wVal('gridSpan', cell.span) : '') +
    (cell.merge ? wVal('vMerge', cell.merge) : '') +
    (fill ? `<w:shd w:val="clear" w:color="auto" w:fill="${fill}"/>` : '') +
    (vertical ? wVal('vAlign', vertical) : '');
  return `<w:tc><w:tcPr>${properties}</w:tcPr>${cell.merge === 'continue' ? '<w:p/>' : render(cell, width)}</w:tc>`;
}
