import { type Readable, Transform, type TransformCallback } from 'node:stream';
import { readTnef, type TnefContent } from './tnef.js';

/** Bytes of TNEF of one message that are read; longer streams stay attachments only. */
const MAX_BYTES = 16_777_216;

/** Reads the TNEF of a message while its attachments are read. */
export class TnefStreams {
  private readonly streams: Buffer[][] = [];
  private bytes = 0;

  /** The content of an attachment, which is kept while it passes. */
  follow(content: Readable): Readable {
    const chunks: Buffer[] = [];
    this.streams.push(chunks);
    return content.pipe(
      new Transform({
        transform: (chunk: Buffer, _: BufferEncoding, done: TransformCallback) => {
          this.bytes += chunk.length;
          if (this.bytes <= MAX_BYTES) chunks.push(chunk);
          done(null, chunk);
        },
      }),
    );
  }

  /** What the attachments contain, after they were read. */
  contents(): TnefContent[] {
    return this.bytes <= MAX_BYTES ? this.streams.map((chunks) => readTnef(Buffer.concat(chunks))) : [];
  }
}
