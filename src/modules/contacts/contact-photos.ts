import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { CardPhoto } from '../../lib/vcard/index.js';
import { Blobs } from '../../platform/blobs/blobs.js';
import { Db } from '../../platform/database/db.js';
import { Images } from '../../platform/images/images.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import { ContactPhotosRepository } from './contact-photos.repository.js';

/** Bytes of an image that a client sends. */
export const MAX_PHOTO_BYTES = 8 * 1024 * 1024;
/** Pixels of the longer side of a stored photo. */
const SIDE = 720;
/** Bytes of a stored photo, approximately. */
const STORED_BYTES = 256 * 1024;
export const PHOTO_TYPE = 'image/jpeg';
const BATCH = 200;

/** SHA-256 of an image, hexadecimal. */
export const photoHash = (image: Uint8Array): string => hash('sha256', image);

/**
 * The photos of contacts. Each is stored as a JPEG that the server has encoded. A photo that no contact, merge or import refers
 * to any more is deleted within a minute or two.
 */
@Injectable()
export class ContactPhotos implements OnModuleInit {
  constructor(
    private readonly photos: ContactPhotosRepository,
    private readonly images: Images,
    private readonly blobs: Blobs,
    private readonly jobs: PeriodicJobs,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'contacts.collect-photos', everySeconds: 60, run: () => this.collect() });
  }

  /**
   * Stores an image. Call it outside transactions and write the id into a contact within an hour.
   * @returns the id of the photo; an image that is stored already is not encoded again
   * @throws ApiError 422 `invalid_image`, 503
   */
  async store(tenantId: string, image: Uint8Array): Promise<string> {
    const key = photoHash(image);
    const known = await this.photos.reuse(tenantId, [key]);
    return known.get(key) ?? this.encode(tenantId, image);
  }

  /** Photos of these images that are stored already, by hash. */
  async known(tenantId: string, hashes: readonly string[]): Promise<Map<string, string>> {
    return this.photos.reuse(tenantId, hashes);
  }

  /** @returns the id of the new photo @throws ApiError 422 `invalid_image`, 503 */
  async encode(tenantId: string, image: Uint8Array): Promise<string> {
    const { bytes, width, height } = await this.images.jpeg(image, { side: SIDE, bytes: STORED_BYTES });
    const blob = await this.blobs.put(tenantId, Readable.from([bytes]), { maxBytes: bytes.length });
    const { id: blobId, size, sha256 } = blob;
    const source = hash('sha256', image, 'buffer');
    return this.db.tx(async (tx) => {
      await this.blobs.keep(tx, tenantId, blob, PHOTO_TYPE);
      return this.photos.insert(tx, tenantId, { blobId, source, sha256, size, width, height });
    });
  }

  /** The JPEG; undefined when the photo was deleted meanwhile. @throws ApiError 503 `blob_store_unavailable` */
  async bytes(tenantId: string, photoId: string): Promise<Buffer | undefined> {
    const blobId = await this.photos.blobOf(tenantId, photoId);
    return blobId === undefined ? undefined : buffer((await this.blobs.open(tenantId, blobId)).stream);
  }

  /** The photo of a vCard. @param photoId null: none */
  async forCard(tenantId: string, photoId: string | null): Promise<CardPhoto | null> {
    const data = photoId === null ? undefined : await this.bytes(tenantId, photoId);
    return data ? { media_type: PHOTO_TYPE, data } : null;
  }

  /** Deletes photos without references. */
  async collect(): Promise<void> {
    for (let checked = BATCH; checked === BATCH;) {
      checked = await this.db.tx(async (tx) => {
        const rows = await this.photos.collect(tx, BATCH);
        await this.blobs.release(tx, rows);
        return rows.length;
      });
    }
  }
}
