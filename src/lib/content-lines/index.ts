import { TextDecoder } from 'node:util';

/** Character sets and quoted-printable. Bytes are held as strings of one character a byte (latin1) until a charset is known. */

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const PAIRS = /[\x21-\x7E]/g;
/** A charset of eight bits has the same pairs with their high bits. */
const inEightBits = (pairs: string): string =>
  pairs.replace(PAIRS, (byte) => String.fromCharCode(byte.charCodeAt(0) | 0x80));

// oxlint-disable-next-line no-control-regex -- exactly the characters in question
const SHIFT_OUT = /\x0E([^\x0E\x0F\r\n]*)\x0F?|\x0F/g;

/** Charsets of seven bits whose texts shift between ASCII and pairs. A shift ends with its line. TextDecoder does not know them. */
const SEVEN_BITS: readonly { names: RegExp; eightBits: string; shift: (bytes: string) => string }[] = [
  {
    // RFC 1557
    names: /^\s*(?:cs)?iso-?2022-?kr\s*$/i,
    eightBits: 'euc-kr',
    shift: (bytes) =>
      bytes.replaceAll('\x1B$)C', '').replace(SHIFT_OUT, (_, pairs = '') => inEightBits(pairs)),
  },
  {
    // RFC 1922. The planes of CNS 11643 are left out.
    names: /^\s*iso-?2022-?cn(?:-ext)?\s*$/i,
    eightBits: 'gb2312',
    shift: (bytes) =>
      bytes.replaceAll('\x1B$)A', '').replace(SHIFT_OUT, (_, pairs = '') => inEightBits(pairs)),
  },
  {
    // RFC 1843. A tilde may be the second byte of a pair, and never the first one. The space of a fold may be between two pairs.
    names: /^\s*hz(?:-gb-?2312)?\s*$/i,
    eightBits: 'gb2312',
    shift: (bytes) =>
      bytes.replace(
        /~(?:(~)|\r?\n|\{((?:[\t ]|[^~\t\r\n ][^\r\n])*)(?:~\})?)/g,
        (_, tilde = '', pairs = '') => tilde + inEightBits(pairs),
      ),
  },
];

const sevenBits = (charset: string | undefined) =>
  SEVEN_BITS.find(({ names }) => charset !== undefined && names.test(charset));

/** True for charsets of seven bits that `decodeText` reads and TextDecoder does not. */
export const isSevenBits = (charset: string | undefined): boolean => sevenBits(charset) !== undefined;

/**
 * Decodes by `charset`. Without one, or with one that this runtime does not know: as UTF-8, also if a few of its characters are damaged, or else
 * as Windows-1252.
 */
export function decodeText(bytes: string, charset?: string): string {
  const seven = sevenBits(charset);
  if (seven) return decodeText(seven.shift(bytes), seven.eightBits);
  if (!/[\u0080-\u00FF]/.test(bytes) && !shifts(charset)) return bytes;
  const buffer = Buffer.from(bytes, 'latin1');
  const named = charset && decoderFor(charset);
  if (named) return named.decode(buffer);
  try {
    return strictUtf8.decode(buffer);
  } catch {
    const text = buffer.toString('utf8');
    return isMostlyRead(text) ? text : new TextDecoder('windows-1252').decode(buffer);
  }
}

/** Encodings of one byte a character. */
const SINGLE_BYTES = /^(?:iso-8859-|windows-|koi8-|ibm866|macintosh|x-mac-)/;

/**
 * Decodes by the charset that a sender states for a whole file. Programs state charsets of one byte a character without looking: UTF-8 wins over
 * these, because their texts are hardly ever UTF-8.
 */
export function decodeStated(bytes: string, charset: string | undefined): string {
  if (charset === undefined || !SINGLE_BYTES.test(decoderFor(charset)?.encoding ?? ''))
    return decodeText(bytes, charset);
  try {
    return strictUtf8.decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return decodeText(bytes, charset);
  }
}

/** U+FFFD, in place of bytes that are no character. */
const DAMAGED = 0xfffd;

/** Whether a text has as many characters beyond ASCII as damaged ones. Bytes of another charset are seldom UTF-8 by chance. */
function isMostlyRead(text: string): boolean {
  let read = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) read += code === DAMAGED ? -1 : 1;
  }
  return read >= 0;
}

/** True for bytes that are a text: no control characters, and valid UTF-8 if no charset is named. */
export function isText(bytes: Buffer, charset?: string): boolean {
  try {
    const text = charset ? decodeText(bytes.toString('latin1'), charset) : strictUtf8.decode(bytes);
    return !/(?![\t\r\n])\p{Cc}/u.test(text);
  } catch {
    return false;
  }
}

