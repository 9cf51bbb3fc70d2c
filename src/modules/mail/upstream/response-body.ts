import { Readable } from 'node:stream';
import { countForwardedBytes } from '../../../platform/memory/garbage.js';

/** Bytes read from the connection before a consumer reads. */
const READ_AHEAD = 64 * 1024;
const EMPTY = Buffer.alloc(0);

/** The connection that delivers a response. */
export interface ResponseSource {
  pause(): void;
  resume(): void;
  /** Closes the connection. */
  abort(reason: Error): void;
}

/**
 * The body of a mail service response while it arrives. Most bodies are short and read whole, which needs no stream; a
 * long one is read as a stream. The consumer reads it to its end or destroys it.
 */
export class ResponseBody {
  private chunks: Buffer[] = [];
  private size = 0;
  private limit = READ_AHEAD;
  private ended = false;
  private error: Error | null = null;
  private wake: (() => void) | null = null;
  private readable: Readable | null = null;

  constructor(private readonly connection: ResponseSource) {}

  /**
   * Reads the whole body if it has at most `limit` bytes, otherwise that many bytes or somewhat more. `stream` returns the
   * same bytes again.
   * @throws Error when the connection fails before
   */
  async beginning(limit: number): Promise<{ bytes: Buffer; ended: boolean }> {
    this.limit = limit;
    if (!this.settled) {
      this.connection.resume();
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
    if (this.error !== null) throw this.error;
    if (this.chunks.length > 1) this.chunks = [Buffer.concat(this.chunks)];
    return { bytes: this.chunks[0] ?? EMPTY, ended: this.ended };
  }

  /** Streams the whole body at the consumer's pace. An error of the response destroys it; destroying it closes the connection. */
  stream(): Readable {
    const readable = new Readable({
      highWaterMark: READ_AHEAD,
      read: () => this.connection.resume(),
      destroy: (error, done) => {
        if (!this.ended) this.destroy();
        done(error);
      },
    });
    // Without a listener, an error before a consumer attaches would be uncaught.
    readable.on('error', () => undefined);
    const chunks = this.chunks;
    this.chunks = [];
    this.readable = readable;
    for (const chunk of chunks) this.forward(chunk);
    if (this.error !== null) readable.destroy(this.error);
    else if (this.ended) readable.push(null);
    return readable;
  }

  get isStreamed(): boolean {
    return this.readable !== null;
  }

  /** Discards the body: closes the connection unless the body is complete. */
  destroy(): void {
    if (!this.ended && this.error === null) this.connection.abort(new Error('the response is discarded'));
  }

  push(chunk: Buffer): void {
    countForwardedBytes(chunk.length);
    if (this.readable !== null) {
      this.forward(chunk);
      return;
    }
    this.chunks.push(chunk);
    this.size += chunk.length;
    if (this.size <= this.limit) return;
    this.connection.pause();
    this.wake?.();
  }

  end(): void {
    this.ended = true;
    this.wake?.();
    this.readable?.push(null);
  }

  fail(error: Error): void {
    this.error = error;
    this.wake?.();
    this.readable?.destroy(error);
  }

  private get settled(): boolean {
    return this.ended || this.error !== null || this.size > this.limit;
  }

  private forward(chunk: Buffer): void {
    if (this.readable?.push(chunk) === false) this.connection.pause();
  }
}
