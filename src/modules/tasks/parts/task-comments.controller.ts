import { Controller, Injectable, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { v7 as uuidv7 } from 'uuid';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { rowsOf } from '../../../platform/database/rows.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors, fieldError } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors, type Page } from '../../../platform/paging/cursors.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { QuotaErrors } from '../../../platform/quotas/quotas.dto.js';
import { assertQuota } from '../../../platform/quotas/row-quota.js';
import { TaskErrors } from '../tasks.dto.js';
import { TaskComment } from '../tasks.schema.js';
import { assertWritable, keyOf, type OpenTask, TaskPartWrites } from './task-part-writes.js';
import {
  DeletedPartEnvelope,
  TaskCommentEnvelope,
  TaskCommentListEnvelope,
  WriteComment,
} from './task-parts.dto.js';
import { type CommentRow, TaskPartsRepository } from './task-parts.repository.js';

/** Comments on tasks: any user who sees the task may write one. */
@Injectable()
export class TaskCommentsService {
  constructor(
    private readonly writes: TaskPartWrites,
    private readonly parts: TaskPartsRepository,
    private readonly cursors: Cursors,
  ) {}

  async create(
    ctx: RequestContext,
    taskId: string,
    key: IdempotencyKey | null,
    input: Checked<WriteComment>,
  ): Promise<JsonReply<TaskCommentEnvelope>> {
    const id = uuidv7();
    const body = await textOf(input);
    const location = `/apis/v1/tasks/${taskId}/comments/${id}`;
    const create = async (tx: Tx, task: OpenTask) => {
      assertQuota('item.comments_of_task', task.comments + 1);
      const now = () => 'clock_timestamp()';
      const values = { ...keyOf(ctx, taskId, id), author_id: ctx.userId, body: body.value, created_at: now };
      await rowsOf(tx, TaskComment).insert(values);
      const device = input.value.device_id;
      const change = { list: 'comments', activity: 'commented', data: { id }, device, comments: 1 } as const;
      return { change, more: this.withComment(tx, ctx, taskId, id) };
    };
    return this.writes.run(ctx, taskId, key, create, { role: 'viewer', status: 201, location });
  }

  /** Only the author may. */
  async update(
    ctx: RequestContext,
    taskId: string,
    id: string,
    key: IdempotencyKey | null,
    input: Checked<WriteComment>,
  ): Promise<JsonReply<TaskCommentEnvelope>> {
    const body = await textOf(input);
    return this.writes.run(ctx, taskId, key, async (tx, task) => {
      const comment = await commentOf(tx, ctx, taskId, id);
      if (comment.author_id !== ctx.userId) throw Errors.forbidden.with();
      assertWritable(task, 'viewer');
      const more = this.withComment(tx, ctx, taskId, id);
      if (body.value === comment.body) return { more };
      const editedAt = () => 'clock_timestamp()';
      await rowsOf(tx, TaskComment).update(keyOf(ctx, taskId, id), { body: body.value, edited_at: editedAt });
      const device = input.value.device_id;
      return { change: { list: 'comments', activity: 'comment_edited', data: { id }, device }, more };
    });
  }

  /** The author may, and the creator of the task. */
  async delete(
    ctx: RequestContext,
    taskId: string,
    id: string,
    key: IdempotencyKey | null,
  ): Promise<JsonReply<DeletedPartEnvelope>> {
    return this.writes.run(ctx, taskId, key, async (tx, task) => {
      const comment = await commentOf(tx, ctx, taskId, id);
      if (comment.author_id !== ctx.userId && task.role !== 'owner') throw Errors.forbidden.with();
      assertWritable(task, 'viewer');
      await rowsOf(tx, TaskComment).delete(keyOf(ctx, taskId, id));
      return {
        change: { list: 'comments', activity: 'comment_deleted', data: { id }, comments: -1 },
        more: async () => ({ deleted: 'true' }),
      };
    });
  }

  /** @throws ApiError 404 */
  async list(
    ctx: RequestContext,
    taskId: string,
    query: PageQuery,
  ): Promise<JsonReply<TaskCommentListEnvelope>> {
    const { rows, next } = await this.page(ctx, taskId, query);
    const comments = rows.map((row) => row.comment as string);
    return JsonReply.listOf('comments', comments, { next });
  }

  /** Newest first. @throws ApiError 404 */
  async page(
    ctx: RequestContext,
    taskId: string,
    query: { cursor?: string; limit: number },
  ): Promise<Page<CommentRow>> {
    return this.cursors.page(query, {
      scope: `task_comments ${ctx.tenantId} ${ctx.userId} ${taskId}`,
      key: (row: CommentRow): [string, string] => [row.created_at, row.id],
      fits: (row) => row.fits,
      rows: async (after, limit) => {
        const rows = await this.parts.listComments(ctx, taskId, after, limit);
        if (!rows) throw TaskErrors.notFound.with();
        return rows;
      },
    });
  }

  private withComment(tx: Tx, ctx: RequestContext, taskId: string, id: string) {
    return async () => ({ comment: await this.parts.comment(tx, ctx, taskId, id) });
  }
}

/** @throws ApiError 404 */
async function commentOf(tx: Tx, ctx: RequestContext, taskId: string, id: string): Promise<TaskComment> {
  const comment = await rowsOf(tx, TaskComment).one(keyOf(ctx, taskId, id));
  if (!comment) throw TaskErrors.partNotFound.with();
  return comment;
}

const textOf = (input: Checked<WriteComment>): Promise<Checked<string>> =>
  input.map(async ({ body, text, content }) => {
    const given = body ?? text ?? content;
    if (given === undefined) throw fieldError('body', 'is_not_empty', 'body must not be empty');
    return given;
  });

const BODY = { body: WriteComment, example: { body: 'They have rooms until Friday.' } };

@ApiTags('tasks')
@Controller('tasks/:task_id/comments')
export class TaskCommentsController {
  constructor(private readonly comments: TaskCommentsService) {}

  @Endpoint('GET', {
    id: 'listTaskComments',
    summary: 'List comments',
    description: 'Newest first.',
    response: [TaskCommentListEnvelope, 'A page of comments.'],
    errors: [TaskErrors.notFound],
  })
  list(@Ctx() ctx: RequestContext, @Id('task_id') task: string, @Query() query: PageQuery) {
    return this.comments.list(ctx, task, query);
  }

  @Endpoint('POST', {
    id: 'addTaskComment',
    summary: 'Comment on a task',
    description: 'For any user who sees the task.',
    status: 201,
    response: [TaskCommentEnvelope, 'The new comment, and the task as it is now.'],
    etag: 'task',
    ...BODY,
    errors: [TaskErrors.notFound, TaskErrors.deleted, QuotaErrors.exceeded],
  })
  create(
    @Ctx() ctx: RequestContext,
    @Id('task_id') task: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(WriteComment) body: Checked<WriteComment>,
  ) {
    return this.comments.create(ctx, task, key, body);
  }

  @Endpoint('PATCH :id', {
    id: 'editTaskComment',
    summary: 'Edit your comment',
    description: 'Only its author can edit a comment. The comment shows the time of the change.',
    response: [TaskCommentEnvelope, 'The comment, and the task as they are now.'],
    etag: 'task',
    ...BODY,
    errors: [TaskErrors.notFound, TaskErrors.deleted, TaskErrors.partNotFound, Errors.forbidden],
  })
  update(
    @Ctx() ctx: RequestContext,
    @Id('task_id') task: string,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(WriteComment) body: Checked<WriteComment>,
  ) {
    return this.comments.update(ctx, task, id, key, body);
  }

  @Endpoint('DELETE :id', {
    id: 'deleteTaskComment',
    summary: 'Delete a comment',
    description: 'For the author of the comment and the creator of the task.',
    response: [DeletedPartEnvelope, 'The task as it is now.'],
    etag: 'task',
    errors: [TaskErrors.notFound, TaskErrors.deleted, TaskErrors.partNotFound, Errors.forbidden],
  })
  delete(
    @Ctx() ctx: RequestContext,
    @Id('task_id') task: string,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
  ) {
    return this.comments.delete(ctx, task, id, key);
  }
}
