import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Blobs } from '../../../platform/blobs/blobs.js';
import type { UploadForm } from '../../../platform/blobs/uploads/upload-form.js';
import { type ReceivedFile, Uploads } from '../../../platform/blobs/uploads/uploads.js';
import type { IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { ContentReply } from '../../../platform/http/replies/content-reply.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { TaskErrors } from '../tasks.errors.js';
import { type OpenTask, rejectAttachment } from './part-rules.js';
import { assertWritable, type PartWritten, TaskPartWrites } from './task-part-writes.js';
import { TaskAttachmentsRepository } from './task-attachments.repository.js';
import type {
  TaskAttachmentEnvelope,
  TaskAttachmentListEnvelope,
  RemovedTaskAttachmentEnvelope,
} from './task-parts.response.js';
import { attachmentsReply } from './task-parts.presenter.js';

/** Bytes of one attachment: 20 MiB. */
export const ATTACHMENT_MAX_BYTES = 20 * 1024 * 1024;

/** Files of tasks: editors attach and remove them, readers download them. */
@Injectable()
export class TaskAttachmentsService {
  constructor(
    private readonly attachments: TaskAttachmentsRepository,
    private readonly uploads: Uploads,
    private readonly blobs: Blobs,
    private readonly parts: TaskPartWrites,
    private readonly db: Db,
  ) {}

  /**
   * Checks access before it reads the file.
   * @throws ApiError 422 `too_many_attachments` beyond 50, and the errors of uploads and of writes of tasks
   */
  async add(
    ctx: RequestContext,
    taskId: string,
    key: IdempotencyKey | null,
    form: UploadForm,
  ): Promise<JsonReply<TaskAttachmentEnvelope>> {
    assertAttachable(await this.parts.open(this.db, ctx, taskId));
    return this.uploads.receive(ctx, form, ATTACHMENT_MAX_BYTES, (file) => {
      const id = uuidv7();
      const location = `/apis/v1/tasks/${taskId}/attachments/${id}`;
      const attach = async (tx: Tx, task: OpenTask): Promise<PartWritten<TaskAttachmentEnvelope>> => {
        assertAttachable(task);
        await file.keep(tx);
        const attachment = await this.attachments.insert(tx, ctx, taskId, id, file);
        const data = { id, name: file.name };
        return {
          change: { list: 'attachments', activity: 'attachment_added', data },
          more: async () => ({ attachment }),
        };
      };
      const fingerprinted = key && { ...key, fingerprint: fingerprintOf(file) };
      return this.parts.run(ctx, taskId, fingerprinted, attach, { status: 201, location });
    });
  }

  /** @throws ApiError 404 for the task or the attachment, 403, 409 `deleted` */
  async remove(
    ctx: RequestContext,
    taskId: string,
    id: string,
    key: IdempotencyKey | null,
  ): Promise<JsonReply<RemovedTaskAttachmentEnvelope>> {
    return this.parts.run(ctx, taskId, key, async (tx, task) => {
      const attachment = await this.attachments.one(tx, ctx, taskId, id);
      if (!attachment) throw TaskErrors.partNotFound.with();
      assertWritable(task, 'editor');
      await this.attachments.delete(tx, ctx, taskId, id);
      const data = { id, name: attachment.name };
      return {
        change: { list: 'attachments', activity: 'attachment_deleted', data },
        more: async () => ({ deleted: 'true' }),
      };
    });
  }

  /** All attachments of the task: there are at most 50. */
  async list(ctx: RequestContext, taskId: string): Promise<JsonReply<TaskAttachmentListEnvelope>> {
    const attachments = await this.attachments.list(ctx, taskId);
    if (attachments === undefined) throw TaskErrors.notFound.with();
    return attachmentsReply(attachments);
  }

  /** @throws ApiError 404 for the task or the attachment */
  async download(ctx: RequestContext, taskId: string, id: string): Promise<ContentReply> {
    const file = await this.attachments.find(ctx, taskId, id);
    if (file === undefined) throw TaskErrors.notFound.with();
    if (file === null) throw TaskErrors.partNotFound.with();
    return this.blobs.download(ctx.tenantId, file);
  }
}

/** @throws ApiError unless the caller may attach a file now */
function assertAttachable(task: OpenTask): void {
  const rejection = rejectAttachment(task);
  if (rejection) throw rejection;
}

/** A fingerprint of the file, not of the request body, whose multipart boundary is random. */
function fingerprintOf({ name, sha256 }: ReceivedFile): Buffer {
  return createHash('sha256').update(sha256).update(name).digest();
}
