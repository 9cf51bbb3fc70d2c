import { ENTITIES, NOT_XML } from '../xml/index.js';
import { type Sink, type ZipFile, ZipWriter } from '../zip/index.js';
export type { Sink } from '../zip/index.js';

/** Value of a cell. Dates are `YYYY-MM-DD`, times `HH:MM`, moments milliseconds of local time since 1970. */
export type XlsxCell =
  | { kind: 'text' | 'phone'; value: string }
  | { kind: 'number'; value: number }
  | { kind: 'boolean'; value: boolean }
  | { kind: 'date'; value: string }
  | { kind: 'time'; value: string }
  | { kind: 'moment'; value: number }
  | null;

/** Positions in `cellXfs` of the style sheet. */
export const STYLES = { header: 1, date: 2, time: 3, moment: 4 } as const;

const MAX_TEXT = 32_767;
const DAY_MS = 86_400_000;
/** Day 0 of spreadsheets. Earlier days than 1 March 1900 differ between programs and are written as text. */
const EPOCH = Date.UTC(1899, 11, 30);
const FIRST_DAY = '1900-03-01';

const SPECIAL = new RegExp(String.raw`[&<>\r${NOT_XML}]|_(?=x[\da-fA-F]{4}_)`, 'g');

const REPLACEMENTS: Record<string, string> = {
  ...ENTITIES,
  // Escapes of ECMA-376, section 22.9.2.19 (ST_Xstring).
  _: '_x005F_',
  '\r': '_x000D_',
};

/** Text of an element or attribute without characters that XML cannot contain. */
export function xmlText(text: string): string {
  const whole = text.toWellFormed();
  // Most texts need no replacement: a search alone takes half the time.
  return whole.search(SPECIAL) < 0 ? whole : whole.replace(SPECIAL, (found) => REPLACEMENTS[found] ?? '');
}

/** Names of columns by their numbers from 0: A to Z, AA to ZZ, AAA and so on. */
const columnNames: string[] = [];

function columnName(n: number): string {
  for (let next = columnNames.length; next <= n; next += 1) {
    const before = next < 26 ? '' : columnNames[Math.floor(next / 26) - 1];
    columnNames.push(`${before}${String.fromCodePoint(65 + (next % 26))}`);
  }
  return columnNames[n]!;
}

/**
 * A row with the references of its cells: the format makes them optional, but ExcelJS and others do not read a row without them.
 * An empty cell is left out. @param number from 1
 */
export function rowXml(cells: readonly XlsxCell[], number: number, style?: number): string {
  let xml = `<row r="${number}">`;
  for (const [n, cell] of cells.entries())
    if (cell !== null) xml += cellXml(cell, `${columnName(n)}${number}`, style);
  return `${xml}</row>`;
}

/** A cell as XML. Text is always a typed string, so that it is never taken as a formula. */
function cellXml(cell: Exclude<XlsxCell, null>, reference: string, style?: number): string {
  switch (cell.kind) {
    case 'text':
    case 'phone':
      return textXml(cell.value, reference, style);
    case 'number':
      return numberXml(cell.value, reference);
    case 'boolean':
      return `<c r="${reference}" t="b"><v>${cell.value ? 1 : 0}</v></c>`;
    case 'date':
      return cell.value < FIRST_DAY
        ? textXml(cell.value, reference)
        : numberXml(dayOf(Date.parse(cell.value)), reference, STYLES.date);
    case 'time': {
      const [hours = 0, minutes = 0] = cell.value.split(':').map(Number);
      return numberXml((hours * 60 + minutes) / 1440, reference, STYLES.time);
    }
    case 'moment':
      return numberXml(dayOf(cell.value), reference, STYLES.moment);
  }
}

const opening = (reference: string, style = 0): string =>
  `<c r="${reference}"${style > 0 ? ` s="${style}"` : ''}`;

