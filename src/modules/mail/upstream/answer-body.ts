import { Readable } from 'node:stream';
import { passedOn } from '../../../platform/memory/garbage.js';

/** Bytes taken from the connection before anybody asks for them. */
const AHEAD = 64 * 1024;

/** The connection that an answer comes on. */
export interface AnswerSource {
  /** Nothing more of it is wanted for now. */
  pause(): void;
  resume(): void;
  /** Closes it. */
  abort(reason: Error): void;
}

/**
 * The body of an answer of the mail service while it comes. Most are short and read whole, which needs no stream; a long
 * one becomes one. Somebody has to read it to its end or destroy it.
 */
export class AnswerBody {
  private chunks: Buffer[] = [];
  private size = 0;
  private limit = AHEAD;
  private ended = false;
  private error: Error | null = null;
  private wake: (() => void) | null = null;
  private readable: Readable | null = null;

  constructor(private readonly connection: AnswerSource) {}

  /**
   * The whole body if it has no more than `limit` bytes, and otherwise as much or somewhat more of it; `stream` gives the
   * same bytes again.
   * @throws Error when it breaks off before
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

  /** All of it, as fast as it is taken. It breaks where the answer does; destroyed, it closes the connection. */
  stream(): Readable {
    const readable = new Readable({
      highWaterMark: AHEAD,
      read: () => this.connection.resume(),
      destroy: (error, done) => {
        if (!this.ended) this.destroy();
        done(error);
      },
    });
    // Whoever reads it hears of errors; until then nobody does.
    readable.on('error', () => undefined);
    const chunks = this.chunks;
    this.chunks = [];
    this.readable = readable;
    for (const chunk of chunks) this.pass(chunk);
    if (this.error !== null) readable.destroy(this.error);
    else if (this.ended) readable.push(null);
    return readable;
  }

  /** It is taken as it comes, and not waited for as a whole. */
  get isStreamed(): boolean {
    return this.readable !== null;
  }

  /** Nobody wants it: unless all of it is there, its connection is closed. */
  destroy(): void {
    if (!this.ended && this.error === null) this.connection.abort(new Error('the answer is not wanted'));
  }

  /** More of it has come. */
  push(chunk: Buffer): void {
    passedOn(chunk.length);
    if (this.readable !== null) {
      this.pass(chunk);
      return;
    }
    this.chunks.push(chunk);
    this.size += chunk.length;
    if (this.size <= this.limit) return;
    this.connection.pause();
    this.wake?.();
  }

  /** All of it has come. */
  end(): void {
    this.ended = true;
    this.wake?.();
    this.readable?.push(null);
  }

  /** No more of it will come. */
  fail(error: Error): void {
    this.error = error;
    this.wake?.();
    this.readable?.destroy(error);
  }

  private get settled(): boolean {
    return this.ended || this.error !== null || this.size > this.limit;
  }

  private pass(chunk: Buffer): void {
    if (this.readable?.push(chunk) === false) this.connection.pause();
  }
}

const EMPTY = Buffer.alloc(0);
