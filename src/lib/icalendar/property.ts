import { decodeParameter, encodeParameter, foldLine } from '../content-lines/index.js';

/** A parameter; values are decoded (RFC 6868) and without quotes. */
export interface Parameter {
  /** Upper case. */
  name: string;
  values: readonly string[];
}

/** A content line. The value is as written: `values.ts` reads it by its type, and unknown properties stay unchanged. */
export interface Property {
  /** Upper case. */
  name: string;
  parameters: readonly Parameter[];
  value: string;
}

const NAME = /^[A-Za-z0-9_-]+$/;
/** ASCII control characters except the tab: none may occur in a content line. */
const CONTROL = /[^\P{Cc}\t\u0080-\u009F]/gu;

/** @returns null for a line without a name and a colon */
export function parseProperty(line: string): Property | null {
  let at = 0;
  while (at < line.length && line[at] !== ':' && line[at] !== ';') at += 1;
  const name = line.slice(0, at).trim();
  if (at === line.length || !NAME.test(name)) return null;
  const parameters: Parameter[] = [];
  while (line[at] === ';') {
    const read = readParameter(line, at + 1);
    if (!read) return null;
    if (read.parameter.name) parameters.push(read.parameter);
    at = read.end;
  }
  return line[at] === ':' ? { name: name.toUpperCase(), parameters, value: line.slice(at + 1) } : null;
}

/** Reads `NAME=value,"value"`. @returns the position of the `;` or `:` after it */
function readParameter(line: string, from: number): { parameter: Parameter; end: number } | null {
  let at = from;
  while (at < line.length && line[at] !== '=' && line[at] !== ';' && line[at] !== ':') at += 1;
  const text = line.slice(from, at).trim().toUpperCase();
  const name = NAME.test(text) ? text : '';
  if (line[at] !== '=') return at < line.length ? { parameter: { name, values: [''] }, end: at } : null;
  const values: string[] = [];
  do {
    const value = readValue(line, at + 1, name);
    if (!value) return null;
    values.push(value.text);
    at = value.end;
  } while (line[at] === ',');
  return { parameter: { name, values }, end: at };
}

function readValue(line: string, from: number, name: string): { text: string; end: number } | null {
  if (line[from] === '"') {
    const close = line.indexOf('"', from + 1);
    if (close < 0) return null;
    let end = close + 1;
    while (end < line.length && line[end] !== ',' && line[end] !== ';' && line[end] !== ':') end += 1;
    return end < line.length ? { text: decodeParameter(line.slice(from + 1, close)), end } : null;
  }
  let end = from;
  while (end < line.length && line[end] !== ',' && line[end] !== ';' && line[end] !== ':') end += 1;
  // Some clients write names such as `(UTC+01:00) Berlin` without quotes. Times contain no colon, so the last one ends the name.
  if (name === 'TZID' && line[from] === '(') end = line.lastIndexOf(':');
  // Others write addresses such as `tzone://Microsoft/Utc` without quotes.
  if (name === 'TZID' && line.startsWith('://', end)) end = line.indexOf(':', end + 1);
  if (end < from) return null;
  return end < line.length ? { text: decodeParameter(line.slice(from, end)), end } : null;
}

/** The content line of a property, folded after 75 octets, with its CRLF. */
export function formatProperty({ name, parameters, value }: Property): string {
  const head = parameters.map(({ name: key, values }) => `;${key}=${values.map(formatValue).join(',')}`);
  return foldLine(`${name}${head.join('')}:${value.replaceAll(CONTROL, '')}`);
}

const formatValue = (text: string): string =>
  encodeParameter(
    text.replaceAll(/\r\n?/g, '\n').replaceAll(CONTROL, (character) => (character === '\n' ? character : '')),
  );
