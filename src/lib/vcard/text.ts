/** Texts of vCards: character sets, escapes, lists. Bytes are held as strings of one character a byte (latin1) until a charset is known. */
import { TextDecoder } from 'node:util';

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes by `charset`; without one, or with one that this runtime does not know, as UTF-8 or else as Windows-1252. */
export function decodeText(bytes: string, charset?: string): string {
  if (!/[\u0080-\u00FF]/.test(bytes) && !shifts(charset)) return bytes;
  const buffer = Buffer.from(bytes, 'latin1');
  const named = charset && decoderFor(charset);
  if (named) return named.decode(buffer);
  try {
    return strictUtf8.decode(buffer);
  } catch {
    return new TextDecoder('windows-1252').decode(buffer);
  }
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
  return charset !== undefined && /^(iso-2022|utf-?16|hz)/i.test(charset);
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

/** One escaped text of RFC 6350, 3.4. A backslash before any other character stays: vCard 2.1 does not escape it. */
export function unescapeText(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\([nN,;:\\])/g, (_, char: string) => (char === 'n' || char === 'N' ? '\n' : char));
}

export function escapeText(text: string): string {
  return text.replace(/[\\,;]|\r\n?|\n/g, (char) => (char < ' ' ? '\\n' : `\\${char}`));
}

/** Splits at each `separator` without a backslash before it; the parts stay escaped. */
export function splitEscaped(text: string, separator: ',' | ';'): string[] {
  if (!text.includes('\\')) return text.split(separator);
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === separator) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

const CONTROLS = /(?![\t\n])\p{Cc}/gu;

/** Removes control characters other than tab and line feed, lone surrogates and outer white space; null for an empty text. */
export function cleanText(text: string | null | undefined): string | null {
  if (!text) return null;
  const cleaned = text.replace(/\r\n?/g, '\n').replace(CONTROLS, '').toWellFormed().trim();
  return cleaned || null;
}

/** As `cleanText`, in one line. */
export function cleanLine(text: string | null | undefined): string | null {
  const cleaned = cleanText(text);
  if (!cleaned?.includes('\n')) return cleaned;
  // Not by one expression with `\s*`: its time is quadratic in a run of spaces.
  const lines = cleaned.split('\n').map((line) => line.trim());
  return lines.filter(Boolean).join(' ');
}

/** An unescaped and cleaned text in one line. */
export function lineOf(value: string | undefined): string | null {
  return value ? cleanLine(unescapeText(value)) : null;
}

/** The cleaned texts without empty ones and duplicates. */
export function distinct(texts: Iterable<string | null | undefined>): string[] {
  return [...new Set([...texts].filter((text): text is string => Boolean(text)))];
}

/** A type in the form of an entry of TYPE, whose separator is the comma. */
export function typeToken(type: string): string {
  return cleanLine(type.replaceAll(',', ' '))?.toLowerCase() ?? '';
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
