/** Value of a field. Numbers, booleans and `literal` texts, which the caller has checked, are written as they are. */
export type CsvValue = string | number | boolean | null | { literal: string };

/** Characters that a spreadsheet, or a program that prepares a file for it, drops: spaces, quotes, controls and invisible marks. */
const DROPPED = String.raw`[\s"'\u2018\u2019\u201c\u201d\uff02\uff07\u2800\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]`;
/** `=`, `+`, `-` and `@`, and the characters that compatibility normalisation (NFKC) turns into these. */
const OPERATOR = String.raw`[=+\-@\u207a-\u207c\u208a-\u208c\ufb29\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20]`;
/** Texts that spreadsheets take as formulas. */
const FORMULA = new RegExp(`^${DROPPED}*${OPERATOR}|^[\\t\\r\\n]`, 'u');
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
