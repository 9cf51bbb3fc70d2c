/** Character sets and quoted-printable. Bytes are held as strings of one character a byte (latin1) until a charset is known. */
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
