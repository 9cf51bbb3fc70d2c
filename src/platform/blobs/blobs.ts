import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import { forProcess } from '../current-work/current-work.js';
import { isStorageFull } from '../database/database-errors.js';
import type { Tx } from '../database/tx.js';
import { type ApiError, Errors } from '../http/errors.js';
import { ContentReply } from '../http/replies/content-reply.js';
import { STORAGE_RETRY_AFTER } from '../http/server/exception.filter.js';
import { Dependencies } from '../observability/dependencies.js';
import { type BlobKey, BlobStore } from './store/blob-store.js';
import {
  BlobMissingError,
  BlobStoreError,
  type ByteRange,
  type ByteSource,
  type OpenBlob,
} from './store/object-store.js';
import { BlobMetrics } from './blob-metrics.js';
import { BlobErrors } from './file-errors.dto.js';
import { BlobsRepository } from './blobs.repository.js';
import { FileLimits } from './file-limits.js';
import { Measured, TooManyBytesError } from './store/measured.js';

/** The name of the dependency. */
export const BLOB_STORE = 'blob_store';

/** Interval at which a blob that is being written is renewed, so that the collector keeps it, milliseconds. */
const RENEW_MS = 20 * 60_000;

const RETRY_AFTER = { headers: { 'Retry-After': '5' } };

/** A stored blob without references. `keep` or `discard` it. */
export interface StoredBlob {
  readonly id: string;
  readonly size: number;
  readonly sha256: Buffer;
  /** The first bytes, as many as requested. */
  readonly head: Buffer;
  /** The uploader, null for no user, when limits apply. */
  readonly userId?: string | null | undefined;
}

/** A kept blob, as a row names it. */
export interface StoredFile {
  blob_id: string;
  name: string;
  size: number;
  content_type: string;
  /** Hexadecimal. */
  sha256: string;
}

/**
 * The files of all domains. Bytes are written before the transaction that references them and removed after the transaction
 * that drops the reference: `put`, then `keep` in the transaction that writes the id into a row, later `release` in the
 * transaction that deletes that row. A blob that is not kept within an hour after it was written is removed.
 */
@Injectable()
export class Blobs {
  private readonly logger = new Logger(Blobs.name);

  constructor(
    private readonly store: BlobStore,
    private readonly repository: BlobsRepository,
    private readonly limits: FileLimits,
    private readonly metrics: BlobMetrics,
    private readonly dependencies: Dependencies,
  ) {}

  /**
   * Streams bytes into the store. Call it outside transactions, because it takes as long as its source. Removes the bytes
   * when it throws.
   *
   * @param options.maxBytes maximum size, inclusive
   * @param options.headBytes number of first bytes to return
   * @param options.userId the uploader, null for no user: the limits of the workspace and of the user apply. Undefined means that
   *   the service writes the file itself, without limits
   * @throws ApiError 413 `file_too_large`, 503 `blob_store_unavailable`, 507 `storage_full`, `file_limit_reached`; or the error of the
   *   source
   */
  async put(
    tenantId: string,
    source: ByteSource,
    options: { maxBytes: number; headBytes?: number; userId?: string | null | undefined },
  ): Promise<StoredBlob> {
    const { maxBytes, headBytes, userId } = options;
    // The store reports the error when it reads. Until then, an error without a listener would end the process.
    if (source instanceof Readable) source.on('error', () => undefined);
    const key = { tenantId, id: randomUUID() };
    const left = userId === undefined ? null : await this.limits.readRemaining(tenantId, userId);
    const bytes = new Measured(source, Math.min(maxBytes, left?.bytes ?? maxBytes), headBytes);
    await this.repository.insert(key, userId ?? null);
    const renewal = setInterval(() => this.renew(key), RENEW_MS);
    try {
      await this.store.write(key, bytes);
    } catch (error) {
      await this.discard(tenantId, key);
      if (error instanceof TooManyBytesError)
        throw left && left.bytes < maxBytes ? left.reached : fileTooLarge(maxBytes);
      throw error instanceof BlobStoreError ? this.unavailable('write', error) : error;
    } finally {
      clearInterval(renewal);
    }
    this.metrics.countMoved('in', bytes.size);
    return { id: key.id, size: bytes.size, sha256: bytes.digest(), head: bytes.head, userId };
  }