/** True for charsets in which bytes below 0x80 may encode other characters than in ASCII. */
function shifts(charset: string | undefined): boolean {
  return charset !== undefined && /^(iso-2022|utf-?16)/i.test(charset);
}

/** Charsets that need no name: a text in UTF-16 has a byte order mark, and `decodeText` detects the others. */
const DETECTED: ReadonlySet<string> = new Set(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252']);

const namedIn = (contentType: string | undefined): string | undefined =>
  /;\s*charset\s*=\s*"?([^\s;"]{1,40})/i.exec(contentType ?? '')?.[1];

/**
 * The charset of a content type (RFC 5545, 8.1) if `decodeText` needs it. Undefined for one that it detects, because programs state UTF-8 and
 * Latin-1 without looking, and for one that this runtime does not know.
 */
export function charsetOf(contentType: string | undefined): string | undefined {
  const named = namedIn(contentType);
  if (named === undefined || isSevenBits(named)) return named;
  const encoding = decoderFor(named)?.encoding;
  return encoding === undefined || DETECTED.has(encoding) ? undefined : named;
}

/** Whether a content type states a charset of Western Europe, which `charsetOf` leaves to `decodeText`. */
export const isWestern = (contentType: string | undefined): boolean =>
  decoderFor(namedIn(contentType) ?? 'utf-8')?.encoding === 'windows-1252';

/** Bytes of the longest byte order mark. */
export const MARK_BYTES = 3;

/** The charsets that byte order marks state. */
const MARKS = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
] as const;

/** A byte order mark, which states the charset of a text more reliably than its sender does. */
export interface ByteOrderMark {
  charset: (typeof MARKS)[number][0];
  /** Its bytes. */
  length: number;
}

/** The byte order mark at the start of a text; null for a text without one. */
export function byteOrderMarkOf(start: Uint8Array): ByteOrderMark | null {
  const found = MARKS.find(([, mark]) => mark.every((byte, at) => start[at] === byte));
  return found ? { charset: found[0], length: found[1].length } : null;
}

function decoderFor(charset: string): TextDecoder | undefined {
  try {
    return new TextDecoder(charset.trim());
  } catch {
    return undefined;
  }
}

/** Decodes quoted-printable (RFC 2045, 6.7) without soft line breaks, bytes to bytes. Invalid sequences stay. */
export function decodeQuotedPrintable(text: string): string {
  return text.replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** The longest line without its end, in octets (RFC 5545, 3.1; RFC 6350, 3.2). */
const LINE_OCTETS = 75;

/**
 * Folds a content line before each character that would exceed 75 octets. A character is never split.
 * @returns the lines with CRLF at their ends
 */
export function foldLine(line: string): string {
  if (line.length * 3 <= LINE_OCTETS) return `${line}\r\n`;
  const bytes = Buffer.byteLength(line);
  if (bytes <= LINE_OCTETS) return `${line}\r\n`;
  const parts = bytes === line.length ? asciiParts(line) : characterParts(line);
  return `${parts.join('\r\n ')}\r\n`;
}

/** The longest lines are photos in Base64, which is ASCII: they are cut without reading each character. */
function asciiParts(line: string): string[] {
  const parts = [line.slice(0, LINE_OCTETS)];
  // The space at the start of the next line counts.
  for (let at = LINE_OCTETS; at < line.length; at += LINE_OCTETS - 1)
    parts.push(line.slice(at, at + LINE_OCTETS - 1));
  return parts;
}

function characterParts(line: string): string[] {
  const parts: string[] = [];
  let octets = 0;
  let from = 0;
  for (let at = 0; at < line.length;) {
    const code = line.codePointAt(at) as number;
    const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4;
    if (octets + size > LINE_OCTETS) {
      parts.push(line.slice(from, at));
      from = at;
      octets = 1;
    }
    octets += size;
    at += code > 0xff_ff ? 2 : 1;
  }
  return [...parts, line.slice(from)];
}

const FROM_CARET: Record<string, string> = { '^n': '\n', '^^': '^', "^'": '"' };
const TO_CARET: Record<string, string> = { '\n': '^n', '^': '^^', '"': "^'" };

/** The text of a parameter value, without its quotes (RFC 6868). */
export const decodeParameter = (value: string): string =>
  value.includes('^') ? value.replace(/\^[n^']/g, (escape) => FROM_CARET[escape] as string) : value;

/** A parameter value: escaped by RFC 6868, in quotes when it has separators. */
export function encodeParameter(text: string): string {
  if (!/[\n^",;:]/.test(text)) return text;
  const escaped = text.replace(/[\n^"]/g, (character) => TO_CARET[character] as string);
  return /[,;:]/.test(escaped) ? `"${escaped}"` : escaped;
}
