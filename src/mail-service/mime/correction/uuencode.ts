import { Transform, type TransformCallback } from 'node:stream';

/** A longer line is decoded in pieces. */
const MAX_LINE = 4_096;
/** The transfer encodings that mean uuencode; none is standard (RFC 2045 6.3). */
export const UU_ENCODINGS: ReadonlySet<string> = new Set(['x-uuencode', 'uuencode', 'x-uue', 'uue']);
/** A line, or several empty ones. */
const LINES = /(?:\r?\n)+|[^\n]+\n?/g;
const BEGIN = /^begin [0-7]{3,4} ./;

/** Decodes the file between the lines `begin` and `end` (POSIX uuencode). Passes the text before it through, without empty lines. */
export class UuDecoder extends Transform {
  private line = '';
  private state: 'before' | 'within' | 'after' = 'before';
  private hasText = false;
  /** The file is not longer than its text: lines without their bytes would be a small mail with a huge file. */
  private room = 0;

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    const lines = (this.line + chunk.toString('latin1')).match(LINES) ?? [];
    const last = lines.at(-1) ?? '';
    const isComplete = last.endsWith('\n') || last.length > MAX_LINE;
    this.line = isComplete ? '' : (lines.pop() ?? '');
    this.push(Buffer.concat(lines.map((line) => this.decode(line))));
    done();
  }

  override _flush(done: TransformCallback): void {
    this.push(this.decode(this.line));
    done();
  }

  private decode(line: string): Buffer {
    if (this.state === 'before' && BEGIN.test(line)) this.state = 'within';
    else if (this.state === 'before') {
      this.hasText ||= line.trim() !== '';
      if (this.hasText) return Buffer.from(line, 'latin1');
    } else if (this.state === 'within' && line.trimEnd() === 'end') this.state = 'after';
    else if (this.state === 'within') {
      this.room += line.length;
      const bytes = bytesOf(line.replace(/\r?\n$/, ''), this.room);
      this.room -= bytes.length;
      return bytes;
    }
    return Buffer.alloc(0);
  }
}

/** The bytes of a line, whose first character is their count. Blanks at its end may have been removed. @param max number of bytes */
function bytesOf(line: string, max: number): Buffer {
  const valueAt = (index: number): number => (line.length > index ? (line.charCodeAt(index) - 32) & 63 : 0);
  const bytes = Buffer.alloc(Math.min(valueAt(0), max));
  for (let n = 0; n < bytes.length; n += 1) {
    const at = 1 + Math.floor(n / 3) * 4 + (n % 3);
    const shift = (n % 3) * 2;
    bytes[n] = (valueAt(at) << (2 + shift)) | (valueAt(at + 1) >> (4 - shift));
  }
  return bytes;
}

/** A file in a text. */
export interface UuFile {
  filename: string;
  content: Buffer;
}

const NAMED_BEGIN = /^begin [0-7]{3,4} (\S.{0,254})$/;
const MAX_FILES = 200;
/** Bytes that a file may be longer than its text, whose lines may have lost blanks. */
const MAX_LOST = 4_096;

/**
 * Takes the uuencoded files out of a text, as programs without MIME write them. Lines that only look like the beginning of one stay.
 * @param text with LF
 */
export function splitUuencoded(text: string): { text: string; files: UuFile[] } {
  if (!text.includes('begin ')) return { text, files: [] };
  const files: UuFile[] = [];
  const kept: string[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] as string;
    const filename = files.length < MAX_FILES ? NAMED_BEGIN.exec(line)?.[1] : undefined;
    const end = filename === undefined ? -1 : endOfFile(lines, at + 1);
    if (filename === undefined || end < 0) {
      kept.push(line);
      continue;
    }
    files.push({ filename, content: contentOf(lines.slice(at + 1, end)) });
    at = end;
  }
  return { text: kept.join('\n'), files };
}

/** @returns the index of the line `end` after data, or -1 */
function endOfFile(lines: readonly string[], start: number): number {
  let end = start;
  while (isData(lines[end])) end += 1;
  // The last line of data has no bytes, and no character if its blank was removed.
  const last = lines[end] === '' ? end + 1 : end;
  return end > start && lines[last]?.trimEnd() === 'end' ? last : -1;
}

/** Whether a line has at most the characters that its first one says, and one for a checksum. */
function isData(line = ''): boolean {
  const count = (line.charCodeAt(0) - 32) & 63;
  return /^[ -`]+$/.test(line) && line.length <= 2 + Math.ceil(count / 3) * 4;
}

function contentOf(lines: readonly string[]): Buffer {
  let room = MAX_LOST;
  return Buffer.concat(
    lines.map((line) => {
      room += line.length;
      const bytes = bytesOf(line, room);
      room -= bytes.length;
      return bytes;
    }),
  );
}
