import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Blobs, type StoredBlob } from '../../../platform/blobs/blobs.js';
import type { ReceivedFile } from '../../../platform/blobs/uploads/uploads.js';
import { ImageErrors, Images } from '../../../platform/images/images.js';
import { ApiError } from '../../../platform/http/api-error.js';
import {
  ClosedError,
  ConcurrencyLimiter,
  QueueFullError,
} from '../../../platform/workers/concurrency-limiter.js';

/** Pixels of the longer side. */
const SIDE = 480;
/** Bytes, approximately. */
const MAX_BYTES = 64 * 1024;
/** Images in memory at the same time. */
const CONCURRENT = 2;
const QUEUE = 16;
const RASTER_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

export const THUMBNAIL_TYPE = 'image/jpeg';

/** Makes thumbnails of uploaded images: JPEGs that the server has encoded, without metadata. */
@Injectable()
export class Thumbnails implements OnModuleDestroy {
  private readonly logger = new Logger(Thumbnails.name);
  private readonly limiter = new ConcurrencyLimiter(CONCURRENT, QUEUE);

  constructor(
    private readonly images: Images,
    private readonly blobs: Blobs,
  ) {}

  onModuleDestroy(): void {
    this.limiter.close();
  }

  /**
   * Stores a thumbnail of an uploaded file. The caller keeps or discards the blob.
   * @returns undefined for files that are no images, damaged or too large images, and while too many images are in the queue
   */
  async of(tenantId: string, { blobId, contentType }: ReceivedFile): Promise<StoredBlob | undefined> {
    if (!RASTER_TYPES.has(contentType)) return undefined;
    try {
      return await this.limiter.run(() => this.store(tenantId, blobId));
    } catch (error) {
      if (!isExpected(error)) this.logger.warn({ err: error }, 'thumbnail not stored; the file has none');
      return undefined;
    }
  }

  private async store(tenantId: string, blobId: string): Promise<StoredBlob> {
    const image = await buffer((await this.blobs.open(tenantId, blobId)).stream);
    const { bytes } = await this.images.jpeg(image, { side: SIDE, bytes: MAX_BYTES });
    return this.blobs.put(tenantId, Readable.from([bytes]), { maxBytes: bytes.length });
  }
}

const isExpected = (error: unknown): boolean =>
  error instanceof QueueFullError ||
  error instanceof ClosedError ||
  (error instanceof ApiError && error.kind === ImageErrors.invalid);
