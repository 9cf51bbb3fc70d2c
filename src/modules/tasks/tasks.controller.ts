import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Put, Query } from '@nestjs/common';
import { ApiBody, ApiOkResponse } from '@nestjs/swagger';
import { Expected, type ExpectedRevision } from '../../platform/concurrency/expected-revision.js';
import { Idempotency, type IdempotencyKey } from '../../platform/concurrency/idempotency.js';
import { Revisioned } from '../../platform/concurrency/revision.interceptor.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import {
  ApiIdempotency,
  ApiRevision,
  BODY_ERRORS,
  IDEMPOTENCY_ERRORS,
  Operation,
} from '../../platform/http/api-docs.js';
import { BodyLimit } from '../../platform/http/body.guard.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../platform/http/input.pipe.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import { ListTasks } from './task-list.dto.js';
import { TaskListsService } from './lists/task-lists.service.js';
import { DeletedTaskEnvelope, TaskEnvelope, TaskListEnvelope } from './task.response.js';
import { CreateTask, DeleteTask, UpdateTask } from './tasks.dto.js';
import { TaskErrors } from './tasks.errors.js';
import { TasksService } from './tasks.service.js';

const TASK_BODY_BYTES = 2 * 1024 * 1024;
const WRITE_ERRORS = [
  TaskErrors.notFound,
  Errors.forbidden,
  TaskErrors.deleted,
  TaskErrors.conflict,
  Errors.invalidRevision,
  Errors.invalidId,
  ...BODY_ERRORS,
  ...IDEMPOTENCY_ERRORS,
];
const UPDATE_ERRORS = [...WRITE_ERRORS, Errors.validationFailed, TaskErrors.unknownUser];

// Without what only a client knows, so that "Try it out" works as it stands.
const CREATE_EXAMPLE = { title: 'Book the rooms', date: '2026-12-01', priority: 'high' };
const UPDATE_EXAMPLE = { done: true };

@Controller('tasks')
export class TasksController {
  constructor(
    private readonly tasks: TasksService,
    private readonly lists: TaskListsService,
  ) {}

  @Operation({
    tag: 'tasks',
    id: 'listTasks',
    summary: 'List tasks',
    description:
      'The tasks you made, those assigned to you and those in folders shared with you. All filters apply at once.',
    errors: [Errors.validationFailed, Errors.invalidCursor],
  })
  @ApiOkResponse({ type: TaskListEnvelope, description: 'A page of tasks.' })
  @Get()
  list(@Ctx() ctx: RequestContext, @Query() query: ListTasks): Promise<JsonReply> {
    return this.lists.list(ctx, query);
  }

  @Operation({
    tag: 'tasks',
    id: 'createTask',
    summary: 'Create a task',
    errors: [
      TaskErrors.alreadyExists,
      TaskErrors.unknownUser,
      Errors.validationFailed,
      ...BODY_ERRORS,
      ...IDEMPOTENCY_ERRORS,
    ],
  })
  @ApiBody({ type: CreateTask, examples: { task: { value: CREATE_EXAMPLE } } })
  @ApiIdempotency()
  @ApiRevision(201, TaskEnvelope, 'The new task.', 'task')
  @BodyLimit(TASK_BODY_BYTES)
  @Post()
  create(
    @Ctx() ctx: RequestContext,
    @Idempotency() key: IdempotencyKey | null,
    @Body() body: CreateTask,
  ): Promise<JsonReply> {
    return this.tasks.create(ctx, key, body);
  }

  @Operation({
    tag: 'tasks',
    id: 'readTask',
    summary: 'Read a task',
    errors: [TaskErrors.notFound, Errors.invalidId],
  })
  @ApiRevision(200, TaskEnvelope, 'The task.', 'task')
  @Get(':id')
  read(@Ctx() ctx: RequestContext, @Id() id: string): Promise<JsonReply> {
    return this.tasks.read(ctx, id);
  }

  @Operation({
    tag: 'tasks',
    id: 'updateTask',
    summary: 'Update a task',
    description:
      'Only the fields given change; when nothing differs, the task is answered as it is. Completing a task that repeats makes the next one, named by `next_task_id`. With the revision you read, a newer one answers 409 with the task as it is.',
    errors: UPDATE_ERRORS,
  })
  @ApiBody({ type: UpdateTask, examples: { done: { value: UPDATE_EXAMPLE } } })
  @ApiRevision(200, TaskEnvelope, 'The task as it is now.', 'task')
  @BodyLimit(TASK_BODY_BYTES)
  @Revisioned('task', { optional: true })
  @Patch(':id')
  update(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Expected() expected: ExpectedRevision,
    @CheckedBody(UpdateTask) body: Checked<UpdateTask>,
  ): Promise<JsonReply> {
    return this.tasks.update(ctx, id, expected, body);
  }

  @Operation({
    tag: 'tasks',
    id: 'putTask',
    summary: 'Update a task (PUT)',
    description: 'The same as PATCH: fields that are left out stay as they are.',
    errors: UPDATE_ERRORS,
  })
  @ApiBody({ type: UpdateTask, examples: { done: { value: UPDATE_EXAMPLE } } })
  @ApiRevision(200, TaskEnvelope, 'The task as it is now.', 'task')
  @BodyLimit(TASK_BODY_BYTES)
  @Revisioned('task', { optional: true })
  @Put(':id')
  put(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Expected() expected: ExpectedRevision,
    @CheckedBody(UpdateTask) body: Checked<UpdateTask>,
  ): Promise<JsonReply> {
    return this.tasks.update(ctx, id, expected, body);
  }

  @Operation({
    tag: 'tasks',
    id: 'deleteTask',
    summary: 'Move a task to the trash',
    description:
      'Only who made it may. It can be restored until it is purged; notes that link to it lose the link.',
    errors: WRITE_ERRORS,
  })
  @ApiBody({ type: DeleteTask, required: false })
  @ApiRevision(200, DeletedTaskEnvelope, 'The task as it is now.', 'task')
  @Revisioned('task', { optional: true })
  @Delete(':id')
  trash(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Expected() expected: ExpectedRevision,
    @CheckedBody(DeleteTask) body: Checked<DeleteTask>,
  ): Promise<JsonReply> {
    return this.tasks.trash(ctx, id, expected, body);
  }

  @Operation({
    tag: 'tasks',
    id: 'restoreTask',
    summary: 'Restore a task from the trash',
    description: 'A task that is not in the trash is answered unchanged.',
    errors: [TaskErrors.notFound, Errors.forbidden, Errors.invalidId],
  })
  @ApiRevision(200, TaskEnvelope, 'The task as it is now.', 'task')
  @HttpCode(200)
  @Post(':id/restore')
  restore(@Ctx() ctx: RequestContext, @Id() id: string): Promise<JsonReply> {
    return this.tasks.restore(ctx, id);
  }
}
