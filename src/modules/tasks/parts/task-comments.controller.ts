import { Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Operation } from '../../../platform/http/api-docs.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { TaskErrors } from '../tasks.errors.js';
import { PartOperation } from './part-operation.js';
import { WriteComment } from './task-comments.dto.js';
import { TaskCommentsService } from './task-comments.service.js';
import { DeletedPartEnvelope, TaskCommentEnvelope, TaskCommentListEnvelope } from './task-parts.response.js';

const BODY = { body: WriteComment, example: { body: 'They have rooms until Friday.' } };

@Controller('tasks/:task_id/comments')
export class TaskCommentsController {
  constructor(private readonly comments: TaskCommentsService) {}

  @Operation({
    tag: 'tasks',
    id: 'listTaskComments',
    summary: 'List comments',
    description: 'Newest first.',
    errors: [TaskErrors.notFound, Errors.invalidId, Errors.validationFailed, Errors.invalidCursor],
  })
  @ApiOkResponse({ type: TaskCommentListEnvelope, description: 'A page of comments.' })
  @Get()
  list(
    @Ctx() ctx: RequestContext,
    @Id('task_id') task: string,
    @Query() query: PageQuery,
  ): Promise<JsonReply> {
    return this.comments.list(ctx, task, query);
  }

  @PartOperation({
    id: 'addTaskComment',
    summary: 'Comment on a task',
    description: 'Any user who sees the task may.',
    ...BODY,
    status: 201,
    response: TaskCommentEnvelope,
    responseText: 'The new comment, and the task as it is now.',
  })
  @Post()
  create(
    @Ctx() ctx: RequestContext,
    @Id('task_id') task: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(WriteComment) body: Checked<WriteComment>,
  ): Promise<JsonReply> {
    return this.comments.create(ctx, task, key, body);
  }

  @PartOperation({
    id: 'editTaskComment',
    summary: 'Edit your comment',
    ...BODY,
    response: TaskCommentEnvelope,
    responseText: 'The comment, and the task as they are now.',
    errors: [TaskErrors.partNotFound, Errors.forbidden],
  })
  @Patch(':id')
  update(
    @Ctx() ctx: RequestContext,
    @Id('task_id') task: string,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(WriteComment) body: Checked<WriteComment>,
  ): Promise<JsonReply> {
    return this.comments.update(ctx, task, id, key, body);
  }

  @PartOperation({
    id: 'deleteTaskComment',
    summary: 'Delete a comment',
    description: 'The author may, and the creator of the task.',
    response: DeletedPartEnvelope,
    responseText: 'The task as it is now.',
    errors: [TaskErrors.partNotFound, Errors.forbidden],
  })
  @Delete(':id')
  delete(
    @Ctx() ctx: RequestContext,
    @Id('task_id') task: string,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
  ): Promise<JsonReply> {
    return this.comments.delete(ctx, task, id, key);
  }
}
