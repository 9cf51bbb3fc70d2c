import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { ApiError } from '../../../platform/http/api-error.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import type { CreateSubtask, UpdateSubtask } from './subtasks.dto.js';
import { TaskAnswers } from '../task-results.js';
import { TaskInputs } from '../task-inputs.js';
import { keyFor } from '../task-positions.js';
import { type TaskPartOutcome, TaskPartsRepository } from './task-parts.repository.js';
import type { TaskPatch } from '../tasks.repository.js';

/** The steps of a task: one level, at most 200. */
@Injectable()
export class SubtasksService {
  constructor(
    private readonly parts: TaskPartsRepository,
    private readonly inputs: TaskInputs,
    private readonly answers: TaskAnswers,
    private readonly writes: IdempotentWrites,
    private readonly db: Db,
    private readonly outbox: Outbox,
  ) {}

  async create(
    ctx: RequestContext,
    task: string,
    key: IdempotencyKey | null,
    body: Checked<CreateSubtask>,
  ): Promise<JsonReply> {
    const { fields, error } = await this.checked(ctx, task, body);
    const id = uuidv7();
    const extras = { status: 201, location: `/apis/v1/tasks/${task}/subtasks/${id}` };
    return this.writes.run(ctx, key, async (tx) => {
      const result = await this.parts.createSubtask(tx, ctx, task, id, fields);
      return this.reply(key === null ? this.db : tx, tx, ctx, task, result, { ...extras, wrong: error });
    });
  }

  async update(
    ctx: RequestContext,
    task: string,
    id: string,
    body: Checked<UpdateSubtask>,
  ): Promise<JsonReply> {
    const { fields, error } = await this.checked(ctx, task, body);
    return this.db.single(async (tx) => {
      const result = await this.parts.updateSubtask(tx, ctx, task, id, fields);
      return this.reply(this.db, tx, ctx, task, result, { wrong: error });
    });
  }

  async delete(ctx: RequestContext, task: string, id: string): Promise<JsonReply> {
    return this.db.single(async (tx) => {
      const result = await this.parts.deleteSubtask(tx, ctx, task, id);
      return this.reply(this.db, tx, ctx, task, result, {});
    });
  }

  private reply(
    reader: Db | Tx,
    tx: Tx,
    ctx: RequestContext,
    task: string,
    result: TaskPartOutcome,
    extras: { status?: number; location?: string; wrong?: ApiError },
  ): Promise<JsonReply> {
    this.outbox.notice(tx);
    const more: Record<string, string> =
      result.part === null ? { deleted: 'true' } : { subtask: result.part };
    return this.answers.reply(reader, ctx, task, result, { ...extras, more });
  }

  private async checked(
    ctx: RequestContext,
    task: string,
    body: Checked<UpdateSubtask>,
  ): Promise<{ fields: TaskPatch | null; error?: ApiError }> {
    if (body.error) return { fields: null, error: body.error };
    try {
      return { fields: await this.fields(ctx, task, body.value) };
    } catch (error) {
      if (error instanceof ApiError) return { fields: null, error };
      throw error;
    }
  }

  private async fields(ctx: RequestContext, task: string, input: UpdateSubtask): Promise<TaskPatch> {
    const { title, done, date, assignee, position } = input;
    const fields: TaskPatch = { ...(title !== undefined && { title: title.trim() }) };
    if (done !== undefined) fields['done'] = done;
    if (date !== undefined) fields['date'] = date;
    if (assignee === null) fields['assignee_id'] = null;
    else if (assignee !== undefined) {
      [fields['assignee_id']] = await this.inputs.named(ctx, 'assignee', [assignee]);
    }
    if (position !== undefined) {
      const key = await keyFor(position, {
        first: () => this.parts.firstSubtask(ctx, task),
        neighbours: (id, side) => this.parts.subtaskNeighbours(ctx, task, id, side),
      });
      fields[key === undefined ? 'last' : 'position'] = key ?? true;
    }
    return fields;
  }
}
