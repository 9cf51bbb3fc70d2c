import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { BlobErrors } from '../../../platform/blobs/blobs.errors.js';
import { Blobs } from '../../../platform/blobs/blobs.js';
import type { UploadForm } from '../../../platform/blobs/upload-form.js';
import { type ReceivedFile, Uploads } from '../../../platform/blobs/uploads.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { ContentReply } from '../../../platform/http/content-reply.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { TaskAnswers, assertWritten } from '../task-results.js';
import { TaskAttachmentErrors } from './task-attachments.errors.js';
import { type AttachOutcome, TaskAttachmentsRepository } from './task-attachments.repository.js';
import { TaskErrors } from '../tasks.errors.js';
import type { TaskPartOutcome } from './task-parts.repository.js';

/** Bytes of one attachment: 20 MiB. */
export const ATTACHMENT_MAX_BYTES = 20 * 1024 * 1024;

/** Files of tasks. Who may write a task attaches and removes them, who may read it downloads them. */
@Injectable()
export class TaskAttachmentsService {
  constructor(
    private readonly attachments: TaskAttachmentsRepository,
    private readonly uploads: Uploads,
    private readonly blobs: Blobs,
    private readonly answers: TaskAnswers,
    private readonly writes: IdempotentWrites,
    private readonly db: Db,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Reads the file only for who may attach it.
   * @throws ApiError 422 `too_many_attachments` beyond 50, and what uploads and writes of tasks are refused with
   */
  async add(
    ctx: RequestContext,
    taskId: string,
    key: IdempotencyKey | null,
    form: UploadForm,
  ): Promise<JsonReply> {
    assertAttached(await this.attachments.check(ctx, taskId), taskId);
    return this.uploads.receive(ctx, form, ATTACHMENT_MAX_BYTES, (file) =>
      this.writes.run(ctx, key && { ...key, fingerprint: fingerprintOf(file) }, async (tx) => {
        const id = uuidv7();
        const result = await this.attachments.attach(tx, ctx, taskId, id, file);
        const written = assertAttached(result, taskId);
        file.keptBy(tx);
        this.outbox.notice(tx);
        return this.answers.reply(key === null ? this.db : tx, ctx, taskId, written, {
          status: 201,
          location: `/apis/v1/tasks/${taskId}/attachments/${id}`,
          more: { attachment: result.part ?? 'null' },
        });
      }),
    );
  }

  /** @throws ApiError 404 for the task or the attachment, 403, 409 `deleted` */
  async remove(ctx: RequestContext, taskId: string, id: string): Promise<JsonReply> {
    const result = await this.db.single(async (tx) => {
      this.outbox.notice(tx);
      return this.attachments.detach(tx, ctx, taskId, id);
    });
    return this.answers.reply(this.db, ctx, taskId, result, { more: { deleted: 'true' } });
  }

  /** All attachments of the task: there are at most 50. */
  async list(ctx: RequestContext, taskId: string): Promise<JsonReply> {
    const attachments = await this.attachments.list(ctx, taskId);
    if (attachments === undefined) throw TaskErrors.notFound.with();
    return new JsonReply(`{"attachments":${attachments},"next":null}`);
  }

  /** @throws ApiError 404 for the task or the attachment */
  async download(ctx: RequestContext, taskId: string, id: string): Promise<ContentReply> {
    const file = await this.attachments.find(ctx, taskId, id);
    if (file === undefined) throw TaskErrors.notFound.with();
    if (file === null) throw TaskErrors.partNotFound.with();
    const { name, size, content_type: contentType, sha256, blob_id: blob } = file;
    const open: ContentReply['content']['open'] = (range) => this.blobs.open(ctx.tenantId, blob, range);
    return new ContentReply({ name, size, contentType, sha256, open });
  }
}

/** @throws ApiError unless the outcome is `ok` */
function assertAttached(result: AttachOutcome, taskId: string): TaskPartOutcome {
  const { outcome, ...rest } = result;
  if (outcome === 'too_many') throw TaskAttachmentErrors.tooMany.with();
  if (outcome === 'blob_gone') throw BlobErrors.unavailable.with({ headers: { 'Retry-After': '1' } });
  const written = { outcome, ...rest };
  assertWritten(written, taskId, null);
  return written;
}

/** Two uploads are the same when the files are: boundaries of forms are random. */
function fingerprintOf({ name, sha256 }: ReceivedFile): Buffer {
  return createHash('sha256').update(sha256).update(name).digest();
}
