import { Controller, Delete, Post, Put } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
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
import { CreateSubtask, UpdateSubtask } from './subtasks.dto.js';
import { SubtasksService } from './subtasks.service.js';
import { DeletedPartEnvelope, SubtaskEnvelope } from './task-parts.response.js';
import { TaskErrors } from '../tasks.errors.js';

const DELETE_ERRORS = [TaskErrors.notFound, Errors.forbidden, TaskErrors.deleted, Errors.invalidId];
const WRITE_ERRORS = [...DELETE_ERRORS, Errors.validationFailed, TaskErrors.unknownUser, ...BODY_ERRORS];

@Controller('tasks/:task_id/subtasks')
export class SubtasksController {
  constructor(private readonly subtasks: SubtasksService) {}

  @Operation({
    tag: 'tasks',
    id: 'addSubtask',
    summary: 'Add a subtask',
    description: "The task's revision stays as it is, as with all its parts.",
    errors: [...WRITE_ERRORS, TaskErrors.tooManySubtasks, ...IDEMPOTENCY_ERRORS],
  })
  @ApiBody({ type: CreateSubtask, examples: { subtask: { value: { title: 'Ask for a quote' } } } })
  @ApiIdempotency()
  @ApiRevision(201, SubtaskEnvelope, 'The new subtask, and the task as it is now.', 'task')
  @Post()
  create(
    @Ctx() ctx: RequestContext,
    @Id('task_id') task: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(CreateSubtask) body: Checked<CreateSubtask>,
  ): Promise<JsonReply> {
    return this.subtasks.create(ctx, task, key, body);
  }

  @Operation({
    tag: 'tasks',
    id: 'updateSubtask',
    summary: 'Update a subtask',
    description: 'Only the fields given change.',
    errors: [...WRITE_ERRORS, TaskErrors.partNotFound],
  })
  @ApiBody({ type: UpdateSubtask, examples: { done: { value: { done: true } } } })
  @ApiRevision(200, SubtaskEnvelope, 'The subtask, and the task as they are now.', 'task')
  @Put(':id')
  update(
    @Ctx() ctx: RequestContext,
    @Id('task_id') task: string,
    @Id() id: string,
    @CheckedBody(UpdateSubtask) body: Checked<UpdateSubtask>,
  ): Promise<JsonReply> {
    return this.subtasks.update(ctx, task, id, body);
  }

  @Operation({
    tag: 'tasks',
    id: 'deleteSubtask',
    summary: 'Delete a subtask',
    errors: [...DELETE_ERRORS, TaskErrors.partNotFound],
  })
  @ApiRevision(200, DeletedPartEnvelope, 'The task as it is now.', 'task')
  @Delete(':id')
  delete(@Ctx() ctx: RequestContext, @Id('task_id') task: string, @Id() id: string): Promise<JsonReply> {
    return this.subtasks.delete(ctx, task, id);
  }
}