function textXml(text: string, reference: string, style?: number): string {
  const shown = text.length > MAX_TEXT ? text.slice(0, MAX_TEXT).toWellFormed() : text;
  return `${opening(reference, style)} t="inlineStr"><is><t xml:space="preserve">${xmlText(shown)}</t></is></c>`;
}

const numberXml = (value: number, reference: string, style?: number): string =>
  `${opening(reference, style)}><v>${value}</v></c>`;

const dayOf = (ms: number): number => (ms - EPOCH) / DAY_MS;

/** Rows of a sheet, with its header. */
const MAX_ROWS = 1_048_576;
/** Uncompressed bytes of a sheet: the container has 32-bit sizes. */
const MAX_SHEET_BYTES = 3 * 1024 ** 3;
/** Widths of columns, in characters. */
const MIN_WIDTH = 20;
const MAX_WIDTH = 40;
/** Width of a column of UUIDs, in characters. */
export const UUID_WIDTH = 38;
/** Characters that are collected before they are compressed. */
const CHUNK = 64 * 1024;

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** Media type of workbooks. */
export const XLSX_TYPE = `${TYPE}.sheet`;

/**
 * Writes a workbook (ECMA-376) as a stream with flat memory. A sheet that exceeds the limits of the format continues in
 * another one with the same header.
 */
export class XlsxWriter {
  private readonly zip: ZipWriter;
  private readonly names: string[] = [];
  private file: ZipFile | undefined;
  private buffer = '';
  private rows = 0;
  private title = '';
  private header: readonly string[] = [];
  private widths: readonly number[] = [];

  /** @param sink receives the bytes; its error rejects the pending call */
  constructor(
    sink: Sink,
    private readonly maxRows = MAX_ROWS,
  ) {
    this.zip = new ZipWriter(sink);
  }

  /** Begins a sheet and ends the previous one. @param widths of the first columns, in characters; others fit their titles */
  async sheet(title: string, header: readonly string[], widths: readonly number[] = []): Promise<void> {
    await this.endSheet();
    this.title = title;
    this.header = header;
    this.widths = widths;
    await this.beginSheet();
  }

  async row(cells: readonly XlsxCell[]): Promise<void> {
    if (this.rows >= this.maxRows || (this.file?.size ?? 0) > MAX_SHEET_BYTES) {
      await this.endSheet();
      await this.beginSheet();
    }
    await this.append(cells);
  }

  /** Ends the workbook. It must have a sheet. */
  async end(): Promise<void> {
    await this.endSheet();
    await this.zip.file('xl/styles.xml', stylesXml());
    await this.zip.file('xl/workbook.xml', workbookXml(this.names));
    await this.zip.file('xl/_rels/workbook.xml.rels', workbookRelationsXml(this.names.length));
    await this.zip.file('_rels/.rels', packageRelationsXml());
    await this.zip.file('[Content_Types].xml', contentTypesXml(this.names.length));
    await this.zip.end();
  }

  private async beginSheet(): Promise<void> {
    this.names.push(sheetName(this.title, this.names));
    this.file = this.zip.open(`xl/worksheets/sheet${this.names.length}.xml`);
    this.rows = 0;
    const pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
    const view = `<sheetViews><sheetView workbookViewId="0">${pane}</sheetView></sheetViews>`;
    this.buffer = `${XML}<worksheet xmlns="${MAIN}">${view}${columnsXml(this.header, this.widths)}<sheetData>`;
    await this.append(
      this.header.map((value) => ({ kind: 'text', value })),
      STYLES.header,
    );
  }

  private async append(cells: readonly XlsxCell[], style?: number): Promise<void> {
    this.rows += 1;
    this.buffer += rowXml(cells, this.rows, style);
    if (this.buffer.length >= CHUNK) await this.flush();
  }

  private async flush(): Promise<void> {
    const text = this.buffer;
    this.buffer = '';
    await this.file!.write(text);
  }

  private async endSheet(): Promise<void> {
    if (!this.file) return;
    this.buffer += '</sheetData></worksheet>';
    await this.flush();
    await this.file.end();
    this.file = undefined;
  }
}

