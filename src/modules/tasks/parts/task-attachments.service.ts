import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Blobs, type StoredFile } from '../../../platform/blobs/blobs.js';
import type { UploadForm } from '../../../platform/blobs/uploads/upload-form.js';
import { type ReceivedFile, Uploads } from '../../../platform/blobs/uploads/uploads.js';
import type { IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import type { ContentReply } from '../../../platform/http/replies/content-reply.js';
import { TaskErrors } from '../tasks.dto.js';
import { TaskAttachment } from '../tasks.schema.js';
import {
  assertWritable,
  keyOf,
  type OpenTask,
  type PartWritten,
  rejectAttachment,
  TaskPartWrites,
} from './task-part-writes.js';
import type {
  RemovedTaskAttachmentEnvelope,
  TaskAttachmentEnvelope,
  TaskAttachmentListEnvelope,
} from './task-parts.dto.js';
import { attachmentsReply } from './task-parts.presenter.js';

// The task has a copy of its attachments, so that lists and feeds read one row.
const copy = workspace.statement<{ attachment: string | null }>(
  'task_attachments.copy',
  `UPDATE tasks task SET attachments = coalesce((
     SELECT jsonb_agg(jsonb_build_object(
              'id', attachment.id, 'name', attachment.name, 'size', attachment.size, 'content_type', attachment.content_type,
              'sha256', encode(attachment.sha256, 'hex'),
              'url', '/apis/v1/tasks/' || attachment.task_id || '/attachments/' || attachment.id,
              'created_by', attachment.created_by, 'created_at', rfc3339(attachment.created_at))
              ORDER BY attachment.created_at, attachment.id)
       FROM task_attachments attachment WHERE attachment.tenant_id = $1 AND attachment.task_id = $2), '[]')
    WHERE task.tenant_id = $1 AND task.id = $2
   RETURNING (SELECT item::text FROM jsonb_array_elements(task.attachments) AS item WHERE item->>'id' = $3) AS attachment`,
);

// Primary keys of both tables; the caller must see the task.
const find = workspace.statement<{ [Column in keyof StoredFile]: StoredFile[Column] | null }>(
  'task_attachments.find',
  `SELECT attachment.blob_id, attachment.name, attachment.size::float8 AS size, attachment.content_type,
          encode(attachment.sha256, 'hex') AS sha256
     FROM task_members member
     LEFT JOIN task_attachments attachment ON attachment.tenant_id = member.tenant_id
           AND attachment.task_id = member.task_id AND attachment.id = $4
    WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.task_id = $3 AND member.role IS NOT NULL`,
);

const list = workspace.statement<{ attachments: string }>(
  'task_attachments.list',
  `SELECT task.attachments::text AS attachments
     FROM task_members member JOIN tasks task ON task.tenant_id = member.tenant_id AND task.id = member.task_id
    WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.task_id = $3 AND member.role IS NOT NULL`,
);

/** All SQL on attachments of tasks. */
@Injectable()
export class TaskAttachmentsRepository {
  constructor(private readonly db: Db) {}

  /** Makes a file an attachment of a locked task. @returns its JSON */
  async insert(
    tx: Tx,
    ctx: RequestContext,
    taskId: string,
    id: string,
    { blobId, name, size, sha256, contentType }: ReceivedFile,
  ): Promise<string> {
    await rowsOf(tx, TaskAttachment).insert({
      ...keyOf(ctx, taskId, id),
      blob_id: blobId,
      name,
      size: String(size),
      content_type: contentType,
      sha256: Buffer.from(sha256),
      created_by: ctx.userId,
      created_at: () => 'clock_timestamp()',
    });
    return (await tx.query(copy, [ctx.tenantId, taskId, id]))[0]?.attachment ?? 'null';
  }

  /** An attachment of a locked task. */
  async readOne(tx: Tx, ctx: RequestContext, taskId: string, id: string): Promise<TaskAttachment | null> {
    return rowsOf(tx, TaskAttachment).one(keyOf(ctx, taskId, id));
  }

  async delete(tx: Tx, ctx: RequestContext, taskId: string, id: string): Promise<void> {
    await rowsOf(tx, TaskAttachment).delete(keyOf(ctx, taskId, id));
    await tx.query(copy, [ctx.tenantId, taskId, id]);
  }

  /** @returns null for an unknown attachment; undefined for a task that the caller does not see */
  async find(ctx: RequestContext, taskId: string, id: string): Promise<StoredFile | null | undefined> {
    const [row] = await this.db.query(find, [ctx.tenantId, ctx.userId, taskId, id]);
    return row && (row.blob_id === null ? null : (row as StoredFile));
  }

  /** @returns JSON of all, in the order they were added; undefined for a task that the caller does not see */
  async list(ctx: RequestContext, taskId: string): Promise<string | undefined> {
    return (await this.db.query(list, [ctx.tenantId, ctx.userId, taskId]))[0]?.attachments;
  }
}

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
      const attachment = await this.attachments.readOne(tx, ctx, taskId, id);
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
