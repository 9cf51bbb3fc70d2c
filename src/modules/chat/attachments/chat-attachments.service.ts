import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Blobs, type StoredBlob, type StoredFile } from '../../../platform/blobs/blobs.js';
import type { UploadForm } from '../../../platform/blobs/uploads/upload-form.js';
import { type ReceivedFile, Uploads } from '../../../platform/blobs/uploads/uploads.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { ApiError } from '../../../platform/http/errors.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import type { ContentReply } from '../../../platform/http/replies/content-reply.js';
import { ImageErrors, Images } from '../../../platform/images/images.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { deletion, type Sweep } from '../../../platform/jobs/sweep.js';
import {
  ClosedError,
  ConcurrencyLimiter,
  QueueFullError,
} from '../../../platform/workers/concurrency-limiter.js';
import { ATTACHMENT } from '../changes/message-facts.js';
import type { RoomGuest } from '../chat-hooks.js';
import { type ChatAttachmentEnvelope, ChatErrors } from '../chat.dto.js';
import { newAttachmentReply } from '../chat.presenter.js';

interface StoredChatFile extends StoredFile {
  /** Null means that the file has no thumbnail. */
  thumbnail_id: string | null;
  thumbnail_size: number | null;
  /** Hexadecimal. */
  thumbnail_sha256: string | null;
}

const insert = workspace.statement<{ attachment: string }>(
  'chat_attachments.insert',
  `INSERT INTO chat_attachments AS file
          (tenant_id, id, owner_id, blob_id, name, size, content_type, sha256, thumbnail_id, thumbnail_size, thumbnail_sha256)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING ${ATTACHMENT}::text AS attachment`,
);

// Index: chat_attachments_unsent.
const countUnsent = workspace.statement<{ count: number }>(
  'chat_attachments.count_unsent',
  `SELECT count(*)::int AS count FROM chat_attachments WHERE tenant_id = $1 AND owner_id = $2 AND room_id IS NULL`,
);

const lockUnsent = workspace.lock('chat_attachments.lock_unsent', 'chat attachments', 2);

const COLUMNS = `file.blob_id, file.name, file.size::float8 AS size, file.content_type, encode(file.sha256, 'hex') AS sha256,
          file.thumbnail_id, file.thumbnail_size::float8 AS thumbnail_size,
          encode(file.thumbnail_sha256, 'hex') AS thumbnail_sha256`;

// The owner can read an unsent file, the members of the room a sent one.
const find = workspace.statement<StoredChatFile>(
  'chat_attachments.find',
  `SELECT ${COLUMNS}
     FROM chat_attachments file
    WHERE file.tenant_id = $1 AND file.id = $3
      AND CASE WHEN file.room_id IS NULL THEN file.owner_id = $2 ELSE EXISTS (
        SELECT FROM chat_members member
          JOIN chat_rooms room ON room.tenant_id = $1 AND room.id = member.room_id AND room.deleted_at IS NULL
         WHERE member.tenant_id = $1 AND member.room_id = file.room_id AND member.user_id = $2) END`,
);

const findForGuest = workspace.statement<StoredChatFile>(
  'chat_attachments.find_for_guest',
  `SELECT ${COLUMNS}
     FROM chat_attachments file
    WHERE file.tenant_id = $1 AND file.id = $3
      AND CASE WHEN file.room_id IS NULL THEN file.owner_id = $2
               ELSE file.room_id = $4 AND (file.message_seq > $5 OR file.owner_id = $2) END`,
);

// Index: chat_attachments_due. Until it is sent, a file is kept for 24 hours.
export const deleteUnsent: Sweep = workspace.statement(
  'chat_attachments.sweep',
  deletion('chat_attachments', `room_id IS NULL AND created_at < now() - interval '24 hours'`),
  { reach: 'cell' },
);

/** SQL of files of messages. A trigger releases the blobs of deleted rows. */
@Injectable()
export class ChatAttachmentsRepository {
  constructor(private readonly db: Db) {}

  /** Serialises the uploads of the caller until the end of the transaction. */
  async lockUnsent(tx: Tx, { tenantId, userId }: RequestContext): Promise<void> {
    await tx.query(lockUnsent, [tenantId, userId]);
  }

  async countUnsent(reader: Reader, { tenantId, userId }: RequestContext): Promise<number> {
    return (await reader.query(countUnsent, [tenantId, userId]))[0]?.count ?? 0;
  }

  /** @returns JSON of the attachment */
  async insert(
    tx: Tx,
    { tenantId, userId }: RequestContext,
    id: string,
    { blobId, name, size, contentType, sha256 }: ReceivedFile,
    thumbnail: StoredBlob | undefined,
  ): Promise<string> {
    const small = [thumbnail?.id ?? null, thumbnail?.size ?? null, thumbnail?.sha256 ?? null];
    const values = [tenantId, id, userId, blobId, name, size, contentType, sha256, ...small];
    const [row] = await tx.query(insert, values);
    return row?.attachment as string;
  }

