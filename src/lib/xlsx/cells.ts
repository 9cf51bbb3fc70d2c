import { ENTITIES, NOT_XML } from '../xml/index.js';

/** Value of a cell. Dates are `YYYY-MM-DD`, times `HH:MM`, moments milliseconds of local time since 1970. */
export type XlsxCell =
  | { kind: 'text'; value: string }
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

/** A cell as XML. Text is always a typed string, so that it is never taken as a formula. */
export function cellXml(cell: XlsxCell): string {
  if (cell === null) return '<c/>';
  switch (cell.kind) {
    case 'text':
      return textXml(cell.value);
    case 'number':
      return `<c><v>${cell.value}</v></c>`;
    case 'boolean':
      return `<c t="b"><v>${cell.value ? 1 : 0}</v></c>`;
    case 'date':
      return cell.value < FIRST_DAY ? textXml(cell.value) : dateXml(Date.parse(cell.value), STYLES.date);
    case 'time': {
      const [hours = 0, minutes = 0] = cell.value.split(':').map(Number);
      return `<c s="${STYLES.time}"><v>${(hours * 60 + minutes) / 1440}</v></c>`;
    }
    case 'moment':
      return dateXml(cell.value, STYLES.moment);
  }
}

export function textXml(text: string, style = 0): string {
  const shown = text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text;
  return `<c${style > 0 ? ` s="${style}"` : ''} t="inlineStr"><is><t xml:space="preserve">${xmlText(shown)}</t></is></c>`;
}

const dateXml = (ms: number, style: number): string => `<c s="${style}"><v>${(ms - EPOCH) / DAY_MS}</v></c>`;