/** Widths in characters: by default a time fits, and most titles. Programs show `###` for a time that does not fit. */
function columnsXml(header: readonly string[], widths: readonly number[]): string {
  const columns = header.map((title, n) => {
    const width = widths[n] ?? Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, title.length + 2));
    return `<col min="${n + 1}" max="${n + 1}" width="${width}" customWidth="1"/>`;
  });
  return columns.length === 0 ? '' : `<cols>${columns.join('')}</cols>`;
}

/** Excel keeps this name, in any case, for its own use. */
const RESERVED = 'history';

/** A name that the format allows and that no other sheet has. */
function sheetName(title: string, others: readonly string[]): string {
  const plain = title
    .toWellFormed()
    .replace(/[*?:\\/[\]\p{Cc}]+/gu, ' ')
    .replace(/^[\s'=+\-@＝＋－＠]+|[\s']+$/gu, '')
    .trim();
  const used = new Set([RESERVED, ...others.map((name) => name.toLowerCase())]);
  for (let n = 1; ; n += 1) {
    const suffix = n === 1 ? '' : ` (${n})`;
    // The cut may leave half of a surrogate pair.
    const cut = (plain || 'Sheet').slice(0, 31 - suffix.length).replace(/[\uD800-\uDBFF]$/, '');
    const name = `${cut.replace(/[\s']+$/u, '')}${suffix}`;
    if (!used.has(name.toLowerCase())) return name;
  }
}

function stylesXml(): string {
  const format = (id: number, font = 0) =>
    `<xf numFmtId="${id}" fontId="${font}" fillId="0" borderId="0" xfId="0"${id > 0 ? ' applyNumberFormat="1"' : ''}${font > 0 ? ' applyFont="1"' : ''}/>`;
  const font = (bold: string) => `<font>${bold}<sz val="11"/><name val="Calibri"/></font>`;
  return (
    `${XML}<styleSheet xmlns="${MAIN}"><numFmts count="3"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>` +
    `<numFmt numFmtId="165" formatCode="hh:mm"/><numFmt numFmtId="166" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>` +
    `<fonts count="2">${font('')}${font('<b/>')}</fonts>` +
    `<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
    `<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
    `<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
    `<cellXfs count="5">${format(0)}${format(0, 1)}${format(164)}${format(165)}${format(166)}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`
  );
}

function workbookXml(names: readonly string[]): string {
  const sheets = names.map(
    (name, n) =>
      `<sheet name="${xmlText(name).replaceAll('"', '&quot;')}" sheetId="${n + 1}" r:id="rId${n + 1}"/>`,
  );
  return `${XML}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets>${sheets.join('')}</sheets></workbook>`;
}

const each = (count: number, xml: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => xml(n + 1)).join('');

function workbookRelationsXml(sheets: number): string {
  const relation = (id: number, type: string, target: string) =>
    `<Relationship Id="rId${id}" Type="${RELATIONS}/${type}" Target="${target}"/>`;
  const all = each(sheets, (n) => relation(n, 'worksheet', `worksheets/sheet${n}.xml`));
  return `${XML}<Relationships xmlns="${PACKAGE}/relationships">${all}${relation(sheets + 1, 'styles', 'styles.xml')}</Relationships>`;
}

const packageRelationsXml = (): string =>
  `${XML}<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`;

function contentTypesXml(sheets: number): string {
  const override = (part: string, type: string) =>
    `<Override PartName="/xl/${part}.xml" ContentType="${type}+xml"/>`;
  return (
    `${XML}<Types xmlns="${PACKAGE}/content-types">` +
    `<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
    `<Default Extension="xml" ContentType="application/xml"/>${override('workbook', `${TYPE}.sheet.main`)}` +
    `${override('styles', `${TYPE}.styles`)}${each(sheets, (n) => override(`worksheets/sheet${n}`, `${TYPE}.worksheet`))}</Types>`
  );
}
