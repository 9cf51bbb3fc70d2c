import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { QuotaErrors } from '../../../platform/quotas/quotas.errors.js';
import { TaskErrors } from '../tasks.errors.js';
import { WriteComment } from './task-comments.dto.js';
import { TaskCommentsService } from './task-comments.service.js';
import { DeletedPartEnvelope, TaskCommentEnvelope, TaskCommentListEnvelope } from './task-parts.response.js';

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
