import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Blobs } from '../../../platform/blobs/blobs.js';
import type { UploadForm } from '../../../platform/blobs/uploads/upload-form.js';
import { type ReceivedFile, Uploads } from '../../../platform/blobs/uploads/uploads.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { Outbox } from '../../../platform/events/outbox.js';
import type { ContentReply } from '../../../platform/http/replies/content-reply.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { rejection, TaskResults } from '../responses/task-results.js';
import { TaskErrors } from '../tasks.errors.js';
import type { TaskOutcome } from '../tasks.repository.js';
import { TaskAttachmentsRepository } from './task-attachments.repository.js';

/** Bytes of one attachment: 20 MiB. */
export const ATTACHMENT_MAX_BYTES = 20 * 1024 * 1024;

/** Files of tasks: editors attach and remove them, readers download them. */
@Injectable()
export class TaskAttachmentsService {
  constructor(
    private readonly attachments: TaskAttachmentsRepository,
    private readonly uploads: Uploads,
    private readonly blobs: Blobs,
    private readonly results: TaskResults,
    private readonly writes: IdempotentWrites,
    private readonly db: Db,
    private readonly outbox: Outbox,
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
  ): Promise<JsonReply> {
    assertOk(await this.attachments.check(ctx, taskId));
    return this.uploads.receive(ctx, form, ATTACHMENT_MAX_BYTES, (file) =>
      this.writes.runTx(ctx, key && { ...key, fingerprint: fingerprintOf(file) }, async (tx) => {
        const id = uuidv7();
        const result = await this.attachments.attach(tx, ctx, taskId, id, file);
        assertOk(result);
        await file.keptBy(tx);
        this.outbox.notice(tx);
        return this.results.reply(tx, ctx, taskId, result, {
          status: 201,
          location: `/apis/v1/tasks/${taskId}/attachments/${id}`,
          more: { attachment: result.part ?? 'null' },
        });
      }),
    );
  }

  /** @throws ApiError 404 for the task or the attachment, 403, 409 `deleted` */
  async remove(
    ctx: RequestContext,
    taskId: string,
    id: string,
    key: IdempotencyKey | null,
  ): Promise<JsonReply> {
    return this.writes.run(ctx, key, async (tx) => {
      const result = await this.attachments.detach(tx, ctx, taskId, id);
      this.outbox.notice(tx);
      const reader = key === null ? this.db : tx;
      return this.results.reply(reader, ctx, taskId, result, { more: { deleted: 'true' } });
    });
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
    return this.blobs.download(ctx.tenantId, file);
  }
}

/** @throws ApiError unless the outcome is `ok` */
function assertOk(result: TaskOutcome): void {
  if (result.outcome !== 'ok') throw rejection(result);
}

/** A fingerprint of the file, not of the request body, whose multipart boundary is random. */
function fingerprintOf({ name, sha256 }: ReceivedFile): Buffer {
  return createHash('sha256').update(sha256).update(name).digest();
}
