export { decodeQuotedPrintable, decodeText, isSevenBits, isText } from './encoded-text.js';

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
  const escaped = text.replace(/[\n^"]/g, (character) => TO_CARET[character] as string);
  return /[,;:]/.test(escaped) ? `"${escaped}"` : escaped;
}
