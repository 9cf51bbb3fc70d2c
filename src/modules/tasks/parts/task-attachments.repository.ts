import { Injectable } from '@nestjs/common';
import type { StoredFile } from '../../../platform/blobs/blobs.js';
import type { ReceivedFile } from '../../../platform/blobs/uploads/uploads.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { outcomeOf, type TaskOutcome } from '../tasks.repository.js';

/** Result of attaching a file; `part` is JSON of the attachment. */
interface AttachOutcome extends TaskOutcome {
  part: string | null;
}

/** Attachments of one task. */

const OUTCOME = 'outcome, revision, json, refs';

const check = workspace.statement<TaskOutcome>(
  'task_attachments.check',
  `SELECT ${OUTCOME} FROM task_attach_check($1, $2, $3, $4)`,
);

const attach = workspace.statement<AttachOutcome>(
  'task_attachments.attach',
  `SELECT ${OUTCOME}, part FROM task_attach($1, $2, $3, $4, $5)`,
);

const detach = workspace.statement<TaskOutcome>(
  'task_attachments.detach',
  `SELECT ${OUTCOME} FROM task_detach($1, $2, $3, $4)`,
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

  /** Whether the caller may attach a file to the task now: `ok`, or the rejection. */
  async check(ctx: RequestContext, taskId: string): Promise<TaskOutcome> {
    return outcomeOf(
      this.db.query(check, [ctx.tenantId, ctx.userId, taskId, QUOTAS.item.attachments_of_task]),
    );
  }

  /** Keeps the blob of the file and makes it an attachment, in one statement. */
  async attach(
    tx: Tx,
    ctx: RequestContext,
    taskId: string,
    id: string,
    { blobId, name, size, sha256, contentType }: ReceivedFile,
  ): Promise<AttachOutcome> {
    const hash = Buffer.from(sha256).toString('hex');
    const file = { id, blob_id: blobId, name, size, sha256: hash, content_type: contentType };
    return outcomeOf(
      tx.query(attach, [ctx.tenantId, ctx.userId, taskId, file, QUOTAS.item.attachments_of_task]),
    );
  }

  async detach(tx: Tx, ctx: RequestContext, taskId: string, id: string): Promise<TaskOutcome> {
    return outcomeOf(tx.query(detach, [ctx.tenantId, ctx.userId, taskId, id]));
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
