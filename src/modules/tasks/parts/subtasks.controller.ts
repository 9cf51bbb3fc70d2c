import { Controller, Injectable } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { generateKeyBetween } from 'fractional-indexing';
import { v7 as uuidv7 } from 'uuid';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors, fieldError } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { keyFor } from '../../../platform/resources/folders.js';
import { TaskInputs } from '../task-inputs.js';
import { TaskErrors } from '../tasks.dto.js';
import { Subtask, type TaskMember } from '../tasks.schema.js';
import { assertWritable, keyOf, type PartWritten, TaskPartWrites } from './task-part-writes.js';
import { CreateSubtask, DeletedPartEnvelope, SubtaskEnvelope, UpdateSubtask } from './task-parts.dto.js';

/** An input whose assignee was looked up: an id. */
type Resolved = Omit<UpdateSubtask, 'assignee'> & { assigneeId?: string | null };

const canSee = workspace.statement<Pick<TaskMember, 'user_id'>>(
  'subtasks.can_see',
  `SELECT member.user_id FROM task_members member
     JOIN member_profiles profile ON profile.tenant_id = member.tenant_id AND profile.user_id = member.user_id
    WHERE member.tenant_id = $1 AND member.task_id = $2 AND member.user_id = $3 AND member.role IS NOT NULL
      AND profile.status = 'active'`,
);

/** The steps of a task: one level, at most 200. */
@Injectable()
export class SubtasksService {
  constructor(
    private readonly writes: TaskPartWrites,
    private readonly inputs: TaskInputs,
  ) {}

  async create(
    ctx: RequestContext,
    taskId: string,
    key: IdempotencyKey | null,
    body: Checked<CreateSubtask>,
  ): Promise<JsonReply<SubtaskEnvelope>> {
    const checked = await this.resolved(ctx, body);
    const id = uuidv7();
    const location = `/apis/v1/tasks/${taskId}/subtasks/${id}`;
    const create = async (tx: Tx): Promise<PartWritten<SubtaskEnvelope>> => {
      const {
        title = '',
        done = false,
        date = null,
        assigneeId = null,
        position = 'last',
        device_id,
      } = checked.value;
      const siblings = await subtasksOf(tx, ctx, taskId);
      if (siblings.length >= QUOTAS.item.subtasks_of_task) throw TaskErrors.tooManySubtasks.with();
      await assertSees(tx, ctx, taskId, assigneeId);
      const now = new Date();
      await rowsOf(tx, Subtask).insert({
        ...keyOf(ctx, taskId, id),
        title: title.trim(),
        done,
        date,
        assignee_id: assigneeId,
        position: await positionAmong(siblings, position),
        created_at: now,
        updated_at: now,
      });
      const data = { id, title: title.trim() };
      return {
        change: { list: 'subtasks', activity: 'subtask_added', data, device: device_id, subtasks: 1 },
        more: withSubtask(id),
      };
    };
    return this.writes.run(ctx, taskId, key, create, { role: 'editor', status: 201, location });
  }

  async update(
    ctx: RequestContext,
    taskId: string,
    id: string,
    key: IdempotencyKey | null,
    body: Checked<UpdateSubtask>,
  ): Promise<JsonReply<SubtaskEnvelope>> {
    const checked = await this.resolved(ctx, body);
    return this.writes.run(ctx, taskId, key, async (tx, task) => {
      const siblings = await subtasksOf(tx, ctx, taskId);
      const old = siblings.find((subtask) => subtask.id === id);
      if (!old) throw TaskErrors.partNotFound.with();
      assertWritable(task, 'editor');
      const { title, done, date, assigneeId, position, device_id } = checked.value;
      const next: Partial<Subtask> = {
        title: title?.trim() ?? old.title,
        done: done ?? old.done,
        date: date === undefined ? old.date : date,
        assignee_id: assigneeId === undefined ? old.assignee_id : assigneeId,
        position: position === undefined ? old.position : await positionAmong(siblings, position),
      };
      if (next.assignee_id !== old.assignee_id) await assertSees(tx, ctx, taskId, next.assignee_id ?? null);
      const more = withSubtask(id);
      if (Object.entries(next).every(([field, value]) => old[field as keyof Subtask] === value))
        return { more };
      await rowsOf(tx, Subtask).update(keyOf(ctx, taskId, id), { ...next, updated_at: new Date() });
      const activity =
        next.done === old.done ? 'subtask_updated' : next.done ? 'subtask_completed' : 'subtask_reopened';
      const data = { id, title: next.title };
      return { change: { list: 'subtasks', activity, data, device: device_id }, more };
    });
  }

  async delete(
    ctx: RequestContext,
    taskId: string,
    id: string,
    key: IdempotencyKey | null,
  ): Promise<JsonReply<DeletedPartEnvelope>> {
    return this.writes.run(ctx, taskId, key, async (tx, task) => {
      const subtask = await rowsOf(tx, Subtask).one(keyOf(ctx, taskId, id));
      if (!subtask) throw TaskErrors.partNotFound.with();
      assertWritable(task, 'editor');
      await rowsOf(tx, Subtask).delete(keyOf(ctx, taskId, id));
      const data = { id, title: subtask.title };
      return {
        change: { list: 'subtasks', activity: 'subtask_deleted', data, subtasks: -1 },
        more: async () => ({ deleted: 'true' }),
      };
    });
  }

  /** Looks up the assignee before the transaction. */
  private resolved(ctx: RequestContext, body: Checked<UpdateSubtask>): Promise<Checked<Resolved>> {
    return body.map(async ({ assignee, ...fields }) => {
      if (!assignee) return { ...fields, assigneeId: assignee };
      return { ...fields, assigneeId: await this.inputs.assignee(ctx, assignee) };
    });
  }
}

/** The order is the manual one. */
async function subtasksOf(tx: Tx, { tenantId }: RequestContext, taskId: string): Promise<Subtask[]> {
  return (await tx.managerOf(tenantId)).find(Subtask, {
    where: { tenant_id: tenantId, task_id: taskId },
    order: { position: 'ASC', id: 'ASC' },
  });
}

async function positionAmong(siblings: readonly Subtask[], position: unknown): Promise<string> {
  const keys = siblings.map((subtask) => subtask.position);
  const key = await keyFor(position, {
    first: async () => keys[0] ?? null,
    neighbours: async (id, side) => {
      const found = siblings.find((subtask) => subtask.id === id)?.position;
      if (found === undefined) return null;
      const beyond = side === 'before' ? keys.findLast((k) => k < found) : keys.find((k) => k > found);
      return { position: found, beyond: beyond ?? null };
    },
  });
  return key ?? generateKeyBetween(keys.at(-1) ?? null, null);
}

/** @throws ApiError 422 unless the assignee is an active member who sees the task */
async function assertSees(
  tx: Tx,
  ctx: RequestContext,
  taskId: string,
  assignee: string | null,
): Promise<void> {
  if (assignee === null) return;
  const [found] = await tx.query(canSee, [ctx.tenantId, taskId, assignee]);
  if (!found)
    throw fieldError('assignee', 'cannot_see_task', 'assignee must be an active member who sees the task');
}

const withSubtask = (id: string) => async (task: string) => {
  const { subtasks } = JSON.parse(task) as { subtasks: { id: string }[] };
  return { subtask: JSON.stringify(subtasks.find((subtask) => subtask.id === id)) };
};

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
