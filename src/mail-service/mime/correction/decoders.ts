import { isUtf8 } from 'node:buffer';
import { Transform, type TransformCallback } from 'node:stream';
import { byteOrderMarkOf, decodeText, isSevenBits } from '../../../lib/content-lines/index.js';

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
/** The beginning of a text, or data with blanks within its lines. */
const WORDS = /\S\s+\S+\s+\S/;
const IN_ALPHABET = /^[A-Za-z\d+/]*[=\s]*$/;
/** The last line of data with blanks in it: words hardly end so. */
const IS_SPACED_END = /^[A-Za-z\d+/][A-Za-z\d+/ \t]*={1,2}$/;
const IN_GROUPS = /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2,3}=+|[=\s]+)?$/;

/**
 * Decodes base64 (RFC 2045 6.8) up to a text that a list server has appended. Padding ends the data, except before complete groups,
 * since some programs pad each line. Without padding, a line of words or signs ends it. A few other characters within a line of data
 * are ignored. A text that begins with words has not been encoded, and stays.
 */
export class Base64Decoder extends Transform {
  /** The bytes are a text without encoding. */
  private isPlain = false;
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

  /** @param mayBePlain the content is a text, which users read */
  constructor(private readonly mayBePlain = false) {
    super();
  }

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
    if (this.isPlain) return void this.push(Buffer.from(text, 'latin1'));
    const decoded: Buffer[] = [];
    let letters = this.group;
    for (const { 0: piece, index } of this.hasEnded ? [] : text.matchAll(PIECE)) {
      const isWhole = IS_WHOLE.test(piece);
      if (!isWhole && !isEnd && piece.length < MAX_LINE) {
        this.line = piece;
        break;
      }
      if (this.mayBePlain && !this.hasData && isText(piece, isWhole)) {
        this.isPlain = true;
        return this.decode(text.slice(index), isEnd);
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
    if (!IN_ALPHABET.test(piece)) return !isPadded && (IS_SPACED_END.test(piece) || this.isFaultyLine(piece));
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

/** Whether the beginning of a line has words that are no base64. @param isWhole the piece has the whole line */
function isText(piece: string, isWhole: boolean): boolean {
  if (!WORDS.test(piece)) return false;
  const joined = piece.replace(/\s+/g, '');
  return !(isWhole ? IN_GROUPS : IN_ALPHABET).test(joined);
}

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

/**
 * Joins the lines of a text in format=flowed (RFC 3676). Each paragraph becomes one line, with the quote marks of its depth.
 * mailparser joins quoted lines with their marks and ignores their depth.
 * @param text with LF
 * @param delSp true for `delsp=yes`: the space of a soft line break is not part of the text
 */
export function joinFlowed(text: string, delSp: boolean): string {
  const paragraphs: string[] = [];
  let depth = 0;
  let pieces: string[] = [];
  const end = (): void => {
    if (pieces.length === 0) return;
    const paragraph = pieces.join('');
    const isEmptyQuote = depth > 0 && paragraph === '';
    paragraphs.push(depth === 0 ? paragraph : `${'>'.repeat(depth)}${isEmptyQuote ? '' : ' '}${paragraph}`);
    pieces = [];
  };
  for (const line of text.split('\n')) {
    const marks = /^>*/.exec(line)?.[0].length ?? 0;
    // The sender adds a space to lines that begin with a space, `From ` or `>`.
    const content = line.startsWith(' ', marks) ? line.slice(marks + 1) : line.slice(marks);
    const isSignature = content === '-- ';
    // A sender may end a paragraph without a fixed line: the depth changes, or the signature begins.
    if (marks !== depth || isSignature) end();
    depth = marks;
    const isSoft = content.endsWith(' ') && !isSignature;
    pieces.push(isSoft && delSp ? content.slice(0, -1) : content);
    if (!isSoft) end();
  }
  end();
  return paragraphs.join('\n');
}

/** HTML names its character set within so many bytes (HTML Living Standard 13.2.3.2). */
const PRESCANNED = 1_024;
const META = /<meta\b[^>]{0,500}?\bcharset\s*=\s*["']?\s*([\w:.-]{1,40})/i;
/** The escapes of charsets without bytes above 0x7F. */
const ESCAPES: readonly [escape: string, charset: string][] = [
  ['\x1b$@', 'iso-2022-jp'],
  ['\x1b$B', 'iso-2022-jp'],
  ['\x1b$)C', 'iso-2022-kr'],
  ['\x1b$)A', 'iso-2022-cn'],
];

/** The character set of seven bits whose escapes a text has. @param text its bytes, or one character a byte */
export const escapedCharset = (text: { includes(part: string): boolean }): string | undefined =>
  ESCAPES.find(([escape]) => text.includes(escape))?.[1];

/** Names of programs for character sets that libraries know by another name. */
const ALIASES = new Map([
  ...['uhc', 'x-windows-949', 'ks_c_5601-1992'].map((name) => [name, 'windows-949'] as const),
  ...['cp50220', 'cp50221', 'cp50222', 'iso-2022-jp-ms'].map((name) => [name, 'iso-2022-jp'] as const),
  ...['cp51932', 'eucjp-ms', 'x-euc'].map((name) => [name, 'euc-jp'] as const),
  ...['ptcp154', 'cp154'].map((name) => [name, 'pt154'] as const),
  ...['x-mac-ce', 'x-mac-centraleurope', 'x-mac-centraleurroman'].map(
    (name) => [name, 'maccenteuro'] as const,
  ),
  ...[1, 2, 3, 4, 9, 10, 13, 14, 15, 16].flatMap((part, n) =>
    ['latin', 'latin-', 'l'].map((name) => [`${name}${n + 1}`, `iso-8859-${part}`] as const),
  ),
  ['x-mac-romanian', 'macromania'],
  ['x-mac-greek', 'macgreek'],
  ['x-mac-turkish', 'macturkish'],
  ['x-mac-croatian', 'maccroatian'],
  ['x-mac-icelandic', 'maciceland'],
]);

/** The name by which libraries know a character set. */
export const resolveCharset = (charset: string): string =>
  ALIASES.get(charset.trim().toLowerCase()) ?? charset;

/** Decodes a text as a whole: its character set depends on all of its bytes. */
abstract class WholeTextDecoder extends Transform {
  private readonly chunks: Buffer[] = [];

  override _transform(chunk: Buffer | string, encoding: BufferEncoding, done: TransformCallback): void {
    this.chunks.push(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk);
    done();
  }

  override _flush(done: TransformCallback): void {
    const bytes = Buffer.concat(this.chunks);
    this.chunks.length = 0;
    this.decode(bytes, done);
  }

  protected abstract decode(bytes: Buffer, done: TransformCallback): void;
}

const ASCII =
  /^(?:(?:us-?|cs)?ascii|us|ansi_x3\.4-19(?:68|86)|iso_646\.irv:1991|iso646-us|iso-ir-6|(?:ibm|cp)367)$/i;

/** True for a name of US-ASCII (IANA). Programs declare it for other texts, such as cron without a locale. */
export const isAsciiName = (charset: string): boolean => ASCII.test(charset.trim());

/** The name of the runtime for a character set; undefined for one that says nothing about the text. */
export function knownCharset(charset: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(charset.trim());
    return isAsciiName(charset) || encoding === 'x-user-defined' ? undefined : encoding;
  } catch {
    return undefined;
  }
}

/**
 * Decodes a text without a character set that the parser knows to UTF-8: by its byte order mark, by a named set of seven bits or of the
 * runtime or the escapes of one, as UTF-8 where that is possible, by the `<meta>` of HTML, or else as Windows-1252, as browsers do.
 */
export class CharsetDetector extends WholeTextDecoder {
  constructor(
    private readonly isHtml: boolean,
    private readonly declared: string,
  ) {
    super();
  }

  protected override decode(bytes: Buffer, done: TransformCallback): void {
    const charset = charsetOf(bytes, this.declared, this.isHtml);
    this.push(charset === undefined ? bytes : Buffer.from(decodeText(bytes.toString('latin1'), charset)));
    done();
  }
}

/** The character sets of Japanese programs that have bytes above 0x7F. */
const JAPANESE = ['utf-8', 'euc-jp', 'shift_jis'];

/**
 * Decodes a text that is declared as ISO-2022-JP, to UTF-8. This set has seven bits: a text with other bytes is in another Japanese set.
 */
export class JapaneseDecoder extends WholeTextDecoder {
  /** @param decoderOf7Bits decodes ISO-2022-JP */
  constructor(private readonly decoderOf7Bits: () => Transform) {
    super();
  }

  protected override decode(bytes: Buffer, done: TransformCallback): void {
    const text = bytes.some((byte) => byte > 127) ? decodeStrictly(bytes, JAPANESE) : undefined;
    if (text !== undefined) {
      this.push(Buffer.from(text));
      return done();
    }
    const decoder = this.decoderOf7Bits();
    decoder
      .on('data', (chunk: Buffer) => this.push(chunk))
      .once('error', done)
      .once('end', () => done());
    decoder.end(bytes);
  }
}

/** @returns the text in the first of the sets in which all bytes are valid */
function decodeStrictly(bytes: Buffer, charsets: readonly string[]): string | undefined {
  for (const charset of charsets) {
    try {
      return new TextDecoder(charset, { fatal: true }).decode(bytes);
    } catch {
      // Another set.
    }
  }
  return undefined;
}

/** @returns undefined for bytes that are UTF-8 */
function charsetOf(bytes: Buffer, declared: string, isHtml: boolean): string | undefined {
  const mark = byteOrderMarkOf(bytes);
  if (mark) return mark.charset;
  const named = isHtml ? META.exec(bytes.toString('latin1', 0, PRESCANNED))?.[1] : undefined;
  const sevenBits = [declared, named].find(isSevenBits);
  if (sevenBits !== undefined) return sevenBits;
  const isAscii = !bytes.some((byte) => byte > 127);
  if (isAscii) return escapedCharset(bytes);
  const known = knownCharset(declared);
  if (known !== undefined || isUtf8(bytes)) return known;
  // The bytes of the element itself are ASCII, so that it cannot be right about UTF-16.
  return named !== undefined && !/^utf-?(?:8|16)/i.test(named) ? named : 'windows-1252';
}
