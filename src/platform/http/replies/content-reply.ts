import type { RequestedRange } from './byte-range.js';
import { attachmentNamed } from './file-reply.js';

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
