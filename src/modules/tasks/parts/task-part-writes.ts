import { Injectable } from '@nestjs/common';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { type ApiError, Errors } from '../../../platform/http/errors.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { TaskWritesRepository, type TaskWritten } from '../changes/task-writes.repository.js';
import type { TaskEvent } from '../model/rules/task-row.js';
import {
  type OtherTexts,
  type TaskEnvelope,
  type TaskReplyOptions,
  TaskResults,
} from '../responses/task.presenter.js';
import { TaskErrors } from '../tasks.dto.js';
import { TasksRepository } from '../tasks.repository.js';
import type { TaskRole, TaskMember } from '../tasks.schema.js';
import type { TaskActivityResponse } from './task-parts.dto.js';

/** The rules of the parts of tasks: functions of the task and the role of the caller, which return an error or null. */

/** A task that a user sees. */
export interface OpenTask {
  role: TaskRole;
  revision: number;
  deleted_at: string | null;
  /** The number of subtasks. */
  subtasks: number;
  /** The number of comments. */
  comments: number;
  /** The number of attachments. */
  attachments: number;
}

/** The lowest role that may write a part. */
export type WritingRole = 'viewer' | 'editor';

/** The rejection of a write of a part. */
export function rejectWrite({ role, revision, deleted_at }: OpenTask, needed: WritingRole): ApiError | null {
  if (needed === 'editor' && role === 'viewer') return Errors.forbidden.with();
  return deleted_at === null ? null : TaskErrors.deleted.with({ body: { revision, deleted_at } });
}

/** The rejection of a further attachment. */
export function rejectAttachment(task: OpenTask): ApiError | null {
  const rejection = rejectWrite(task, 'editor');
  if (rejection) return rejection;
  const isFull = task.attachments >= QUOTAS.item.attachments_of_task;
  return isFull ? TaskErrors.tooManyAttachments.with() : null;
}

/** A finished change of a part, for the history, the counters and the feeds of its task. */
interface PartChange {
  list: 'subtasks' | 'comments' | 'attachments';
  activity: TaskActivityResponse['type'];
  data: Record<string, unknown>;
  device?: string;
  /** Change of the number of subtasks or comments. */
  subtasks?: 1 | -1;
  comments?: 1 | -1;
}

/** Result of a write of a part; without `change` nothing was written. */
export interface PartWritten<T extends TaskEnvelope> {
  change?: PartChange;
  /** The other members of the response; `task` is the JSON of the task. */
  more: (task: string) => Promise<OtherTexts<T>>;
}

const open = workspace.statement<OpenTask>(
  'task_parts.open',
  `SELECT member.role, task.revision, rfc3339(task.deleted_at) AS deleted_at, task.subtasks_count AS subtasks,
          task.comments_count AS comments, jsonb_array_length(task.attachments) AS attachments
     FROM task_members member JOIN tasks task ON task.tenant_id = member.tenant_id AND task.id = member.task_id
    WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.task_id = $3 AND member.role IS NOT NULL`,
);
// The users whom a comment concerns: the creator, the assignees and earlier commenters who still see the task, without its author.
const commentRecipients = workspace.statement<Pick<TaskMember, 'user_id'>>(
  'task_parts.comment_recipients',
  `SELECT member.user_id FROM task_members member
    WHERE member.tenant_id = $1 AND member.task_id = $3 AND member.role IS NOT NULL AND member.user_id <> $2
      AND (member.role = 'owner' OR member.assigned OR EXISTS (
        SELECT FROM task_comments comment
         WHERE comment.tenant_id = $1 AND comment.task_id = $3 AND comment.author_id = member.user_id))`,
);

/** Writes of subtasks, comments and attachments: under the lock of the task, with its history, feeds and events. */
@Injectable()
export class TaskPartWrites {
  constructor(
    private readonly tasks: TasksRepository,
    private readonly rows: TaskWritesRepository,
    private readonly results: TaskResults,
    private readonly writes: IdempotentWrites,
    private readonly outbox: Outbox,
  ) {}

  /**
   * @param options.role the role that the write needs; missing when `write` checks the access
   * @throws ApiError 404 `not_found`; with a role 403 and 409 `deleted`; and every error of `write`
   */
  async run<T extends TaskEnvelope>(
    ctx: RequestContext,
    taskId: string,
    key: IdempotencyKey | null,
    write: (tx: Tx, task: OpenTask) => Promise<PartWritten<T>>,
    { role, ...options }: TaskReplyOptions & { role?: WritingRole } = {},
  ): Promise<JsonReply<T>> {
    return this.writes.runTx(ctx, key, async (tx) => {
      await this.rows.lock(tx, ctx, taskId);
      const task = await this.open(tx, ctx, taskId);
      if (role) assertWritable(task, role);
      const { change, more } = await write(tx, task);
      const result = change
        ? await this.store(tx, ctx, taskId, task, change)
        : { ...(await this.tasks.readStored(tx, ctx, taskId)), isConflict: false };
      this.outbox.notice(tx);
      const members = await more(result.json);
      return this.results.reply<T>(tx, ctx, taskId, result, members, options);
    });
  }

  /** Reads a task for a write of a part. @throws ApiError 404 `not_found` */
  async open(reader: Reader, ctx: RequestContext, taskId: string): Promise<OpenTask> {
    const [task] = await reader.query(open, [ctx.tenantId, ctx.userId, taskId]);
    if (!task) throw TaskErrors.notFound.with();
    return task;
  }

  /** Stores the counters, the history, the feeds and the events of the task. */
  private async store(
    tx: Tx,
    ctx: RequestContext,
    taskId: string,
    { revision, subtasks, comments }: OpenTask,
    change: PartChange,
  ): Promise<TaskWritten> {
    const { list, activity, data, device } = change;
    const row = {
      ...(change.subtasks && { subtasks_count: subtasks + change.subtasks }),
      ...(change.comments && { comments_count: comments + change.comments }),
    };
    const events: TaskEvent[] = [{ type: 'task.updated', data: { changed: [list] } }];
    if (activity === 'commented') {
      const found = await tx.query(commentRecipients, [ctx.tenantId, ctx.userId, taskId]);
      const recipients = found.map(({ user_id }) => user_id);
      events.push({ type: 'task.commented', data: { comment_id: data['id'], recipients } });
    }
    const write = { row, revision, activity: { type: activity, data }, events, device };
    const stored = await this.rows.store(tx, ctx, taskId, write);
    if (typeof stored === 'string') throw new Error(`a locked task was not stored: ${stored}`);
    return { ...stored, isConflict: false };
  }
}

/** The key of a part. */
export const keyOf = ({ tenantId }: RequestContext, taskId: string, id: string) => ({
  tenant_id: tenantId,
  task_id: taskId,
  id,
});

/** @throws ApiError 403, or 409 `deleted` for a task in the trash */
export function assertWritable(task: OpenTask, needed: WritingRole): void {
  const rejection = rejectWrite(task, needed);
  if (rejection) throw rejection;
}
