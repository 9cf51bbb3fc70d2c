import { ICalendarError } from './errors.js';

const LF = 10;
const CR = 13;
const SPACE = 32;
const TAB = 9;
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Turns bytes into unfolded content lines (RFC 5545, 3.1). Lines end with CRLF, LF or CR; a fold may be within a UTF-8
 * sequence, so lines are joined as bytes. Bytes that are not UTF-8 are read as Latin-1. Empty lines are skipped.
 */
export class LineReader {
  /** The line so far. Bytes are copied: a list of parts of chunks would have one entry per byte for a fold after each byte. */
  private line = Buffer.allocUnsafe(1_024);
  private bytes = 0;
  /** The bytes read so far end with a line end: the next byte decides whether a fold follows. */
  private atLineStart = true;
  private isFirst = true;

  /** @param maxBytes bytes of an unfolded line */
  constructor(
    private readonly maxBytes: number,
    private readonly visit: (line: string) => void,
  ) {}

  /** @throws ICalendarError `too_large` */
  push(chunk: Uint8Array): void {
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
