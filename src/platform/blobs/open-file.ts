import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { OpenBlob } from './blob-store.js';

/** Larger buffers would each be mapped from the system and given back, which costs more than filling them. */
const READ_BYTES = 64 * 1024;

/** A part of an open file, or all of it. Ends early when the file does. */
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
    // A file stream cannot be told to read no bytes.
    this.close();
    return Readable.from([]);
  }

  /** Reads the next piece while the caller is busy with the last one. */
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

  /** A failure is told to who waits for it, and to nobody when nobody does. */
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
