import { Body, Controller, Query } from '@nestjs/common';
import { Expected, type ExpectedRevision } from '../../platform/concurrency/expected-revision.js';
import { Idempotency, type IdempotencyKey } from '../../platform/concurrency/idempotency.js';
import { Revisioned } from '../../platform/concurrency/revision.interceptor.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { BodyLimit } from '../../platform/http/body/body-limits.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../platform/http/input.pipe.js';
import { QuotaErrors } from '../../platform/quotas/quotas.dto.js';
import {
  CreateOperation,
  ListOperation,
  ReadOperation,
  UpdateOperation,
} from '../../platform/resources/operations.js';
import { TaskListsService } from './lists/task-lists.service.js';
import { ListTasks } from './lists/task-list.dto.js';
import { CreateTask, DeleteTask, RestoreTask, TaskErrors, TASKS, UpdateTask } from './tasks.dto.js';
import { TasksService } from './tasks.service.js';

const TASK_BODY_BYTES = 2 * 1024 * 1024;

@Controller(TASKS.options.path)
export class TasksController {
  constructor(
    private readonly tasks: TasksService,
    private readonly lists: TaskListsService,
  ) {}

  @ListOperation(TASKS, {
    description:
      'The tasks that you created, those assigned to you and those in folders shared with you. All filters apply together.',
  })
  list(@Ctx() ctx: RequestContext, @Query() query: ListTasks) {
    return this.lists.list(ctx, query);
  }

  @CreateOperation(TASKS, {
    description: 'You become its creator. A client that works offline chooses `id` itself.',
    example: { title: 'Book the rooms', date: '2026-12-01', priority: 'high' },
    errors: [TaskErrors.alreadyExists, TaskErrors.unknownUser, QuotaErrors.exceeded],
  })
  @BodyLimit(TASK_BODY_BYTES)
  create(@Ctx() ctx: RequestContext, @Idempotency() key: IdempotencyKey | null, @Body() body: CreateTask) {
    return this.tasks.create(ctx, key, body);
  }

  @ReadOperation(TASKS, {
    description: 'With its subtasks and attachments. Comments have a list of their own.',
  })
  read(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.tasks.read(ctx, id);
  }

  @UpdateOperation(TASKS, {
    description:
      'Only the given fields change; without a difference the task is returned as it is. Completing a task that repeats creates the next one (`next_task_id`), which counts for the quota of its creator. Opening it again purges the next one, unless that one was changed since.',
    example: { done: true },
    errors: [Errors.forbidden, TaskErrors.deleted, TaskErrors.unknownUser, QuotaErrors.exceeded],
  })
  @BodyLimit(TASK_BODY_BYTES)
  update(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Expected() expected: ExpectedRevision,
    @CheckedBody(UpdateTask) body: Checked<UpdateTask>,
  ) {
    return this.tasks.update(ctx, id, expected, body);
  }

  @Endpoint('DELETE :id', {
    tag: 'tasks',
    id: 'deleteTask',
    summary: 'Move a task to the trash',
    description:
      'Only for its creator. The task can be restored until it is purged; notes that link to it lose the link.',
    response: [TASKS.envelopes.deleted, 'The task as it is now.'],
    etag: 'task',
    optionalBody: true,
    errors: [TASKS.notFound, Errors.forbidden, TaskErrors.deleted, TASKS.conflict!],
  })
  @Revisioned('task', { optional: true })
  trash(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Expected() expected: ExpectedRevision,
    @CheckedBody(DeleteTask) body: Checked<DeleteTask>,
  ) {
    return this.tasks.trash(ctx, id, expected, body);
  }

  @Endpoint('POST :id/restore', {
    tag: 'tasks',
    id: 'restoreTask',
    summary: 'Restore a task from the trash',
    description: 'A task that is not in the trash is returned unchanged.',
    response: [TASKS.envelopes.item, 'The task as it is now.'],
    etag: 'task',
    optionalBody: true,
    errors: [TASKS.notFound, Errors.forbidden],
  })
  restore(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(RestoreTask) body: Checked<RestoreTask>,
  ) {
    return this.tasks.restore(ctx, id, key, body);
  }
}