  /**
   * Records that this transaction references the blob.
   * @throws ApiError 503 `blob_store_unavailable` when the blob was put more than an hour ago; 507 `file_limit_reached`
   */
  async keep(tx: Tx, tenantId: string, blob: Omit<StoredBlob, 'head'>, contentType: string): Promise<void> {
    const { id, size, sha256 } = blob;
    if (!(await this.repository.keep(tx, { tenantId, id }, { size, sha256, contentType })))
      throw BlobErrors.unavailable.with(RETRY_AFTER);
    await this.keptBy(tx, tenantId, blob);
  }

  /** Checks the limits after an SQL function of this transaction has called `blob_keep`. @throws ApiError 507 `file_limit_reached` */
  async keptBy(tx: Tx, tenantId: string, { userId }: Pick<StoredBlob, 'userId'>): Promise<void> {
    if (userId !== undefined) await this.limits.assertWithin(tx, tenantId, userId);
  }

  /**
   * Records that this transaction drops the references to blobs. Their bytes are removed after it.
   * @param rows of any workspaces; those without a blob are skipped
   */
  async release(tx: Tx, rows: readonly { tenant_id: string; blob_id: string | null }[]): Promise<void> {
    for (const [tenantId, own] of Map.groupBy(rows, (row) => row.tenant_id)) {
      const ids = own.flatMap(({ blob_id }) => blob_id ?? []);
      if (ids.length > 0) await this.repository.release(tx, tenantId, ids);
    }
  }

  /** Releases all blobs of a workspace. */
  async releaseAll(tx: Tx, tenantId: string): Promise<void> {
    await this.repository.releaseAll(tx, tenantId);
  }

  /**
   * Removes a blob that will not be kept; if that fails, the collector does it later. Does nothing to a kept blob: a
   * transaction without a response from the database may have committed.
   */
  async discard(tenantId: string, { id }: Pick<StoredBlob, 'id'>): Promise<void> {
    const key = { tenantId, id };
    try {
      if (!(await this.repository.abandon(key))) return;
      await this.store.remove(key);
      await this.repository.forget(key);
    } catch (error) {
      this.logger.debug({ err: error, ...key }, 'removal of a blob failed; the collector will retry');
    }
  }

  /** The download of a kept blob. */
  download(tenantId: string, file: StoredFile): ContentReply {
    const { name, size, content_type: contentType, sha256, blob_id: id } = file;
    return new ContentReply({
      name,
      size,
      contentType,
      sha256,
      open: (range) => this.open(tenantId, id, range),
    });
  }

  /**
   * Opens the bytes of a kept blob. Destroy the stream when it is not read to its end.
   * @throws ApiError 503 `blob_store_unavailable`
   */
  async open(tenantId: string, id: string, range?: ByteRange): Promise<OpenBlob> {
    try {
      const blob = await this.store.open({ tenantId, id }, range);
      this.metrics.countMoved('out', blob.size);
      return blob;
    } catch (error) {
      if (error instanceof BlobStoreError || error instanceof BlobMissingError) {
        throw this.unavailable('read', error);
      }
      throw error;
    }
  }

  private renew(key: BlobKey): void {
    forProcess(() => this.repository.renew(key)).catch((error: unknown) =>
      this.logger.warn({ err: error, ...key }, 'renewal of a blob failed'),
    );
  }

  private unavailable(operation: 'read' | 'write', error: Error): ApiError {
    this.metrics.countFailure(operation);
    this.logger.error({ err: error.cause ?? error }, error.message);
    if (isStorageFull(error)) {
      this.dependencies.reportFull(BLOB_STORE);
      return Errors.storageFull.with(STORAGE_RETRY_AFTER);
    }
    return BlobErrors.unavailable.with(RETRY_AFTER);
  }
}

/** The error for a file of more than `maxBytes`. */
export function fileTooLarge(maxBytes: number): ApiError {
  return BlobErrors.fileTooLarge.with({ body: { max_bytes: maxBytes } });
}
