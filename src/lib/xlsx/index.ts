import { rowXml, STYLES, type XlsxCell, xmlText } from './cells.js';
import { type Sink, type ZipFile, ZipWriter } from '../zip/index.js';

export type { XlsxCell } from './cells.js';
export type { Sink } from '../zip/index.js';

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

/** A name that the format allows and that no other sheet has. */
function sheetName(title: string, others: readonly string[]): string {
  const plain = title
    .toWellFormed()
    .replace(/[*?:\\/[\]\p{Cc}]+/gu, ' ')
    .replace(/^[\s'=+\-@＝＋－＠]+|[\s']+$/gu, '')
    .trim();
  const used = new Set(others.map((name) => name.toLowerCase()));
  for (let n = 1; ; n += 1) {
    const suffix = n === 1 ? '' : ` (${n})`;
    const cut = (plain || 'Sheet').slice(0, 31 - suffix.length).toWellFormed();
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
