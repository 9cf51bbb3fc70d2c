import { decodeParameter } from '../../content-lines/index.js';
import { VcardError } from '../card.js';
import { cleanText, isPropertyName, MEDIA_FAMILY, NAME } from '../values.js';
import { nameOfSlashed } from './slashed-names.js';
import { decodeQuotedPrintable, decodeStated, decodeText, isText } from '../../content-lines/index.js';

/** One content line of a card, decoded. */
export interface Property {
  /** As written; null without one. */
  group: string | null;
  /** Upper case. */
  name: string;
  params: Params;
  /** Escaped as in vCard 3.0 and 4.0, in one line; empty for binary values. */
  value: string;
  /** The bytes of a base64 value. */
  binary: Buffer | null;
  /** The lines of a nested card (AGENT of vCard 2.1). */
  nested: string | null;
}

/** Names in upper case. `get` returns the first value. */
export class Params extends Map<string, string[]> {
  first(name: string): string | undefined {
    return this.get(name)?.[0];
  }

  /** The values of TYPE in lower case, also of quoted lists such as `TYPE="work,voice"`. */
  types(): string[] {
    return (this.get('TYPE') ?? [])
      .flatMap((value) => value.split(','))
      .map((type) => type.trim().toLowerCase());
  }
}

export interface CardLines {
  version: '2.1' | '3.0' | '4.0';
  properties: Property[];
}

/** Bounds the memory: a property takes a hundred times that of the shortest line. */
const MAX_PROPERTIES = 10_000;
/** Parameters and their values of all properties. Each is decoded on its own: millions of them would block the process for seconds. */
const MAX_PARAMETERS = 20_000;

/** The content lines of one card, in order. @param charset of properties without one @throws VcardError */
export function parseCard(bytes: Buffer, charset?: string): CardLines {
  const lines = bytes.toString('latin1').split('\n');
  const version = versionOf(lines);
  const properties: Property[] = [];
  let parameters = 0;
  for (const line of logicalLines(lines, version === '2.1')) {
    const divided = divide(line);
    parameters += separatorsIn(divided.header);
    if (parameters > MAX_PARAMETERS)
      throw new VcardError('card_too_large', `The card has more than ${MAX_PARAMETERS} parameters.`);
    const property = parseLine(line, divided, version === '2.1', charset);
    if (property) properties.push(property);
    if (properties.length > MAX_PROPERTIES)
      throw new VcardError('card_too_large', `The card has more than ${MAX_PROPERTIES} properties.`);
  }
  return { version, properties };
}

const VERSIONS = { 2: '2.1', 3: '3.0', 4: '4.0' } as const;

/** A card without VERSION is read as 3.0, whose readers accept the most. Of a version, its major number counts: programs write `3`, `4.` and `4.1`. */
function versionOf(lines: string[]): CardLines['version'] {
  const line = lines.find((text) => /^VERSION\s*[;:]/i.test(text));
  const version = line?.slice(line.indexOf(':') + 1).trim();
  if (version === undefined || version === '') return '3.0';
  const [, major] = /^([234])(?:\.\d*)?$/.exec(version) ?? [];
  if (major !== undefined) return VERSIONS[Number(major) as keyof typeof VERSIONS];
  throw new VcardError('unsupported_version', 'The major version of the card is not 2, 3 or 4.');
}

interface LogicalLine {
  /** The physical lines of the header; joining them once keeps the time linear. */
  header: string[];
  /** The physical lines of the value; null until the colon is found. */
  parts: string[] | null;
  /** The header read so far ends within quotes. */
  quoted: boolean;
  encoding: 'quoted-printable' | 'base64' | null;
  nested: string[] | null;
}

/** Joins folded lines, soft line breaks of quoted-printable and base64 without indentation; collects nested cards. */
function* logicalLines(lines: string[], isOld: boolean): Generator<LogicalLine> {
  let current: LogicalLine | undefined;
  let nesting = 0;
  /** The lines of the nested card are folded lines of AGENT: they end with the first line without indentation. */
  let isFoldedAgent = false;
  for (const [at, raw] of lines.entries()) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    if (current?.nested && isFoldedAgent && /^[ \t]/.test(line)) {
      current.nested.push(line.slice(1));
      continue;
    }
    if (isFoldedAgent) nesting = 0;
    isFoldedAgent = false;
    const begins = BEGIN.test(line);
    if (current?.nested && (nesting > 0 || begins)) {
      current.nested.push(line);
      if (begins || (nesting > 0 && AGENT_BEGIN.test(line))) nesting++;
      else if (END.test(line)) nesting--;
      continue;
    }
    const isFolded = /^[ \t]/.test(lines[at + 1] ?? '');
    const isHeader = isFolded && HEADER.test(line) && hasColonBelow(lines, at);
    if (current && continues(current, line, isOld, isHeader)) continue;
    if (current) yield current;
    current = isFolded || line.includes(':') ? startOf(line) : undefined;
    if (current?.nested && current.parts?.[0]?.trim()) {
      current.nested.push(current.parts[0].trim());
      nesting = 1;
    }
    isFoldedAgent = isFolded && Boolean(current?.nested);
  }
  if (current) yield current;
}

