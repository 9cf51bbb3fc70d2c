import type { RequestedRange } from './byte-range.js';
import { attachmentNamed } from './file-reply.js';

/** Bytes that can be read: one of the two methods must be called, once. */
export interface OpenContent {
  /** How many there are. */
  readonly size: number;
  /** A piece is the caller's only until the next one is asked for. */
  pieces(): AsyncIterable<Uint8Array>;
  /** Instead of reading. */
  close(): void;
}

/** A file as it was stored: what it is, and how to get at its bytes. */
export interface Content {
  /** Made safe when it was stored. */
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
  open(range: RequestedRange | undefined): Promise<OpenContent>;
}

/**
 * A success answer that is a stored file: streamed, in parts where the client asks for one, and never shown by a browser
 * whatever its type is. The tag is the hash of the bytes, which never change.
 */
export class ContentReply {
  readonly etag: string;
  /** By RFC 6266. */
  readonly disposition: string;

  constructor(readonly content: Content) {
    this.etag = `"${content.sha256}"`;
    this.disposition = attachmentNamed(content.name, 'file');
  }
}
