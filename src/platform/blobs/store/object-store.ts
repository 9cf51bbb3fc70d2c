import type { Readable } from 'node:stream';

/** The bytes from `start` to `end`, both included, as in HTTP. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Readable bytes. The owner calls one of the methods, once. */
export interface OpenBlob {
  /** Number of bytes. */
  readonly size: number;
  /** Starts reading. Destroy the stream when it is not read to its end. */
  readonly stream: Readable;
  /**
   * Starts reading into reused buffers: a piece is valid until the next one is requested. The method serves large files, where collecting
   * fresh buffers costs more than reading. Call `return` (as `for await` does) when it is not read to its end.
   */
  pieces(): AsyncIterable<Uint8Array>;
  /** Releases the source without reading it. */
  close(): void;
}

/** A source of bytes. Its errors reach the caller of `ObjectStore.write` unchanged. */
export type ByteSource = AsyncIterable<Uint8Array>;

/** The store failed or is unreachable. `cause` has the reason. */
export class BlobStoreError extends Error {
  constructor(operation: string, cause: unknown) {
    super(`the blob store could not ${operation}`, { cause });
    this.name = 'BlobStoreError';
  }
}

/** @param operation for the message @throws BlobStoreError in place of any error of `work` */
export async function translateErrors<T>(operation: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new BlobStoreError(operation, error);
  }
}

/** The store has no object with this name. */
export class BlobMissingError extends Error {
  constructor(name: string) {
    super(`the blob store has no ${name}`);
    this.name = 'BlobMissingError';
  }
}

/** Stores bytes under names: relative paths with `/`, without `.` and `..`. Callers choose the names. */
export abstract class ObjectStore {
  /**
   * Stores `source` durably and replaces an object of this name. When it throws, the previous state remains, and `remove`
   * deletes partial data.
   * @throws BlobStoreError, or the error of the source
   */
  abstract write(name: string, source: ByteSource): Promise<void>;

  /** @throws BlobMissingError, BlobStoreError; the stream may also fail later, with an error of the store's client */
  abstract open(name: string, range?: ByteRange): Promise<OpenBlob>;

  /** @returns the size in bytes; undefined when the object does not exist. @throws BlobStoreError */
  abstract size(name: string): Promise<number | undefined>;

  /**
   * The names of all objects in a folder and its subfolders, in no order.
   * @param folder without a slash at the end
   * @throws BlobStoreError
   */
  abstract list(folder: string): AsyncIterable<string>;

  /**
   * Removes the object and the partial data of an unfinished `write`. Does nothing when there is none.
   * @throws BlobStoreError
   */
  abstract remove(name: string): Promise<void>;

  /**
   * @param full the last write failed because the store was full: also check for free space
   * @throws BlobStoreError when the store cannot be written to
   */
  abstract check(full?: boolean): Promise<void>;

  close(): void {
    // Most stores keep no connections.
  }
}
