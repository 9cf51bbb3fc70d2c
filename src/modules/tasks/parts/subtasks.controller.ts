import { Controller, Delete, Post, Put } from '@nestjs/common';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { TaskErrors } from '../tasks.errors.js';
import { PartOperation } from './part-operation.js';
import { CreateSubtask, UpdateSubtask } from './subtasks.dto.js';
import { SubtasksService } from './subtasks.service.js';
import { DeletedPartEnvelope, SubtaskEnvelope } from './task-parts.response.js';

@Controller('tasks/:task_id/subtasks')
export class SubtasksController {
  constructor(private readonly subtasks: SubtasksService) {}

  @PartOperation({
    id: 'addSubtask',
    summary: 'Add a subtask',
    description: 'The revision of the task stays, as with all its parts.',
    body: CreateSubtask,
    example: { title: 'Ask for a quote' },
    status: 201,
    response: SubtaskEnvelope,
    responseText: 'The new subtask, and the task as it is now.',
    errors: [Errors.forbidden, TaskErrors.unknownUser, TaskErrors.tooManySubtasks],
  })
  @Post()
  create(
    @Ctx() ctx: RequestContext,
    @Id('task_id') task: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(CreateSubtask) body: Checked<CreateSubtask>,
  ): Promise<JsonReply> {
    return this.subtasks.create(ctx, task, key, body);
  }

  @PartOperation({
    id: 'updateSubtask',
    summary: 'Update a subtask',
    description: 'Only the given fields change.',
    body: UpdateSubtask,
    example: { done: true },
    response: SubtaskEnvelope,
    responseText: 'The subtask, and the task as they are now.',
    errors: [Errors.forbidden, TaskErrors.unknownUser, TaskErrors.partNotFound],
  })
  @Put(':id')
  update(
    @Ctx() ctx: RequestContext,
    @Id('task_id') task: string,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(UpdateSubtask) body: Checked<UpdateSubtask>,
  ): Promise<JsonReply> {
    return this.subtasks.update(ctx, task, id, key, body);
  }

  @PartOperation({
    id: 'deleteSubtask',
    summary: 'Delete a subtask',
    response: DeletedPartEnvelope,
    responseText: 'The task as it is now.',
    errors: [Errors.forbidden, TaskErrors.partNotFound],
  })
  @Delete(':id')
  delete(
    @Ctx() ctx: RequestContext,
    @Id('task_id') task: string,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
  ): Promise<JsonReply> {
    return this.subtasks.delete(ctx, task, id, key);
  }
}
