import { Injectable, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Blobs, type StoredFile } from '../../../platform/blobs/blobs.js';
import type { UploadForm } from '../../../platform/blobs/uploads/upload-form.js';
import { Uploads } from '../../../platform/blobs/uploads/uploads.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import type { ContentReply } from '../../../platform/http/replies/content-reply.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { ChatErrors } from '../chat.errors.js';
import type { RoomGuest } from '../room-guest.js';
import { THUMBNAIL_TYPE, Thumbnails } from './thumbnails.js';
import { ChatAttachmentsRepository, deleteUnsent } from './chat-attachments.repository.js';
import type { ChatAttachmentEnvelope } from './chat-attachments.response.js';
import { newAttachmentReply } from './chat-attachments.presenter.js';

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
      const thumbnail = await this.thumbnails.of(ctx.tenantId, file);
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
