import { Readable } from 'node:stream';
import { UuDecoder } from '../correction/decoders.js';
import type { EmbeddedFile } from './embedded-file.js';

const BEGIN = /^begin [0-7]{3,4} (\S.*)$/;
const END = /^end[\t ]*$/;
/** The number of bytes, and their characters; a space or a backquote is zero. */
const ROW = /^[\x20-\x60]{1,90}$/;
/** Lines of a file end with a checksum in some programs. */
const CHECKSUM = 2;
const MAX_FILES = 100;
/** Characters of a text that is divided. */
const MAX_TEXT = 16_777_216;
/** Characters that are decoded at a time. */
const PIECE = 65_536;

/**
 * Divides a text into what people read and the files that programs before MIME, and some after it, have written into it with uuencode:
 * from `begin 644 name` to `end`. What only begins like a file stays.
 */
export function splitUuencoded(text: string): { text: string; files: EmbeddedFile[] } {
  const files: EmbeddedFile[] = [];
  if (text.length > MAX_TEXT) return { text, files };
  const begins = /^begin [0-7]{3,4} \S/gm;
  let kept = '';
  let from = 0;
  let file: { name: string; start: number; rows: number; isOver: boolean } | null = null;
  for (let at = 0; at < text.length && files.length < MAX_FILES;) {
    if (!file) {
      begins.lastIndex = at;
      at = begins.exec(text)?.index ?? text.length;
    }
    const found = text.indexOf('\n', at);
    const end = found < 0 ? text.length : found;
    const line = text.slice(at, text[end - 1] === '\r' && end > at ? end - 1 : end);
    const name = BEGIN.exec(line)?.[1];
    if (name !== undefined) file = { name: name.trim(), start: at, rows: 0, isOver: false };
    else if (file && file.rows > 0 && END.test(line)) {
      files.push(fileOf(file.name, text.slice(file.start, end)));
      kept += text.slice(from, file.start);
      from = Math.min(end + 1, text.length);
      file = null;
    } else if (file && !file.isOver && isRow(line)) {
      file.rows += 1;
      // The last row, of no bytes, may be a blank that got lost.
      file.isOver = line === '';
    } else file = null;
    at = end + 1;
  }
  return { text: kept + text.slice(from), files };
}

function isRow(line: string): boolean {
  if (line === '') return true;
  if (!ROW.test(line)) return false;
  const bytes = (line.charCodeAt(0) - 32) & 63;
  // Blanks at the end of a line get lost.
  return line.trimEnd().length - 1 <= Math.ceil(bytes / 3) * 4 + CHECKSUM;
}

const fileOf = (name: string, encoded: string): EmbeddedFile => ({
  name,
  contentType: null,
  read: () => Readable.from(pieces(encoded)).pipe(new UuDecoder()),
});

function* pieces(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += PIECE) yield text.slice(at, at + PIECE);
}
