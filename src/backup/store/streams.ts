import { createInterface } from 'node:readline';
import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import type { ByteSource } from '../../platform/blobs/store/object-store.js';

/** Bytes that reach a file store in one write. */
const BUFFER_BYTES = 64 * 1024;

/** Compresses with Zstandard (RFC 8878). */
export const compress = (source: ByteSource): AsyncGenerator<Uint8Array> =>
  through(source, createZstdCompress({ chunkSize: BUFFER_BYTES }));

/** Decompresses Zstandard. */
export const decompress = (source: ByteSource): AsyncGenerator<Uint8Array> =>
  through(source, createZstdDecompress({ chunkSize: BUFFER_BYTES }));

async function* through(source: ByteSource, transform: Transform): AsyncGenerator<Uint8Array> {
  const done = pipeline(source, transform);
  // The loop below reports the error too.
  done.catch(() => undefined);
  yield* transform as AsyncIterable<Uint8Array>;
  await done;
}

/** One line of JSON for each value. */
export async function* toLines(values: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  let text = '';
  for await (const value of values) {
    text += `${JSON.stringify(value)}\n`;
    if (text.length < BUFFER_BYTES) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}

/** The values of `toLines`. */
export async function* fromLines<T>(source: ByteSource): AsyncGenerator<T> {
  const input = Readable.from(source, { objectMode: false });
  const lines = createInterface({ input, crlfDelay: Infinity });
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  // The interface of readline does not forward errors of its input.
  input.once('error', failed.reject);
  const iterator = lines[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await Promise.race([iterator.next(), failed.promise]);
      if (done) break;
      yield JSON.parse(value) as T;
    }
    if (input.errored) throw input.errored;
  } finally {
    lines.close();
    input.destroy();
  }
}

/**
 * Processes values concurrently. The results have the order of the values.
 * @param concurrency maximum number of running calls
 */
export async function* mapInOrder<T, R>(
  values: AsyncIterable<T>,
  concurrency: number,
  work: (value: T) => Promise<R>,
): AsyncGenerator<R> {
  const running: Promise<R>[] = [];
  try {
    for await (const value of values) {
      const result = work(value);
      // The result is awaited later, in order.
      result.catch(() => undefined);
      running.push(result);
      if (running.length >= concurrency) yield await (running.shift() as Promise<R>);
    }
    for (const result of running) yield await result;
  } finally {
    await Promise.allSettled(running);
  }
}
