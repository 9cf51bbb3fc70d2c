import type { Readable } from 'node:stream';

/**
 * A response whose body is bytes or a stream instead of JSON. A stream is sent as fast as the client reads it. When the
 * stream fails, the connection breaks, so that a truncated response never looks complete. When the client disconnects, the
 * stream is destroyed.
 */
export class BodyReply {
  /** @param body null: headers only, as for HEAD and 304 */
  constructor(
    readonly body: Readable | Uint8Array | null,
    readonly options: {
      /** Default: 200. */
      status?: number;
      contentType: string;
      /** Bytes of a stream, where known. */
      length?: number;
      /** They come in addition to the security headers. A header of the same name replaces theirs. */
      headers?: Record<string, string>;
    },
  ) {}
}
