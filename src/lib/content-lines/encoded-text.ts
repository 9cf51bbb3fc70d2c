/** Character sets and quoted-printable. Bytes are held as strings of one character a byte (latin1) until a charset is known. */
import { TextDecoder } from 'node:util';

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const PAIRS = /[\x21-\x7E]/g;
/** A charset of eight bits has the same pairs with their high bits. */
const inEightBits = (pairs: string): string =>
  pairs.replace(PAIRS, (byte) => String.fromCharCode(byte.charCodeAt(0) | 0x80));

// oxlint-disable-next-line no-control-regex -- exactly the characters in question
const SHIFT_OUT = /\x0E([^\x0F\r\n]*)\x0F?|\x0F/g;

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
    // RFC 1843. A tilde may be the second byte of a pair, and never the first one.
    names: /^\s*hz(?:-gb-?2312)?\s*$/i,
    eightBits: 'gb2312',
    shift: (bytes) =>
      bytes.replace(
        /~(?:(~)|\r?\n|\{((?:[^~\r\n][^\r\n])*)(?:~\})?)/g,
        (_, tilde = '', pairs = '') => tilde + inEightBits(pairs),
      ),
  },
];

const sevenBits = (charset: string | undefined) =>
  SEVEN_BITS.find(({ names }) => charset !== undefined && names.test(charset));

/** True for charsets of seven bits that `decodeText` reads and TextDecoder does not. */
export const isSevenBits = (charset: string | undefined): boolean => sevenBits(charset) !== undefined;

/** Decodes by `charset`; without one, or with one that this runtime does not know, as UTF-8 or else as Windows-1252. */
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
  return charset !== undefined && /^(iso-2022|utf-?16)/i.test(charset);
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
