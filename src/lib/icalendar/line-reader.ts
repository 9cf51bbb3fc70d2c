import { TextDecoder } from 'node:util';
import { ICalendarError } from './errors.js';

const LF = 10;
const CR = 13;
const SPACE = 32;
const TAB = 9;
const BYTE_ORDER_MARK = '\uFEFF';

/** The decoder of a text in UTF-16 by the byte order mark at its start; null for another text. */
function utf16Of([first, second]: Uint8Array): TextDecoder | null {
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le');
  return first === 0xfe && second === 0xff ? new TextDecoder('utf-16be') : null;
}

/**
 * Turns bytes into unfolded content lines (RFC 5545, 3.1). Lines end with CRLF, LF or CR; a fold may be within a UTF-8
 * sequence, so lines are joined as bytes. Bytes that are not UTF-8 are read as Latin-1; a text in UTF-16 begins with a byte order mark.
 * Empty lines are skipped.
 */
export class LineReader {
  /** The line so far. Bytes are copied: a list of parts of chunks would have one entry per byte for a fold after each byte. */
  private line = Buffer.allocUnsafe(1_024);
  private bytes = 0;
  /** The bytes read so far end with a line end: the next byte decides whether a fold follows. */
  private atLineStart = true;
  private isFirst = true;
  /** Undefined until the text has two bytes; null for a text that is not in UTF-16. */
  private utf16: TextDecoder | null | undefined;
  private head: Uint8Array = new Uint8Array();

  /** @param maxBytes bytes of an unfolded line */
  constructor(
    private readonly maxBytes: number,
    private readonly visit: (line: string) => void,
  ) {}

  /** @throws ICalendarError `too_large` */
  push(given: Uint8Array): void {
    const chunk = this.utf16 === undefined ? Buffer.concat([this.head, given]) : given;
    if (this.utf16 === undefined && chunk.length < 2) {
      this.head = chunk;
      return;
    }
    this.utf16 ??= this.utf16 === null ? null : utf16Of(chunk);
    this.read(this.utf16 ? Buffer.from(this.utf16.decode(chunk, { stream: true })) : chunk);
  }

  private read(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === LF || byte === CR) {
        this.add(bytes, from, at);
        from = at + 1;
        this.atLineStart = true;
      } else if (this.atLineStart) {
        this.atLineStart = false;
        if (byte === SPACE || byte === TAB) from = at + 1;
        else {
          this.flush();
          from = at;
        }
      }
    }
    this.add(bytes, from, bytes.length);
  }

  /** Visits the last line. */
  end(): void {
    if (this.utf16 === undefined) this.read(this.head);
    this.flush();
  }

  private add(chunk: Buffer, from: number, to: number): void {
    if (to <= from) return;
    const end = this.bytes + to - from;
    if (end > this.maxBytes)
      throw new ICalendarError('too_large', `A line has at most ${this.maxBytes} bytes`);
    if (end > this.line.length) {
      const larger = Buffer.allocUnsafe(2 * end);
      this.line.copy(larger, 0, 0, this.bytes);
      this.line = larger;
    }
    chunk.copy(this.line, this.bytes, from, to);
    this.bytes = end;
  }

  private flush(): void {
    if (this.bytes === 0) return;
    const text = decode(this.line.subarray(0, this.bytes));
    this.bytes = 0;
    this.visit(this.isFirst && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
    this.isFirst = false;
  }
}

const REPLACEMENT = '\uFFFD';

function decode(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.includes(REPLACEMENT) && !bytes.includes(REPLACEMENT) ? bytes.toString('latin1') : text;
}
