import { createHash } from 'node:crypto';
import type { ByteSource } from './object-store.js';
import { countForwardedBytes } from '../../memory/garbage.js';

/** The source exceeds the maximum size. */
export class TooManyBytesError extends Error {
  constructor(readonly maxBytes: number) {
    super(`more than ${maxBytes} bytes`);
    this.name = 'TooManyBytesError';
  }
}

/** Forwards bytes and records their number, their hash and the first of them. */
export class Measured implements ByteSource {
  private readonly hash = createHash('sha256');
  private beginning: Uint8Array[] = [];
  private bytes = 0;

  /** @param headBytes number of first bytes to record */
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

  /** @returns the SHA-256 of all bytes. Call it once, at the end. */
  digest(): Buffer {
    return this.hash.digest();
  }

  /** @throws TooManyBytesError at the first byte beyond `maxBytes` */
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
