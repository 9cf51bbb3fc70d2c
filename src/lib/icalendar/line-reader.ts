import { ICalendarError } from './errors.js';

const LF = 10;
const CR = 13;
const SPACE = 32;
const TAB = 9;
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Turns bytes into unfolded content lines (RFC 5545, 3.1). Lines end with CRLF, LF or CR; a fold may lie within a UTF-8
 * sequence, so lines are joined as bytes. Bytes that are not UTF-8 are read as Latin-1. Empty lines are skipped.
 */
export class LineReader {
  private parts: Buffer[] = [];
  private bytes = 0;
  /** The bytes read so far end with a line: the next byte decides whether a fold follows. */
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
        if (at > from) this.add(bytes.subarray(from, at));
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
    if (from < bytes.length) this.add(bytes.subarray(from));
  }

  /** Visits the last line. */
  end(): void {
    this.flush();
  }

  private add(part: Buffer): void {
    this.bytes += part.length;
    if (this.bytes > this.maxBytes)
      throw new ICalendarError('too_large', `A line has at most ${this.maxBytes} bytes`);
    this.parts.push(part);
  }

  private flush(): void {
    if (this.bytes === 0) return;
    const line = this.parts.length === 1 ? (this.parts[0] as Buffer) : Buffer.concat(this.parts, this.bytes);
    this.parts = [];
    this.bytes = 0;
    const text = decode(line);
    this.visit(this.isFirst && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
    this.isFirst = false;
  }
}

const REPLACEMENT = '\uFFFD';

function decode(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.includes(REPLACEMENT) && !bytes.includes(REPLACEMENT) ? bytes.toString('latin1') : text;
}
