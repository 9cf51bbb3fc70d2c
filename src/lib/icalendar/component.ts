import { decodeParameter, encodeParameter, foldLine } from '../content-lines/index.js';

export type ICalendarErrorCode =
  /** No VCALENDAR in the text. */
  | 'no_calendar'
  /** The text ends inside a component. */
  | 'truncated'
  /** More than the limits: bytes of a line or a component, depth. */
  | 'too_large'
  /** A value that its property does not allow. */
  | 'invalid_value'
  /** A TZID without a VTIMEZONE that names no known zone. */
  | 'unknown_time_zone';

/** A text that is not iCalendar, or more than this library reads. */
export class ICalendarError extends Error {
  override readonly name = 'ICalendarError';

  /** @param property name of the property or component with the error */
  constructor(
    readonly code: ICalendarErrorCode,
    message: string,
    readonly property?: string,
  ) {
    super(message);
  }
}

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
  let address: number | undefined;
  while (line[at] === ';') {
    const read = readParameter(line, at + 1);
    if (!read) return null;
    const { parameter, end } = read;
    at = end;
    if (parameter.name === 'CN' && line[at] === ':') {
      address ??= line.search(ADDRESS);
      at = nameEnd(line, at, address);
      parameter.values.push((parameter.values.pop() ?? '') + decodeParameter(line.slice(end, at)));
    }
    if (parameter.name) parameters.push(parameter);
  }
  return line[at] === ':' ? { name: name.toUpperCase(), parameters, value: line.slice(at + 1) } : null;
}

/** The address at the end of an attendee or organizer, with the colon before it. */
const ADDRESS = /:\s*mailto:[^:]*$/i;

/** The end of a name with colons and without quotes, such as `Team: North;ROLE=CHAIR:mailto:x`. @param address position; -1 without one */
function nameEnd(line: string, from: number, address: number): number {
  if (address <= from) return from;
  const next = line.indexOf(';', from);
  return next < 0 ? address : Math.min(next, address);
}

type ReadParameter = Parameter & { values: string[] };

/** Reads `NAME=value,"value"`. @returns the position of the `;` or `:` after it */
function readParameter(line: string, from: number): { parameter: ReadParameter; end: number } | null {
  let at = from;
  while (at < line.length && line[at] !== '=' && line[at] !== ';' && line[at] !== ':') at += 1;
  const text = line.slice(from, at).trim().toUpperCase();
  const name = NAME.test(text) ? text : '';
  if (line[at] !== '=') return at < line.length ? { parameter: { name, values: [''] }, end: at } : null;
  const values: string[] = [];
  const range = name === 'CN' ? nameRange(line, at + 1) : null;
  do {
    const value = readValue(line, at + 1, name, range);
    if (!value) return null;
    values.push(value.text);
    at = value.end;
  } while (line[at] === ',');
  return { parameter: { name, values }, end: at };
}

/** The quote at the end of a value, or the beginning of a parameter. */
const CLOSE_OR_NEXT = /"(?=\s*[,;:])|;\s*[\w-]+\s*=/g;

/** The part of a line that may be a CN. */
interface NameRange {
  /** The position of its last quote that may end a value; -1 without one. */
  lastClose: number;
  /** The position of the next parameter. */
  end: number;
}

/** The range of a CN. It is found once: a search for each of its values would read the rest of the line each time. */
function nameRange(line: string, from: number): NameRange {
  let lastClose = -1;
  CLOSE_OR_NEXT.lastIndex = from;
  let found = CLOSE_OR_NEXT.exec(line);
  for (; found?.[0] === '"'; found = CLOSE_OR_NEXT.exec(line)) lastClose = found.index;
  return { lastClose, end: found?.index ?? line.length };
}

/**
 * The position of the quote that ends a value; -1 without one. Names such as `"Pat "Red" Doe"` have others before it.
 * @param range of a CN, whose quotes may be unclosed
 */
