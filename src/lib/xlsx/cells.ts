import { ENTITIES, NOT_XML } from '../xml/index.js';

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
