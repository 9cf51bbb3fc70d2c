import { createHash } from 'node:crypto';
import type { ByteSource } from './blob-store.js';
import { countForwardedBytes } from '../memory/garbage.js';

/** More bytes came than may. */
export class TooManyBytesError extends Error {
  constructor(readonly maxBytes: number) {
    super(`more than ${maxBytes} bytes`);
    this.name = 'TooManyBytesError';
  }
}

/** Passes bytes on, and knows how many they were, what they hash to and how they began. */
export class Measured implements ByteSource {
  private readonly hash = createHash('sha256');
  private beginning: Uint8Array[] = [];
  private bytes = 0;

  /** @param headBytes how much of the beginning to remember */
  constructor(
    private readonly source: ByteSource,
    private readonly maxBytes: number,
    private readonly headBytes = 0,
  ) {}

  get size(): number {
    return this.bytes;
  }

  get head(): Buffer {
    return Buffer.concat(this.beginning).subarray(0, this.headBytes);
  }

  /** SHA-256 of all bytes; ends the measuring. */
  digest(): Buffer {
    return this.hash.digest();
  }

  /** @throws TooManyBytesError as soon as there are more than `maxBytes` */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.source) {
      if (this.bytes < this.headBytes) this.beginning.push(chunk);
      this.bytes += chunk.length;
      if (this.bytes > this.maxBytes) throw new TooManyBytesError(this.maxBytes);
      this.hash.update(chunk);
      yield chunk;
      countForwardedBytes(chunk.length);
    }
  }
}
