import { attachmentNamed } from './file-reply.js';

/** The bytes from `start` to `end`, both included. */
export interface RequestedRange {
  readonly start: number;
  readonly end: number;
}

const SINGLE = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i;

/**
 * Parses a `Range` header (RFC 9110, section 14.1.2). Several ranges, other units and invalid ranges select the whole file, as
 * the RFC allows: multipart responses multiply the work of the server. Not Express's `request.range()`: it rejects a suffix
 * that is longer than the file and a last byte before the first, for which the RFC requires the whole file.
 *
 * @param size of the file, bytes
 * @returns undefined: the whole file; null: no byte is in the range
 */
export function requestedRange(header: string | undefined, size: number): RequestedRange | null | undefined {
  const match = SINGLE.exec(header ?? '');
  if (!match) return undefined;
  const [first, last] = [match[1] as string, match[2] as string];
  if (first === '') {
    if (last === '') return undefined;
    const length = Math.min(Number(last), size);
    return length === 0 ? null : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) return null;
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

/** Readable bytes. The owner calls one of the two methods, once. */
interface OpenContent {
  /** Number of bytes. */
  readonly size: number;
  /** A piece is valid until the next one is requested. */
  pieces(): AsyncIterable<Uint8Array>;
  /** Releases the source without reading it. */
  close(): void;
}

/** The metadata of a stored file, and access to its bytes. */
interface Content {
  /** Sanitised when the file was stored. */
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
  open(range: RequestedRange | undefined): Promise<OpenContent>;
}

/**
 * A success response with a stored file, streamed as a whole or as one range. Browsers never display it, even if they support its
 * type. The ETag is the hash of the bytes, which never change.
 */
export class ContentReply {
  readonly etag: string;
  /** `Content-Disposition` (RFC 6266). */
  readonly disposition: string;

  constructor(readonly content: Content) {
    this.etag = `"${content.sha256}"`;
    this.disposition = attachmentNamed(content.name, 'file');
  }
}
