import { isUtf8 } from 'node:buffer';
import { Transform, type TransformCallback } from 'node:stream';
import { decodeText } from '../../../lib/content-lines/index.js';

/** HTML names its character set within so many bytes (HTML Living Standard 13.2.3.2). */
const PRESCANNED = 1_024;
const META = /<meta\b[^>]{0,500}?\bcharset\s*=\s*["']?\s*([\w:.-]{1,40})/i;
const MARKS: readonly [mark: string, charset: string][] = [
  ['\xef\xbb\xbf', 'utf-8'],
  ['\xff\xfe', 'utf-16le'],
  ['\xfe\xff', 'utf-16be'],
];
/** The escapes of ISO-2022-JP before Kanji; it has no byte above 0x7F. */
const KANJI = ['\x1b$@', '\x1b$B'];

/**
 * Decodes a text without a known character set to UTF-8: by its byte order mark, by the escapes of ISO-2022-JP, as UTF-8 where that
 * is possible, by the `<meta>` of HTML, or else as Windows-1252, as browsers do.
 */
export class CharsetDetector extends Transform {
  private readonly chunks: Buffer[] = [];

  constructor(private readonly isHtml: boolean) {
    super();
  }

  override _transform(chunk: Buffer | string, encoding: BufferEncoding, done: TransformCallback): void {
    this.chunks.push(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk);
    done();
  }

  override _flush(done: TransformCallback): void {
    const bytes = Buffer.concat(this.chunks);
    this.chunks.length = 0;
    const charset = charsetOf(bytes, this.isHtml);
    this.push(charset === undefined ? bytes : Buffer.from(decodeText(bytes.toString('latin1'), charset)));
    done();
  }
}

/** @returns undefined for bytes that are UTF-8 */
function charsetOf(bytes: Buffer, isHtml: boolean): string | undefined {
  const start = bytes.toString('latin1', 0, PRESCANNED);
  const marked = MARKS.find(([mark]) => start.startsWith(mark))?.[1];
  if (marked !== undefined) return marked;
  const isAscii = !bytes.some((byte) => byte > 127);
  if (isAscii && KANJI.some((escape) => bytes.includes(escape))) return 'iso-2022-jp';
  if (isAscii || isUtf8(bytes)) return undefined;
  const named = isHtml ? META.exec(start)?.[1] : undefined;
  // The bytes of the element itself are ASCII, so that it cannot be right about UTF-16.
  return named !== undefined && !/^utf-?(?:8|16)/i.test(named) ? named : 'windows-1252';
}
