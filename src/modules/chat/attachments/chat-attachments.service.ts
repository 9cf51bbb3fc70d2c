import { Injectable, type OnModuleInit } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Blobs } from '../../../platform/blobs/blobs.js';
import type { UploadForm } from '../../../platform/blobs/upload-form.js';
import { Uploads } from '../../../platform/blobs/uploads.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { ContentReply } from '../../../platform/http/replies/content-reply.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { PeriodicJobs } from '../../../platform/jobs/periodic-jobs.js';
import { ChatErrors } from '../chat.errors.js';
import { ChatAttachmentsRepository } from './chat-attachments.repository.js';

/** Bytes of one file: 20 MiB. */
export const ATTACHMENT_MAX_BYTES = 20 * 1024 * 1024;
const MAX_UNSENT = 50;
/** Hours after which an unsent file is deleted. */
const UNSENT_HOURS = 24;
const SWEEP_BATCH = 500;

/** Files of messages. Until it is sent, only its owner can download a file. */
@Injectable()
export class ChatAttachmentsService implements OnModuleInit {
  constructor(
    private readonly attachments: ChatAttachmentsRepository,
    private readonly uploads: Uploads,
    private readonly blobs: Blobs,
    private readonly jobs: PeriodicJobs,
    private readonly db: Db,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'chat.sweep-attachments', everySeconds: 600, run: () => this.sweep() });
  }

  /** @throws ApiError 422 `too_many_unsent_attachments`, and the errors of uploads */
  async upload(ctx: RequestContext, form: UploadForm): Promise<JsonReply> {
    if ((await this.attachments.countUnsent(ctx)) >= MAX_UNSENT) throw ChatErrors.tooManyUnsent.with();
    return this.uploads.receive(ctx, form, ATTACHMENT_MAX_BYTES, (file) =>
      this.db.tx(async (tx) => {
        const id = uuidv7();
        await file.keep(tx);
        const attachment = await this.attachments.insert(tx, ctx, id, file);
        const location = `/apis/v1/chat/attachments/${id}`;
        return new JsonReply(`{"attachment":${attachment}}`, { status: 201, location });
      }),
    );
  }

  /** Checks the membership at each download. @throws ApiError 404 */
  async download(ctx: RequestContext, id: string): Promise<ContentReply> {
    const file = await this.attachments.find(ctx, id);
    if (!file) throw ChatErrors.attachmentNotFound.with();
    const { name, size, content_type: contentType, sha256, blob_id: blob } = file;
    const open: ContentReply['content']['open'] = (range) => this.blobs.open(ctx.tenantId, blob, range);
    return new ContentReply({ name, size, contentType, sha256, open });
  }

  /** Deletes files that were uploaded a day ago and not sent. */
  async sweep(): Promise<void> {
    while ((await this.attachments.sweep(UNSENT_HOURS, SWEEP_BATCH)) === SWEEP_BATCH);
  }
}
