import type { Readable } from 'node:stream';

/** The address of a blob. Clients choose no part of it. */
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

/** Readable bytes. The owner calls one of the methods, once. */
export interface OpenBlob {
  /** Number of bytes. */
  readonly size: number;
  /** Starts reading. Destroy the stream when it is not read to its end. */
  readonly stream: Readable;
  /**
   * Starts reading into reused buffers: a piece is valid until the next one is requested. For large files, where collecting
   * fresh buffers costs more than reading. Call `return` (as `for await` does) when it is not read to its end.
   */
  pieces(): AsyncIterable<Uint8Array>;
  /** Releases the source without reading it. */
  close(): void;
}

/** A source of bytes. Its errors reach the caller of `BlobStore.write` unchanged. */
export type ByteSource = AsyncIterable<Uint8Array>;

/** The store failed or is unreachable. `cause` has the reason. */
export class BlobStoreError extends Error {
  constructor(operation: string, cause: unknown) {
    super(`the blob store could not ${operation}`, { cause });
    this.name = 'BlobStoreError';
  }
}

/** The store has no blob with this key. */
export class BlobMissingError extends Error {
  constructor(key: BlobKey) {
    super(`the blob store has no ${key.tenantId}/${key.id}`);
    this.name = 'BlobMissingError';
  }
}

/**
 * Stores immutable bytes under keys. `Blobs` records the references to them and is the interface for domains.
 */
export abstract class BlobStore {
  /**
   * Stores `source` durably. When it throws, the key is not readable, and `remove` deletes partial data.
   * @throws BlobStoreError, or the error of the source
   */
  abstract write(key: BlobKey, source: ByteSource): Promise<void>;

  /** @throws BlobMissingError, BlobStoreError; the stream may also fail later, with an error of the store's client */
  abstract open(key: BlobKey, range?: ByteRange): Promise<OpenBlob>;

  /** @returns the size in bytes; undefined when the blob does not exist. @throws BlobStoreError */
  abstract size(key: BlobKey): Promise<number | undefined>;

  /**
   * Removes the blob and the partial data of an unfinished `write`. Does nothing when there is none.
   * @throws BlobStoreError
   */
  abstract remove(key: BlobKey): Promise<void>;

  /**
   * @param full the last write failed because the store was full: also check for free space
   * @throws BlobStoreError when the store cannot be written to
   */
  abstract check(full?: boolean): Promise<void>;

  close(): void {
    // Most stores keep no connections.
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * `<tenant>/<two digits of the id>/<id>`, so that no directory gets too many entries.
 * @throws RangeError unless both are lower-case UUIDs, so that the path stays inside the store
 */
export function objectName({ tenantId, id }: BlobKey): string {
  if (!UUID.test(tenantId) || !UUID.test(id)) throw new RangeError('a blob key is two UUIDs');
  return `${tenantId}/${id.slice(0, 2)}/${id}`;
}