const BEGIN = /^\s*BEGIN\s*:\s*VCARD\s*$/i;
const END = /^END\s*:\s*VCARD\s*$/i;
const AGENT_BEGIN = /^(?:[\w-]+\.)?AGENT\s*(?:;[^:]*)?:\s*BEGIN\s*:\s*VCARD\s*$/i;

/**
 * Adds the line to the current property if it continues the property. @returns whether it does
 * @param isHeader the line begins a property whose colon is in a folded line
 */
function continues(current: LogicalLine, line: string, isOld: boolean, isHeader: boolean): boolean {
  const isIndented = line.startsWith(' ') || line.startsWith('\t');
  if (current.parts === null) {
    if (isIndented) addToHeader(current, line.slice(1));
    return isIndented;
  }
  const last = current.parts.at(-1) as string;
  if (current.encoding === 'quoted-printable' && last.endsWith('=')) {
    current.parts[current.parts.length - 1] = last.slice(0, -1);
    current.parts.push(line);
  } else if (isIndented) {
    // vCard 2.1 folds before white space, which belongs to the value. Later versions insert one white space character.
    current.parts.push(isOld && current.encoding === null ? line : line.slice(1));
  } else if (line.includes(':') || isHeader) return false;
  else if (current.encoding === 'base64') current.parts.push(line);
  // Line breaks that the writer of the card did not escape.
  else if (line !== '') current.parts.push(`\\n${line}`);
  return true;
}

/** The start of a property whose parameters continue in the next line. A word with other marks than those of RFC 6350 alone is text. */
const HEADER = new RegExp(String.raw`^(?:[\w-]+\.)?(?:${NAME}\s*;|[A-Za-z0-9-]+\s*$)`);

/** Whether the folded lines below a line have a colon: a line without one is no property, but the text of a line break without escape. */
function hasColonBelow(lines: readonly string[], at: number): boolean {
  for (let below = at + 1; /^[ \t]/.test(lines[below] ?? ''); below++)
    if (lines[below]?.includes(':')) return true;
  return false;
}

function startOf(line: string): LogicalLine {
  const current: LogicalLine = { header: [], parts: null, quoted: false, encoding: null, nested: null };
  addToHeader(current, line);
  return current;
}

