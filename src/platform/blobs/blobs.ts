import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { isStorageFull } from '../database/storage-full.js';
import type { Tx } from '../database/tx.js';
import type { ApiError } from '../http/api-error.js';
import { Errors } from '../http/errors.js';
import { STORAGE_RETRY_AFTER } from '../http/exception.filter.js';
import { Dependencies } from '../observability/dependencies.js';
import {
  type BlobKey,
  BlobMissingError,
  BlobStore,
  BlobStoreError,
  type ByteRange,
  type ByteSource,
  type OpenBlob,
} from './blob-store.js';
import { BlobMetrics } from './blob-metrics.js';
import { BlobErrors } from './blobs.errors.js';
import { BlobsRepository } from './blobs.repository.js';
import { Measured, TooManyBytesError } from './measured.js';

/** The name of the dependency. */
export const BLOB_STORE = 'blob_store';

const RETRY_AFTER = { headers: { 'Retry-After': '5' } };

/** Bytes that are stored and that nothing refers to yet: `keep` them, or `discard` them. */
export interface StoredBlob {
  readonly id: string;
  readonly size: number;
  readonly sha256: Buffer;
  /** As many bytes of the beginning as were asked for. */
  readonly head: Buffer;
}

/**
 * The files of all domains. Bytes are written before the transaction that refers to them and removed after the one that
 * ceases to: a blob is `put`, then `keep` in the transaction that writes its id into a row; later `release` in the
 * transaction that deletes that row. What is never kept, whatever dies in between, goes after an hour.
 */
@Injectable()
export class Blobs {
  private readonly logger = new Logger(Blobs.name);

  constructor(
    private readonly store: BlobStore,
    private readonly repository: BlobsRepository,
    private readonly metrics: BlobMetrics,
    private readonly dependencies: Dependencies,
  ) {}

  /**
   * Stores bytes without ever holding more than a few of them. Not inside a transaction: it takes as long as its source.
   * When it throws, nothing is left.
   *
   * @param options.maxBytes exactly so many are still taken
   * @param options.headBytes how much of the beginning to return
   * @throws ApiError 413 `file_too_large`, 503 `blob_store_unavailable`, 507 `storage_full`; or what the source throws
   */
  async put(
    tenantId: string,
    source: ByteSource,
    options: { maxBytes: number; headBytes?: number },
  ): Promise<StoredBlob> {
    const key = { tenantId, id: randomUUID() };
    const bytes = new Measured(source, options.maxBytes, options.headBytes);
    await this.repository.insert(key);
    try {
      await this.store.write(key, bytes);
    } catch (error) {
      await this.removeNow(key);
      if (error instanceof TooManyBytesError) throw fileTooLarge(options.maxBytes);
      throw error instanceof BlobStoreError ? this.unavailable('write', error) : error;
    }
    this.metrics.moved('in', bytes.size);
    return { id: key.id, size: bytes.size, sha256: bytes.digest(), head: bytes.head };
  }

  /**
   * Something refers to the blob from this transaction on.
   * @throws ApiError 503 `blob_store_unavailable` when more than an hour has passed since it was put
   */
  async keep(tx: Tx, tenantId: string, blob: Omit<StoredBlob, 'head'>, contentType: string): Promise<void> {
    const { id, size, sha256 } = blob;
    if (await this.repository.keep(tx, { tenantId, id }, { size, sha256, contentType })) return;
    throw BlobErrors.unavailable.with(RETRY_AFTER);
  }

  /** Nothing refers to these blobs from this transaction on; their bytes go soon after it. */
  async release(tx: Tx, tenantId: string, ids: readonly string[]): Promise<void> {
    await this.repository.release(tx, tenantId, ids);
  }

  /**
   * Removes a blob that was put and will not be kept. What cannot be removed now, the collector removes. Does nothing to
   * one that is kept after all: a transaction whose answer was lost may have been committed.
   */
  async discard(tenantId: string, { id }: Pick<StoredBlob, 'id'>): Promise<void> {
    await this.removeNow({ tenantId, id });
  }

  /**
   * The bytes of a kept blob. Destroy the stream when it is not read to its end.
   * @throws ApiError 503 `blob_store_unavailable`
   */
  async open(tenantId: string, id: string, range?: ByteRange): Promise<OpenBlob> {
    try {
      const blob = await this.store.open({ tenantId, id }, range);
      this.metrics.moved('out', blob.size);
      return blob;
    } catch (error) {
      if (error instanceof BlobStoreError || error instanceof BlobMissingError) {
        throw this.unavailable('read', error);
      }
      throw error;
    }
  }

  private async removeNow(key: BlobKey): Promise<void> {
    try {
      if (!(await this.repository.abandon(key))) return;
      await this.store.remove(key);
      await this.repository.forget(key);
    } catch (error) {
      this.logger.debug({ err: error, ...key }, 'a blob is left to the collector');
    }
  }

  private unavailable(operation: 'read' | 'write', error: Error): ApiError {
    this.metrics.failed(operation);
    this.logger.error({ err: error.cause ?? error }, error.message);
    if (isStorageFull(error)) {
      this.dependencies.reportFull(BLOB_STORE);
      return Errors.storageFull.with(STORAGE_RETRY_AFTER);
    }
    return BlobErrors.unavailable.with(RETRY_AFTER);
  }
}

/** The error for a file of more than so many bytes. */
export function fileTooLarge(maxBytes: number): ApiError {
  return BlobErrors.fileTooLarge.with({ body: { max_bytes: maxBytes } });
}
