import { Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import {
  ApiIdempotency,
  ApiRevision,
  BODY_ERRORS,
  IDEMPOTENCY_ERRORS,
  Operation,
} from '../../../platform/http/api-docs.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { WriteComment } from './task-comments.dto.js';
import { DeletedPartEnvelope, TaskCommentEnvelope, TaskCommentListEnvelope } from './task-parts.response.js';
import { TaskPartsService } from './task-parts.service.js';
import { TaskErrors } from '../tasks.errors.js';

const EXAMPLES = { comment: { value: { body: 'They have rooms until Friday.' } } };
const WRITE_ERRORS = [
  TaskErrors.notFound,
  TaskErrors.deleted,
  Errors.invalidId,
  Errors.validationFailed,
  ...BODY_ERRORS,
];

@Controller('tasks/:task_id/comments')
export class TaskCommentsController {
  constructor(private readonly parts: TaskPartsService) {}

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
    return this.parts.comments(ctx, task, query);
  }

  @Operation({
    tag: 'tasks',
    id: 'addTaskComment',
    summary: 'Comment on a task',
    description: 'Everybody who sees the task may.',
    errors: [...WRITE_ERRORS, ...IDEMPOTENCY_ERRORS],
  })
  @ApiBody({ type: WriteComment, examples: EXAMPLES })
  @ApiIdempotency()
  @ApiRevision(201, TaskCommentEnvelope, 'The new comment, and the task as it is now.', 'task')
  @Post()
  create(
    @Ctx() ctx: RequestContext,
    @Id('task_id') task: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(WriteComment) body: Checked<WriteComment>,
  ): Promise<JsonReply> {
    return this.parts.comment(ctx, task, key, body);
  }

  @Operation({
    tag: 'tasks',
    id: 'editTaskComment',
    summary: 'Edit your comment',
    errors: [...WRITE_ERRORS, TaskErrors.partNotFound, Errors.forbidden],
  })
  @ApiBody({ type: WriteComment, examples: EXAMPLES })
  @ApiRevision(200, TaskCommentEnvelope, 'The comment, and the task as they are now.', 'task')
  @Patch(':id')
  update(
    @Ctx() ctx: RequestContext,
    @Id('task_id') task: string,
    @Id() id: string,
    @CheckedBody(WriteComment) body: Checked<WriteComment>,
  ): Promise<JsonReply> {
    return this.parts.editComment(ctx, task, id, body);
  }

  @Operation({
    tag: 'tasks',
    id: 'deleteTaskComment',
    summary: 'Delete a comment',
    description: 'Its author may, and who made the task.',
    errors: [
      TaskErrors.notFound,
      TaskErrors.partNotFound,
      Errors.forbidden,
      TaskErrors.deleted,
      Errors.invalidId,
    ],
  })
  @ApiRevision(200, DeletedPartEnvelope, 'The task as it is now.', 'task')
  @Delete(':id')
  delete(@Ctx() ctx: RequestContext, @Id('task_id') task: string, @Id() id: string): Promise<JsonReply> {
    return this.parts.deleteComment(ctx, task, id);
  }
}
