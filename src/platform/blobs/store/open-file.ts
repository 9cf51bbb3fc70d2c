import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { OpenBlob } from './object-store.js';

/** For larger buffers the allocator maps and unmaps memory each time, which costs more than filling them. */
const READ_BYTES = 64 * 1024;

/** An open file or a range of it. Ends early when the file is shorter. */
export class OpenFile implements OpenBlob {
  constructor(
    private readonly handle: FileHandle,
    private readonly start: number,
    readonly size: number,
  ) {}

  get stream(): Readable {
    if (this.size > 0) {
      const end = this.start + this.size - 1;
      return this.handle.createReadStream({ start: this.start, end, highWaterMark: READ_BYTES });
    }
    // A file stream cannot read zero bytes.
    this.close();
    return Readable.from([]);
  }

  /** Reads the next piece while the caller processes the last one. */
  async *pieces(): AsyncGenerator<Uint8Array> {
    let [buffer, other] = [this.newBuffer(), this.newBuffer()];
    let at = 0;
    let reading = this.begin(buffer, at);
    try {
      for (let bytes = await reading; bytes > 0; bytes = await reading) {
        const piece = buffer.subarray(0, bytes);
        at += bytes;
        [buffer, other] = [other, buffer];
        reading = this.begin(buffer, at);
        yield piece;
      }
    } finally {
      await reading.catch(() => undefined);
      this.close();
    }
  }

  close(): void {
    this.handle.close().catch(() => undefined);
  }

  private newBuffer(): Buffer {
    return Buffer.allocUnsafe(Math.min(READ_BYTES, this.size));
  }

  /** Reports an error to the waiting reader, if there is one. */
  private begin(buffer: Buffer, at: number): Promise<number> {
    const reading = this.read(buffer, at);
    reading.catch(() => undefined);
    return reading;
  }

  private async read(buffer: Buffer, at: number): Promise<number> {
    const wanted = Math.min(buffer.length, this.size - at);
    if (wanted === 0) return 0;
    return (await this.handle.read(buffer, 0, wanted, this.start + at)).bytesRead;
  }
}
