/** Value of a field. Numbers, booleans and `literal` texts, which the caller has checked, are written as they are. */
export type CsvValue = string | number | boolean | null | { literal: string };

/** Spreadsheets take such texts as formulas, also after spaces and quotes. */
const FORMULA = /^[\s"']*[=+\-@\t\r\n＝＋－＠]|^[\t\r\n]/u;
const QUOTED = /[",;\r\n\t]|^\s|\s$/;

/** Marks the text as UTF-8 for spreadsheets. */
export const BYTE_ORDER_MARK = '\ufeff';

/**
 * A line of a CSV file (RFC 4180), with its line end. A text that a spreadsheet would take as a formula gets a leading
 * apostrophe, unless it is literal.
 */
export const csvLine = (values: readonly CsvValue[]): string => `${values.map(field).join(',')}\r\n`;

function field(value: CsvValue): string {
  if (value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'object' ? value.literal : FORMULA.test(value) ? `'${value}` : value;
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
