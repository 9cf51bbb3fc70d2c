import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { create as contentDisposition } from 'content-disposition';
import type { Request, Response } from 'express';
import type { ImageFormat } from '../../../lib/image-size/index.js';
import { hasVisibleCharacter } from '../../../lib/text/index.js';
import { disconnectSignal } from '../abort-signal.js';
import { BodyReply } from './body-reply.js';

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

/** The name of a generated file: that of a title that has the extension already gets no second one. */
export function titledFileName(title: string, extension: string, otherwise: string): string {
  const trimmed = title.trimEnd();
  const isNamed = trimmed.slice(-extension.length).toLowerCase() === extension;
  return safeFileName(isNamed ? trimmed.slice(0, -extension.length) : title, extension, otherwise);
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

interface FileOptions {
  contentType: string;
  /** Any text; `titledFileName` makes a name of it. */
  title: string;
  /** It begins with its dot. */
  extension: string;
  /** The name for a title without usable characters. */
  otherwise: string;
}

/** The `Content-Disposition` of a download (RFC 6266): an ASCII name, and the real one (RFC 8187) where it differs. */
export function attachmentNamed(name: string, otherwise: string): string {
  return contentDisposition(name, { fallback: asciiFileName(name, otherwise) });
}

/**
 * A generated file as a download. Browsers never display it, even if they support its type.
 * @param bytes null for HEAD; the length is then unknown, and RFC 9110 allows to omit it
 */
export function fileReply(bytes: Uint8Array | null, options: FileOptions): BodyReply {
  const { contentType, title, extension, otherwise } = options;
  const name = titledFileName(title, extension, otherwise);
  return new BodyReply(bytes, {
    contentType,
    headers: { 'Content-Disposition': attachmentNamed(name, otherwise) },
  });
}

/** The parts of a request that file generation needs. */
export interface FileRequest {
  /** False for HEAD. */
  readonly wantsBytes: boolean;
  /** Aborts with a ClientDisconnectedError when the client disconnects. */
  readonly signal: AbortSignal;
}

/** Injects the `FileRequest`. */
export const FileRequestParam = createParamDecorator((_: unknown, context: ExecutionContext): FileRequest => {
  const http = context.switchToHttp();
  return {
    wantsBytes: http.getRequest<Request>().method !== 'HEAD',
    signal: disconnectSignal(http.getResponse<Response>()),
  };
});

/**
 * An image that browsers display. Only for raster formats that the server has detected itself, because they contain no scripts.
 * Clients may store it and revalidate it each time.
 * @param bytes null: the client has this version (304)
 * @param etag with its quotes
 * @param cacheControl default: stored by the client, and compared at each use
 */
export function imageReply(
  bytes: Buffer | null,
  format: ImageFormat,
  etag: string,
  cacheControl = 'private, no-cache',
): BodyReply {
  return new BodyReply(bytes, {
    status: bytes ? 200 : 304,
    contentType: `image/${format}`,
    headers: {
      'Cache-Control': cacheControl,
      ETag: etag,
      ...(bytes && { 'Content-Disposition': `inline; filename="image.${format}"` }),
    },
  });
}