function closeOf(line: string, from: number, range: NameRange | null): number {
  const first = line.indexOf('"', from);
  if (first < 0 || range === null || (first >= range.lastClose && first < range.end)) return first;
  CLOSE_OR_NEXT.lastIndex = first;
  const close = CLOSE_OR_NEXT.exec(line);
  return close?.[0] === '"' && (close.index === first || first < range.end) ? close.index : -1;
}

/** The hours of an offset that is the name of a zone: WordPress writes `UTC+5:30` without quotes. */
const HOURS = /^(?:UTC|GMT)?\s*[+-]\d{1,2}$/i;
/** Its minutes, which no time begins with. */
const MINUTES = /:[0-5]\d(?=[:;])/y;

function readValue(
  line: string,
  from: number,
  name: string,
  range: NameRange | null,
): { text: string; end: number } | null {
  const close = line[from] === '"' ? closeOf(line, from + 1, range) : -1;
  if (close >= 0) {
    let end = close + 1;
    while (end < line.length && line[end] !== ',' && line[end] !== ';' && line[end] !== ':') end += 1;
    return end < line.length ? { text: decodeParameter(line.slice(from + 1, close)), end } : null;
  }
  // A quote before a name that is not closed is no part of the name.
  if (line[from] === '"' && name !== 'CN') return null;
  if (line[from] === '"') from += 1;
  let end = from;
  while (end < line.length && line[end] !== ',' && line[end] !== ';' && line[end] !== ':') end += 1;
  // Some clients write names such as `(UTC+01:00) Berlin` without quotes. Times contain no colon, so the last one ends the name.
  if (name === 'TZID' && line[from] === '(') end = line.lastIndexOf(':');
  // Others write addresses such as `tzone://Microsoft/Utc` without quotes.
  if (name === 'TZID' && line.startsWith('://', end)) end = line.indexOf(':', end + 1);
  if (name === 'TZID' && line[end] === ':' && HOURS.test(line.slice(from, Math.min(end, from + 10)))) {
    MINUTES.lastIndex = end;
    if (MINUTES.test(line)) end = MINUTES.lastIndex;
  }
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

/** A component such as VCALENDAR, VEVENT or VALARM, with its properties in order. */
export interface Component {
  /** Upper case. */
  name: string;
  properties: Property[];
  components: Component[];
}

export const component = (
  name: string,
  properties: Property[] = [],
  components: Component[] = [],
): Component => ({ name, properties, components });

/** @param parameters values by name; null and undefined are left out */
export function property(
  name: string,
  value: string,
  parameters: Record<string, string | readonly string[] | null | undefined> = {},
): Property {
  const list: Parameter[] = [];
  for (const [key, given] of Object.entries(parameters))
    if (given !== null && given !== undefined)
      list.push({ name: key, values: typeof given === 'string' ? [given] : given });
  return { name, parameters: list, value };
}

/** The first property of this name. */
export const propertyOf = ({ properties }: Component, name: string): Property | undefined =>
  properties.find((each) => each.name === name);

export const propertiesOf = ({ properties }: Component, name: string): Property[] =>
  properties.filter((each) => each.name === name);

/** The first value of a parameter. */
export const parameterOf = ({ parameters }: Property, name: string): string | undefined =>
  parameters.find((each) => each.name === name)?.values[0];

/** A component without its last line, for a text that continues. */
export function openComponent({ name, properties, components }: Component): string {
  let text = `BEGIN:${name}\r\n`;
  for (const each of properties) text += formatProperty(each);
  for (const child of components) text += formatComponent(child);
  return text;
}

export const formatComponent = (given: Component): string => `${openComponent(given)}END:${given.name}\r\n`;

/** Properties that repeat a description as HTML: the one of Outlook, and that of RFC 9073, 6.5. */
export const HTML_DESCRIPTIONS: readonly string[] = ['X-ALT-DESC', 'STYLED-DESCRIPTION'];
