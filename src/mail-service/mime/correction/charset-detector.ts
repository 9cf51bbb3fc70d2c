import { isUtf8 } from 'node:buffer';
import { Transform, type TransformCallback } from 'node:stream';
import { decodeText, isSevenBits } from '../../../lib/content-lines/index.js';

/** HTML names its character set within so many bytes (HTML Living Standard 13.2.3.2). */
const PRESCANNED = 1_024;
const META = /<meta\b[^>]{0,500}?\bcharset\s*=\s*["']?\s*([\w:.-]{1,40})/i;
const MARKS: readonly [mark: string, charset: string][] = [
  ['\xef\xbb\xbf', 'utf-8'],
  ['\xff\xfe', 'utf-16le'],
  ['\xfe\xff', 'utf-16be'],
];
/** The escapes of charsets without bytes above 0x7F. */
const ESCAPES: readonly [escape: string, charset: string][] = [
  ['\x1b$@', 'iso-2022-jp'],
  ['\x1b$B', 'iso-2022-jp'],
  ['\x1b$)C', 'iso-2022-kr'],
];

/**
 * Decodes a text without a character set that the parser knows to UTF-8: by its byte order mark, by a named set of seven bits or the
 * escapes of one, as UTF-8 where that is possible, by the `<meta>` of HTML, or else as Windows-1252, as browsers do.
 */
export class CharsetDetector extends Transform {
  private readonly chunks: Buffer[] = [];

  constructor(
    private readonly isHtml: boolean,
    private readonly declared: string,
  ) {
    super();
  }

  override _transform(chunk: Buffer | string, encoding: BufferEncoding, done: TransformCallback): void {
    this.chunks.push(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk);
    done();
  }

  override _flush(done: TransformCallback): void {
    const bytes = Buffer.concat(this.chunks);
    this.chunks.length = 0;
    const charset = charsetOf(bytes, this.declared, this.isHtml);
    this.push(charset === undefined ? bytes : Buffer.from(decodeText(bytes.toString('latin1'), charset)));
    done();
  }
}

/** @returns undefined for bytes that are UTF-8 */
function charsetOf(bytes: Buffer, declared: string, isHtml: boolean): string | undefined {
  const start = bytes.toString('latin1', 0, PRESCANNED);
  const marked = MARKS.find(([mark]) => start.startsWith(mark))?.[1];
  if (marked !== undefined) return marked;
  const named = isHtml ? META.exec(start)?.[1] : undefined;
  const sevenBits = [declared, named].find(isSevenBits);
  if (sevenBits !== undefined) return sevenBits;
  const isAscii = !bytes.some((byte) => byte > 127);
  const escaped = isAscii && ESCAPES.find(([escape]) => bytes.includes(escape));
  if (escaped) return escaped[1];
  if (isAscii || isUtf8(bytes)) return undefined;
  // The bytes of the element itself are ASCII, so that it cannot be right about UTF-16.
  return named !== undefined && !/^utf-?(?:8|16)/i.test(named) ? named : 'windows-1252';
}
