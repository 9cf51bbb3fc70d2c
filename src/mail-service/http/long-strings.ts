import { randomBytes } from 'node:crypto';
import type { FileBytes } from '../storage/bytes.js';
import { SpoolFile } from '../storage/bytes.js';

/** Longer strings, in bytes, are moved to the file. */
const LONG = 16_384;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Moves the long strings of a streamed JSON text to a file. A random marker replaces each of them in the remaining JSON. */
export class LongStrings {
  /** The replaced strings by marker: the text between the quotes with its escapes. */
  readonly byMarker = new Map<string, FileBytes>();
  private readonly spool: SpoolFile;
  private readonly secret = randomBytes(16).toString('hex');
  /** Matches a marker; captured, so that `split` keeps it. */
  readonly pattern = new RegExp(`(${this.secret}-\\d+\\.)`);
  private readonly kept: Uint8Array[] = [];
  /** The beginning of a string that continues in the next chunk, unless it is in the file. */
  private begun: Uint8Array[] = [];
  private begunBytes = 0;
  private inString = false;
  private afterBackslash = false;
  /** Start of the current long string in the file. */
  private start: number | undefined;

  constructor(file: string) {
    this.spool = new SpoolFile(file);
  }

  async write(chunk: Uint8Array): Promise<void> {
    /** `done`: end of the processed part. `began`: start of the current string in this chunk. */
    let done = 0;
    let began = 0;
    const { length } = chunk;
    for (let at = 0; at < length; at += 1) {
      const byte = chunk[at];
      if (!this.inString) {
        if (byte !== QUOTE) continue;
        this.inString = true;
        began = at + 1;
      } else if (this.afterBackslash) this.afterBackslash = false;
      else if (byte === BACKSLASH) this.afterBackslash = true;
      else if (byte === QUOTE) {
        this.inString = false;
        if (this.isLong(at - began)) {
          this.keep(chunk.subarray(done, began));
          await this.moveToFile(chunk.subarray(began, at));
          this.mark();
          done = at;
        } else this.keepBegun();
      }
    }
    if (!this.inString) this.keep(chunk.subarray(done));
    else {
      this.keep(chunk.subarray(done, began));
      const rest = chunk.subarray(began);
      if (this.isLong(rest.length)) await this.moveToFile(rest);
      else {
        this.begun.push(rest);
        this.begunBytes += rest.length;
      }
    }
  }

  /** @returns the remaining JSON */
  async end(): Promise<string> {
    this.keepBegun();
    await this.spool.close();
    return Buffer.concat(this.kept).toString('utf8');
  }

  private isLong(more: number): boolean {
    return this.start !== undefined || this.begunBytes + more > LONG;
  }

  private async moveToFile(piece: Uint8Array): Promise<void> {
    this.start ??= this.spool.size;
    for (const each of this.begun.splice(0)) await this.spool.append(each);
    this.begunBytes = 0;
    await this.spool.append(piece);
  }

  private keep(piece: Uint8Array): void {
    // A copy: a small slice would keep the whole chunk in memory.
    if (piece.length > 0) this.kept.push(Buffer.from(piece));
  }

  private keepBegun(): void {
    this.kept.push(...this.begun.splice(0));
    this.begunBytes = 0;
  }

  private mark(): void {
    // The full stop keeps a marker from being the prefix of another.
    const marker = `${this.secret}-${this.byMarker.size}.`;
    this.byMarker.set(marker, this.spool.since(this.start as number));
    this.start = undefined;
    this.kept.push(Buffer.from(marker));
  }
}
