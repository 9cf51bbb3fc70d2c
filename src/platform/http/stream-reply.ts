import type { Readable } from 'node:stream';

/**
 * A success or error answer whose body comes from elsewhere and is passed on as it comes, no faster than the client takes
 * it. When the source breaks, so does the connection: a cut answer never looks like a whole one. When the client goes
 * away, the source is destroyed.
 */
export class StreamReply {
  constructor(
    readonly body: Readable,
    readonly options: {
      status: number;
      contentType: string;
      /** Bytes, where known. */
      length?: number;
      /** Beyond the security headers; the same name replaces theirs. */
      headers?: Record<string, string>;
    },
  ) {}
}
