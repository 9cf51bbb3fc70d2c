import { Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { TaskErrors } from '../tasks.errors.js';
import { CreateSubtask, UpdateSubtask } from './subtasks.dto.js';
import { SubtasksService } from './subtasks.service.js';
import { DeletedPartEnvelope, SubtaskEnvelope } from './task-parts.response.js';

@ApiTags('tasks')
@Controller('tasks/:task_id/subtasks')
export class SubtasksController {
  constructor(private readonly subtasks: SubtasksService) {}

  @Endpoint('POST', {
    id: 'addSubtask',
    summary: 'Add a subtask',
    description: 'The revision of the task does not change.',
    status: 201,
    response: [SubtaskEnvelope, 'The new subtask, and the task as it is now.'],
    etag: 'task',
    example: { title: 'Ask for a quote' },
    errors: [
      TaskErrors.notFound,
      TaskErrors.deleted,
      Errors.forbidden,
      TaskErrors.unknownUser,
      TaskErrors.tooManySubtasks,
    ],
  })
  create(
    @Ctx() ctx: RequestContext,
    @Id('task_id') task: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(CreateSubtask) body: Checked<CreateSubtask>,
  ) {
    return this.subtasks.create(ctx, task, key, body);
  }

  @Endpoint('PUT :id', {
    id: 'updateSubtask',
    summary: 'Update a subtask',
    description: 'Only the given fields change.',
    response: [SubtaskEnvelope, 'The subtask, and the task as they are now.'],
    etag: 'task',
    example: { done: true },
    errors: [
      TaskErrors.notFound,
      TaskErrors.deleted,
      Errors.forbidden,
      TaskErrors.unknownUser,
      TaskErrors.partNotFound,
    ],
  })
  update(
    @Ctx() ctx: RequestContext,
    @Id('task_id') task: string,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(UpdateSubtask) body: Checked<UpdateSubtask>,
  ) {
    return this.subtasks.update(ctx, task, id, key, body);
  }

  @Endpoint('DELETE :id', {
    id: 'deleteSubtask',
    summary: 'Delete a subtask',
    description: 'Permanently: subtasks have no trash. The revision of the task does not change.',
    response: [DeletedPartEnvelope, 'The task as it is now.'],
    etag: 'task',
    errors: [TaskErrors.notFound, TaskErrors.deleted, Errors.forbidden, TaskErrors.partNotFound],
  })
  delete(
    @Ctx() ctx: RequestContext,
    @Id('task_id') task: string,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
  ) {
    return this.subtasks.delete(ctx, task, id, key);
  }
}
