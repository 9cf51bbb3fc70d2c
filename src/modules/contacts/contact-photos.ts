import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { CardPhoto } from '../../lib/vcard/index.js';
import { Blobs } from '../../platform/blobs/blobs.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import { Images } from '../../platform/images/images.js';
import { PeriodicJobs } from '../../platform/jobs/periodic-jobs.js';
import type { ContactPhoto } from './contacts.entity.js';

/** A stored photo without an id. */
export interface NewPhoto {
  blobId: string;
  /** SHA-256 of the image that the client sent. */
  source: Buffer;
  sha256: Buffer;
  size: number;
  width: number;
  height: number;
}

const insert = workspace.statement<never>(
  'contacts.insert_photo',
  `INSERT INTO contact_photos (tenant_id, id, blob_id, source_sha256, sha256, size, width, height)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

// The check is postponed: the caller has an hour to refer to the photo.
const reuse = workspace.statement<Pick<ContactPhoto, 'id'> & { hash: string }>(
  'contacts.reuse_photos',
  `UPDATE contact_photos photo SET check_at = now() + interval '1 hour'
     FROM unnest($2::text[]) AS wanted (hash)
    WHERE photo.tenant_id = $1 AND (photo.source_sha256 = decode(wanted.hash, 'hex') OR photo.sha256 = decode(wanted.hash, 'hex'))
   RETURNING photo.id, wanted.hash`,
);

const blobOf = workspace.statement<Pick<ContactPhoto, 'blob_id'>>(
  'contacts.photo_blob',
  `SELECT blob_id FROM contact_photos WHERE tenant_id = $1 AND id = $2`,
);

// Photos of contacts leave the queue; photos that an undo may need are checked again a day later.
const collect = workspace.statement<{ tenant_id: string; blob_id: string | null }>(
  'contacts.collect_photos',
  `WITH due AS MATERIALIZED (
     SELECT photo.tenant_id, photo.id FROM contact_photos photo WHERE photo.check_at <= now()
      ORDER BY photo.check_at LIMIT $1 FOR UPDATE SKIP LOCKED),
   checked AS MATERIALIZED (
     SELECT due.*,
            EXISTS (SELECT FROM contacts contact WHERE contact.tenant_id = due.tenant_id AND contact.photo_id = due.id) AS in_use,
            EXISTS (SELECT FROM contact_import_items item
                     WHERE item.tenant_id = due.tenant_id AND item.original_photo_id = due.id)
            OR EXISTS (SELECT FROM contact_merges merge
                        WHERE merge.tenant_id = due.tenant_id AND due.id = ANY (merge.photo_ids)) AS can_return
       FROM due),
   postponed AS (
     UPDATE contact_photos photo SET check_at = CASE WHEN NOT checked.in_use THEN now() + interval '1 day' END
       FROM checked
      WHERE photo.tenant_id = checked.tenant_id AND photo.id = checked.id AND (checked.in_use OR checked.can_return)
     RETURNING photo.tenant_id, NULL::uuid AS blob_id),
   deleted AS (
     DELETE FROM contact_photos photo USING checked
      WHERE photo.tenant_id = checked.tenant_id AND photo.id = checked.id AND NOT (checked.in_use OR checked.can_return)
     RETURNING photo.tenant_id, photo.blob_id)
   SELECT * FROM postponed UNION ALL SELECT * FROM deleted`,
  { reach: 'cell' },
);

/** SQL of photos. */
@Injectable()
export class ContactPhotosRepository {
  constructor(private readonly db: Db) {}

  /** @returns the id of the photo */
  async insert(tx: Tx, tenantId: string, photo: NewPhoto): Promise<string> {
    const id = uuidv7();
    const { blobId, source, sha256, size, width, height } = photo;
    await tx.query(insert, [tenantId, id, blobId, source, sha256, size, width, height]);
    return id;
  }

  /**
   * Stored photos by the SHA-256 of the image that a client sent, which may be a photo that it received from the server. They
   * are kept for an hour.
   * @param hashes hexadecimal
   */
  async reuse(tenantId: string, hashes: readonly string[]): Promise<Map<string, string>> {
    if (hashes.length === 0) return new Map();
    const rows = await this.db.single((tx) => tx.query(reuse, [tenantId, hashes]));
    return new Map(rows.map(({ id, hash }) => [hash, id]));
  }

  async blobOf(tenantId: string, id: string): Promise<string | undefined> {
    return (await this.db.query(blobOf, [tenantId, id]))[0]?.blob_id;
  }

  /**
   * Checks photos that are due and deletes those without a reference.
   * @returns for each checked photo its workspace, and the file to release where the photo was deleted
   */
  async collect(tx: Tx, limit: number): Promise<{ tenant_id: string; blob_id: string | null }[]> {
    return tx.query(collect, [limit]);
  }
}

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
  async findKnown(tenantId: string, hashes: readonly string[]): Promise<Map<string, string>> {
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
