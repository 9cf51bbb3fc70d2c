import { Injectable } from '@nestjs/common';
import type { StoredFile } from '../../../platform/blobs/blobs.js';
import type { ReceivedFile } from '../../../platform/blobs/uploads/uploads.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { TaskAttachment } from './task-attachment.entity.js';
import { keyOf } from './task-part-writes.js';

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
  async one(tx: Tx, ctx: RequestContext, taskId: string, id: string): Promise<TaskAttachment | null> {
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
