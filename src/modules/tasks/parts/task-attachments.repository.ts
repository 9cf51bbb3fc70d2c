import { Injectable } from '@nestjs/common';
import type { ReceivedFile } from '../../../platform/blobs/uploads.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { TaskPartOutcome } from './task-parts.repository.js';

/** What attaching a file came to; `part` is the attachment. */
export interface AttachOutcome extends Omit<TaskPartOutcome, 'outcome'> {
  outcome: TaskPartOutcome['outcome'] | 'blob_gone';
}

/** A file as it is kept. */
export interface StoredAttachment {
  blob_id: string;
  name: string;
  size: number;
  content_type: string;
  /** Hexadecimal. */
  sha256: string;
}

const check = workspace.statement<AttachOutcome>(
  'task_attachments.check',
  `SELECT outcome, revision, json, refs, NULL AS part FROM task_attach_check($1, $2, $3, $4)`,
);

const OUTCOME = 'outcome, revision, json, refs, part';

const attach = workspace.statement<AttachOutcome>(
  'task_attachments.attach',
  `SELECT ${OUTCOME} FROM task_attach($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);

const detach = workspace.statement<TaskPartOutcome>(
  'task_attachments.detach',
  `SELECT ${OUTCOME} FROM task_detach($1, $2, $3, $4)`,
);

/** Attachments of one task. */
const MAX = 50;

// Primary keys of both: the task must be one the caller sees.
const find = workspace.statement<{ [Column in keyof StoredAttachment]: StoredAttachment[Column] | null }>(
  'task_attachments.find',
  `SELECT a.blob_id, a.name, a.size::float8 AS size, a.content_type, encode(a.sha256, 'hex') AS sha256
     FROM task_members m
     LEFT JOIN task_attachments a ON a.tenant_id = m.tenant_id AND a.task_id = m.task_id AND a.id = $4
    WHERE m.tenant_id = $1 AND m.user_id = $2 AND m.task_id = $3 AND m.role IS NOT NULL`,
);

const list = workspace.statement<{ attachments: string }>(
  'task_attachments.list',
  `SELECT t.attachments::text AS attachments
     FROM task_members m JOIN tasks t ON t.tenant_id = m.tenant_id AND t.id = m.task_id
    WHERE m.tenant_id = $1 AND m.user_id = $2 AND m.task_id = $3 AND m.role IS NOT NULL`,
);

/** All SQL on attachments of tasks. */
@Injectable()
export class TaskAttachmentsRepository {
  constructor(private readonly db: Db) {}

  /** Whether the caller may attach a file to the task as it stands; `ok` or why not. */
  async check(ctx: RequestContext, taskId: string): Promise<AttachOutcome> {
    return only(await this.db.query(check, [ctx.tenantId, ctx.userId, taskId, MAX]));
  }

  /** Keeps the file's blob and makes it an attachment, in one statement. */
  async attach(
    tx: Tx,
    ctx: RequestContext,
    taskId: string,
    id: string,
    { blobId, name, size, sha256, contentType }: ReceivedFile,
  ): Promise<AttachOutcome> {
    const file = [blobId, name, size, sha256, contentType];
    return only(await tx.query(attach, [ctx.tenantId, ctx.userId, taskId, id, MAX, ...file]));
  }

  async detach(tx: Tx, ctx: RequestContext, taskId: string, id: string): Promise<TaskPartOutcome> {
    return only(await tx.query(detach, [ctx.tenantId, ctx.userId, taskId, id]));
  }

  /** @returns null: no such attachment; undefined: no such task, or not one the caller sees */
  async find(ctx: RequestContext, taskId: string, id: string): Promise<StoredAttachment | null | undefined> {
    const [row] = await this.db.query(find, [ctx.tenantId, ctx.userId, taskId, id]);
    return row && (row.blob_id === null ? null : (row as StoredAttachment));
  }

  /** @returns JSON of all of them, in the order they were added; undefined: no such task, or not one the caller sees */
  async list(ctx: RequestContext, taskId: string): Promise<string | undefined> {
    return (await this.db.query(list, [ctx.tenantId, ctx.userId, taskId]))[0]?.attachments;
  }
}

function only<Row>([row]: Row[]): Row {
  if (row === undefined) throw new Error('a function that returns one row returned none');
  return row;
}
