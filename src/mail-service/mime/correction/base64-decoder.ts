import { Transform, type TransformCallback } from 'node:stream';

/** A longer line is decoded in pieces: some programs write a file as one line. */
const MAX_LINE = 4_096;
/** Line ends and padding, or the rest of a line up to them. */
const PIECE = /(?:\r?\n|=)+|[^\n=]+(?:\n|=+)?/g;
const IS_WHOLE = /[\n=]$/;
/** Hardly a word of a text. */
const LONG_RUN = /[A-Za-z\d+/]{32}/;
/** Data in shorter lines have no long run. */
const NARROW = 32;
/** Letters of a line that a text hardly has without a blank, beside a few other characters. */
const MIN_WIDTH = 8;
const IN_ALPHABET = /^[A-Za-z\d+/]*[=\s]*$/;
const IN_GROUPS = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2,3}=+|[=\s]+)?$/;

/**
 * Decodes base64 (RFC 2045 6.8) up to a text that a list server has appended. Padding ends the data, except before complete groups,
 * since some programs pad each line. Without padding, a line of words or signs ends it. A few other characters within a line of data
 * are ignored.
 */
export class Base64Decoder extends Transform {
  /** The beginning of a line. */
  private line = '';
  /** The next piece belongs to the same line as the one before it. */
  private isWithinLine = false;
  /** The letters of a group that is not complete. */
  private group = '';
  private hasData = false;
  private isPadded = false;
  /** The letters of the longest line of data. */
  private width = 0;
  private hasEnded = false;

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.decode(this.line + chunk.toString('latin1'), false);
    done();
  }

  override _flush(done: TransformCallback): void {
    this.decode(this.line, true);
    this.push(Buffer.from(this.group, 'base64'));
    done();
  }

  private decode(text: string, isEnd: boolean): void {
    this.line = '';
    const decoded: Buffer[] = [];
    let letters = this.group;
    for (const [piece] of this.hasEnded ? [] : text.matchAll(PIECE)) {
      const isWhole = IS_WHOLE.test(piece);
      if (!isWhole && !isEnd && piece.length < MAX_LINE) {
        this.line = piece;
        break;
      }
      if (!this.isData(piece.trim())) {
        this.hasEnded = true;
        break;
      }
      this.isWithinLine = !piece.endsWith('\n');
      const own = lettersOf(piece);
      this.width = Math.max(this.width, own.length);
      letters += own;
      this.hasData ||= letters !== '';
      this.isPadded = piece.includes('=') || (this.isPadded && letters === '');
      if (!this.isPadded || letters === '') continue;
      decoded.push(Buffer.from(letters, 'base64'));
      letters = '';
    }
    const complete = letters.length - (letters.length % 4);
    this.group = letters.slice(complete);
    this.push(Buffer.concat([...decoded, Buffer.from(letters.slice(0, complete), 'base64')]));
  }

  /** False for the beginning of a text after the data. */
  private isData(piece: string): boolean {
    const { isPadded, isWithinLine } = this;
    if (!this.hasData || (!isPadded && (isWithinLine || LONG_RUN.test(piece)))) return true;
    if (!IN_ALPHABET.test(piece)) return !isPadded && this.isFaultyLine(piece);
    return !isPadded || isWithinLine || IN_GROUPS.test(piece) || LONG_RUN.test(piece);
  }

  /** Whether a line looks like narrow data with one or two other characters: it has no blank, and is as long as data or their rest. */
  private isFaultyLine(piece: string): boolean {
    const { length } = lettersOf(piece);
    const fits = this.width < NARROW && length >= MIN_WIDTH && length <= this.width;
    return fits && piece.length - length <= 2 && !/\s/.test(piece);
  }
}

const lettersOf = (piece: string): string => piece.replace(/[^A-Za-z\d+/]+/g, '');
