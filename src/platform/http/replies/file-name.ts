import { hasVisibleCharacter } from '../../../lib/text/index.js';

/** File systems allow 255 bytes; browsers append a number to a name that exists. */
const MAX_BYTES = 200;
const MAX_CHARACTERS = 120;

/** Path separators and the characters that Windows does not allow in names. */
const FORBIDDEN = /[/\\:*?"<>|]+/g;
/** Controls, line and paragraph separators, direction marks and other invisible characters (joiners within words stay). */
const INVISIBLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Co}]|(?![\u200C\u200D])\p{Cf}/gu;
/** Names of devices on Windows, with or without an extension. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³])(?:\.|$)/i;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Makes a file name of untrusted text: without directories, invisible or direction-changing characters, and characters that
 * file systems reject.
 *
 * @param extension with its dot
 * @param otherwise the name when no usable character remains
 */
export function safeFileName(text: string, extension: string, otherwise: string): string {
  const visible = text
    .normalize('NFC')
    .replace(/[\t-\r\u2028\u2029]+/g, ' ')
    .replace(INVISIBLE, '')
    .replace(/\s+/gu, ' ')
    .replace(FORBIDDEN, '_');
  const bare = cut(trimDots(visible), MAX_BYTES - extension.length);
  const name = hasVisibleCharacter(bare.replaceAll(/[_.]/g, '')) ? bare : otherwise;
  return `${DEVICE.test(name) ? '_' : ''}${name}${extension}`;
}

/** Sanitises the name of an uploaded file in the same way. Its extension is kept when the name is truncated. */
export function uploadedFileName(text: string): string {
  const extension = /(?<=.)\.[a-z0-9]{1,16}$/iu.exec(text)?.[0] ?? '';
  return safeFileName(text.slice(0, text.length - extension.length), extension, 'file');
}

/** Leading dots hide files on Unix; Windows removes trailing dots and spaces. */
const trimDots = (text: string): string =>
  text.replace(/^[. \u200C\u200D]+/, '').replace(/[. \u200C\u200D]+$/, '');

/** Truncates between grapheme clusters. */
function cut(text: string, maxBytes: number): string {
  let bytes = 0;
  let length = 0;
  let end = 0;
  for (const { segment, index } of graphemes.segment(text.slice(0, MAX_CHARACTERS * 8))) {
    bytes += Buffer.byteLength(segment);
    if (bytes > maxBytes || ++length > MAX_CHARACTERS) break;
    end = index + segment.length;
  }
  return trimDots(text.slice(0, end));
}

/** The name in ASCII for clients without support for `filename*`: letters without accents, `_` for other characters. */
export function asciiFileName(name: string, otherwise: string): string {
  const ascii = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^ -~]+/g, '_')
    // Some clients decode percent signs.
    .replaceAll('%', '_');
  return /[a-z0-9]/i.test(ascii.replace(/\.\w+$/, ''))
    ? ascii
    : `${otherwise}${/\.\w+$/.exec(ascii)?.[0] ?? ''}`;
}