  async find({ tenantId, userId }: RequestContext, id: string): Promise<StoredChatFile | undefined> {
    return (await this.db.query(find, [tenantId, userId, id]))[0];
  }

  /** The caller has checked the access of the guest to the room. */
  async findForGuest(
    { tenantId, guestId, roomId, afterSeq }: RoomGuest,
    id: string,
  ): Promise<StoredChatFile | undefined> {
    return (await this.db.query(findForGuest, [tenantId, guestId, id, roomId, afterSeq]))[0];
  }
}

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
  async makeThumbnail(
    tenantId: string,
    { blobId, contentType }: ReceivedFile,
  ): Promise<StoredBlob | undefined> {
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

/** Bytes of one file: 20 MiB. */
export const ATTACHMENT_MAX_BYTES = 20 * 1024 * 1024;
const MAX_UNSENT = 50;

/** Files of messages. Until it is sent, only its owner can download a file. */
@Injectable()
export class ChatAttachmentsService implements OnModuleInit {
  constructor(
    private readonly attachments: ChatAttachmentsRepository,
    private readonly uploads: Uploads,
    private readonly blobs: Blobs,
    private readonly thumbnails: Thumbnails,
    private readonly jobs: PeriodicJobs,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'chat.sweep-attachments', everySeconds: 600, deletes: deleteUnsent });
  }

  /** @throws ApiError 422 `too_many_unsent_attachments`, and the errors of uploads */
  async upload(ctx: RequestContext, form: UploadForm): Promise<JsonReply<ChatAttachmentEnvelope>> {
    const { id, attachment } = await this.store(ctx, form, ATTACHMENT_MAX_BYTES);
    return newAttachmentReply(id, attachment);
  }

  /**
   * Stores the file of a form as an unsent file of the caller, who may be a guest.
   * @param accept runs in the transaction that stores the file; its error rejects the file
   * @returns `attachment`: JSON
   * @throws ApiError 422 `too_many_unsent_attachments`, and the errors of uploads and of `accept`
   */
  async store(
    ctx: RequestContext,
    form: UploadForm,
    maxBytes: number,
    accept?: (tx: Tx, bytes: number) => Promise<void>,
  ): Promise<{ id: string; attachment: string }> {
    // Checked again under the lock. This first check avoids receiving a file that will be rejected.
    await this.assertWithinLimit(this.db, ctx);
    return this.uploads.receive(ctx, form, maxBytes, async (file) => {
      const thumbnail = await this.thumbnails.makeThumbnail(ctx.tenantId, file);
      try {
        return await this.db.tx(async (tx) => {
          const id = uuidv7();
          await this.attachments.lockUnsent(tx, ctx);
          await this.assertWithinLimit(tx, ctx);
          await accept?.(tx, file.size);
          await file.keep(tx);
          if (thumbnail) await this.blobs.keep(tx, ctx.tenantId, thumbnail, THUMBNAIL_TYPE);
          return { id, attachment: await this.attachments.insert(tx, ctx, id, file, thumbnail) };
        });
      } catch (error) {
        if (thumbnail) await this.blobs.discard(ctx.tenantId, thumbnail);
        throw error;
      }
    });
  }

  private async assertWithinLimit(reader: Reader, ctx: RequestContext): Promise<void> {
    if ((await this.attachments.countUnsent(reader, ctx)) >= MAX_UNSENT)
      throw ChatErrors.tooManyUnsent.with();
  }

  /** Checks the membership at each download. @throws ApiError 404 */
  async download(ctx: RequestContext, id: string): Promise<ContentReply> {
    return this.content(ctx.tenantId, await this.attachments.find(ctx, id));
  }

  /** Checks the membership like a download of the file. @throws ApiError 404, also for a file without a thumbnail */
  async thumbnail(ctx: RequestContext, id: string): Promise<ContentReply> {
    const file = await this.attachments.find(ctx, id);
    if (!file?.thumbnail_id) throw ChatErrors.attachmentNotFound.with();
    const { thumbnail_id: blob_id, thumbnail_size, thumbnail_sha256 } = file;
    const [size, sha256] = [thumbnail_size as number, thumbnail_sha256 as string];
    return this.content(ctx.tenantId, {
      name: 'thumbnail.jpg',
      content_type: THUMBNAIL_TYPE,
      blob_id,
      size,
      sha256,
    });
  }

  /** Downloads a file as a guest: an own file, or a file of a message since the admission. @throws ApiError 404 */
  async downloadAsGuest(guest: RoomGuest, id: string): Promise<ContentReply> {
    return this.content(guest.tenantId, await this.attachments.findForGuest(guest, id));
  }

  private content(tenantId: string, file: StoredFile | undefined): ContentReply {
    if (!file) throw ChatErrors.attachmentNotFound.with();
    return this.blobs.download(tenantId, file);
  }
}
