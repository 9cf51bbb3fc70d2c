import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { countForwardedBytes } from '../../platform/memory/garbage.js';

/** Longer contents, in bytes, go to a file. */
const IN_MEMORY = 1024 * 1024;

/** A range of a file; `end` is exclusive. */
export interface FileBytes {
  file: string;
  start: number;
  end: number;
}

/** Contents in memory or in a file. Files can be passed to threads without copying. */
export type Bytes = Uint8Array | FileBytes;

export function sizeOf(bytes: Bytes): number {
  return bytes instanceof Uint8Array ? bytes.length : bytes.end - bytes.start;
}

/** The caller reads the stream to its end or destroys it. */
export function streamOf(bytes: Bytes): Readable {
  if (bytes instanceof Uint8Array) return Readable.from([bytes]);
  const { file, start, end } = bytes;
  return end > start ? createReadStream(file, { start, end: end - 1 }) : Readable.from([]);
}

/** Reads all bytes, or the first `length`. */
export async function bufferOf(bytes: Bytes, length = sizeOf(bytes)): Promise<Buffer> {
  const size = Math.min(length, sizeOf(bytes));
  if (bytes instanceof Uint8Array) return Buffer.from(bytes.buffer, bytes.byteOffset, size);
  return buffer(streamOf({ ...bytes, end: bytes.start + size }));
}

/** An append-only file, created by the first `append`. */
export class SpoolFile {
  private handle: FileHandle | undefined;
  private written = 0;

  constructor(private readonly file: string) {}

  get size(): number {
    return this.written;
  }

  async append(chunk: Uint8Array): Promise<void> {
    this.handle ??= await create(this.file);
    await this.handle.writeFile(chunk);
    this.written += chunk.length;
    countForwardedBytes(chunk.length);
  }

  /** The range from `start` to the current end. */
  rangeFrom(start: number): FileBytes {
    return { file: this.file, start, end: this.written };
  }

  async close(): Promise<void> {
    await this.handle?.close();
  }
}

/** Reads `source` into memory, or to the end of `spool` when it is longer than `inMemory` bytes. */
export async function gather(
  source: AsyncIterable<Uint8Array>,
  spool: SpoolFile,
  inMemory = IN_MEMORY,
): Promise<Bytes> {
  const start = spool.size;
  let chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of source) {
    length += chunk.length;
    chunks.push(chunk);
    if (length <= inMemory) continue;
    for (const each of chunks) await spool.append(each);
    chunks = [];
  }
  return length <= inMemory ? Buffer.concat(chunks) : spool.rangeFrom(start);
}

/** Gathers the bytes into a new file. */
export async function gatherInto(source: AsyncIterable<Uint8Array>, file: string): Promise<Bytes> {
  const spool = new SpoolFile(file);
  try {
    return await gather(source, spool);
  } finally {
    await spool.close();
  }
}

async function create(file: string): Promise<FileHandle> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  return open(file, 'wx', 0o600);
}
