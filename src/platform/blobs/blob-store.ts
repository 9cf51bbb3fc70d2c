import type { Readable } from 'node:stream';

/** Where a blob is: nothing in it was chosen by a client. */
export interface BlobKey {
  readonly tenantId: string;
  /** A random UUID. */
  readonly id: string;
}

/** The bytes from `start` to `end`, both included, as in HTTP. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Bytes that can be read, in one of two ways and once. */
export interface OpenBlob {
  /** How many bytes will come. */
  readonly size: number;
  /** Begins to read. To be destroyed when it is not read to its end. */
  readonly stream: Readable;
  /**
   * Begins to read into buffers that are used again: a piece is the caller's only until the next one is asked for. For
   * large files: fresh buffers are garbage that costs more to collect than the file to read. To be ended (`return`, as
   * `for await` does) when it is not read to its end.
   */
  pieces(): AsyncIterable<Uint8Array>;
  /** Instead of reading. */
  close(): void;
}

/** What bytes are read from. Whatever it throws reaches the caller of `BlobStore.write` as it is. */
export type ByteSource = AsyncIterable<Uint8Array>;

/** The store failed or cannot be reached; the reason is the cause. */
export class BlobStoreError extends Error {
  constructor(operation: string, cause: unknown) {
    super(`the blob store could not ${operation}`, { cause });
    this.name = 'BlobStoreError';
  }
}

/** The store has no such bytes. */
export class BlobMissingError extends Error {
  constructor(key: BlobKey) {
    super(`the blob store has no ${key.tenantId}/${key.id}`);
    this.name = 'BlobMissingError';
  }
}

/**
 * Keeps immutable bytes under keys. Knows nothing of who refers to them: that is what `Blobs` is for, which is what
 * domains use.
 */
export abstract class BlobStore {
  /**
   * Stores all of `source`, durably, when it returns. When it throws, nothing can be read under the key; parts may be
   * left that only `remove` finds.
   * @throws BlobStoreError, or what the source throws
   */
  abstract write(key: BlobKey, source: ByteSource): Promise<void>;

  /** @throws BlobMissingError, BlobStoreError; the stream may also fail later, with an error of the store's client */
  abstract open(key: BlobKey, range?: ByteRange): Promise<OpenBlob>;

  /** @returns the size in bytes; undefined: there is no such blob. @throws BlobStoreError */
  abstract size(key: BlobKey): Promise<number | undefined>;

  /**
   * Removes the blob and what an unfinished `write` left of it. Removing what is not there is no error.
   * @throws BlobStoreError
   */
  abstract remove(key: BlobKey): Promise<void>;

  /**
   * @param full the last write failed because the store was full: also check for free space
   * @throws BlobStoreError when the store cannot be written to
   */
  abstract check(full?: boolean): Promise<void>;

  close(): void {
    // Most stores hold nothing open.
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * `<tenant>/<two digits of the id>/<id>`: what file systems and people can still list.
 * @throws RangeError for anything but two lower-case UUIDs, so that no path can lead elsewhere
 */
export function objectName({ tenantId, id }: BlobKey): string {
  if (!UUID.test(tenantId) || !UUID.test(id)) throw new RangeError('a blob key is two UUIDs');
  return `${tenantId}/${id.slice(0, 2)}/${id}`;
}