/** Adds to the header up to the first colon outside quotes, where the value starts. */
function addToHeader(current: LogicalLine, text: string): void {
  const colon = colonOf(text, current);
  if (colon === -1) {
    current.header.push(text);
    return;
  }
  current.header.push(text.slice(0, colon));
  const header = current.header.join('');
  const value = text.slice(colon + 1);
  current.parts = [value];
  if (/;\s*(ENCODING\s*=\s*"?)?QUOTED-PRINTABLE\b/i.test(header)) current.encoding = 'quoted-printable';
  else if (/;\s*(ENCODING\s*=\s*"?(BASE64|B)\b|BASE64\b)/i.test(header)) current.encoding = 'base64';
  const isAgent = /^(?:[\w-]+\.)?AGENT\s*(;|$)/i.test(header);
  if (isAgent && /^\s*(BEGIN\s*:\s*VCARD\s*)?$/i.test(value)) current.nested = [];
}

/** The first colon outside quotes, or -1; `state.quoted` is kept from line to line. */
function colonOf(text: string, state: { quoted: boolean }): number {
  if (!state.quoted && !text.includes('"')) return text.indexOf(':');
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') state.quoted = !state.quoted;
    else if (text[at] === ':' && !state.quoted) return at;
  }
  return -1;
}

/** Header and value; the first colon divides them when a quote is never closed. */
function divide({ header, parts }: LogicalLine): { header: string; value: string } {
  const text = header.join('');
  if (parts !== null) return { header: text, value: parts.join('') };
  const colon = text.indexOf(':');
  return { header: text.slice(0, Math.max(colon, 0)), value: text.slice(colon + 1) };
}

function separatorsIn(header: string): number {
  let count = 0;
  for (let at = 0; at < header.length; at++) if (header[at] === ';' || header[at] === ',') count++;
  return count;
}

function parseLine(
  line: LogicalLine,
  { header, value: text }: ReturnType<typeof divide>,
  isOld: boolean,
  stated: string | undefined,
): Property | undefined {
  const { group, name: written, params } = parseHeader(header, isOld, stated);
  const name = written.includes('/') ? nameOfSlashed(written) : written;
  if (!isPropertyName(name)) return undefined;
  const own = params.first('CHARSET');
  const charset = own ?? stated;
  const decode = (bytes: string): string =>
    own === undefined ? decodeStated(bytes, stated) : decodeText(bytes, own);
  for (const used of ['CHARSET', 'ENCODING']) params.delete(used);
  const property: Property = { group, name, params, value: '', binary: null, nested: null };
  if (line.nested?.length) return { ...property, nested: decode(line.nested.join('\n')) };
  if (line.encoding === 'base64') {
    const binary = Buffer.from(text, 'base64');
    if (MEDIA_FAMILY.has(name) || !isText(binary, charset)) return { ...property, binary };
    return { ...property, value: oneLine(decode(binary.toString('latin1'))) };
  }
  const bytes = line.encoding === 'quoted-printable' ? decodeQuotedPrintable(text) : text;
  return { ...property, value: oneLine(decode(bytes)) };
}

/** Decoded line breaks become escapes; other control characters are removed. */
function oneLine(value: string): string {
  const text = value.toWellFormed();
  return CONTROL.test(text) ? text.replace(/\r\n?|\n/g, '\\n').replace(CONTROLS, '') : text;
}

const CONTROL = /(?!\t)\p{Cc}/u;
const CONTROLS = new RegExp(CONTROL, 'gu');

function parseHeader(
  header: string,
  isOld: boolean,
  charset: string | undefined,
): Pick<Property, 'group' | 'name' | 'params'> {
  const [full = '', ...rest] = splitParams(header, ';');
  const dot = full.lastIndexOf('.');
  const group = dot > 0 ? full.slice(0, dot).trim() : '';
  const params = new Params();
  for (const param of rest) {
    const own = ANDROID_CUSTOM.exec(param)?.[1];
    if (own !== undefined) {
      params.set(ANDROID_LABEL, [androidLabel(own)]);
      continue;
    }
    const equals = param.indexOf('=');
    const name = equals === -1 ? bareName(param) : param.slice(0, equals).trim().toUpperCase();
    if (!isPropertyName(name)) continue;
    const values = splitParams(param.slice(equals + 1), ',')
      .map((value) => paramText(value, isOld, charset))
      .filter((value) => value !== '');
    const known = params.get(name);
    if (!known) params.set(name, values);
    else for (const value of values) known.push(value);
  }
  return {
    group: /^[\w-]+$/.test(group) ? group : null,
    name: full
      .slice(dot + 1)
      .trim()
      .toUpperCase(),
    params,
  };
}

/** The parameter under which a property has the label of Android's `X-CUSTOM(...)`. */
export const ANDROID_LABEL = 'X-ANDROID-LABEL';

/** `X-CUSTOM(CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE,=D0=94)`: a label of the user's own words, in vCard 2.1 of Android. */
const ANDROID_CUSTOM = /^\s*X-CUSTOM\((.*)\)\s*$/is;

function androidLabel(text: string): string {
  const options = /^(?:\s*(?:CHARSET|ENCODING)\s*=[^,]*,)*/i.exec(text)?.[0] ?? '';
  const label = text.slice(options.length);
  const isQuoted = /ENCODING\s*=\s*QUOTED-PRINTABLE/i.test(options);
  const charset = /CHARSET\s*=\s*([^,\s]+)/i.exec(options)?.[1];
  return cleanText(decodeText(isQuoted ? decodeQuotedPrintable(label) : label, charset)) ?? '';
}

/** vCard 2.1 has parameters without names: an encoding, or else a type. */
function bareName(value: string): string {
  return /^\s*(QUOTED-PRINTABLE|BASE64|8BIT|7BIT)\s*$/i.test(value) ? 'ENCODING' : 'TYPE';
}

/** Splits outside quotes. */
function splitParams(text: string, separator: ';' | ','): string[] {
  if (!text.includes('"')) return text.split(separator);
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') quoted = !quoted;
    else if (text[at] === separator && !quoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** The value of a parameter: without quotes, with the escapes of RFC 6868. */
function paramText(value: string, isOld: boolean, charset: string | undefined): string {
  // Bytes are not trimmed: 0xA0 is white space only as a character.
  const bare = decodeStated(value, charset)
    .trim()
    .replace(/^"([^"]*)"$/, '$1');
  return cleanText(isOld ? bare : decodeParameter(bare)) ?? '';
}
