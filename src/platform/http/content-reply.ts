import type { Readable } from 'node:stream';
import { create as contentDisposition } from 'content-disposition';
import { asciiFileName } from './file-name.js';
import type { RequestedRange } from './byte-range.js';

/** A file as it was stored: what it is, and how to get at its bytes. */
export interface Content {
  /** Made safe when it was stored. */
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** @returns the bytes and how many will come; the stream is destroyed when nobody reads it to its end */
  open(range: RequestedRange | undefined): Promise<{ stream: Readable; size: number }>;
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
    this.disposition = contentDisposition(content.name, { fallback: asciiFileName(content.name, 'file') });
  }
}
