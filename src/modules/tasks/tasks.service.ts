import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../config/config.js';
import type { ExpectedRevision } from '../../platform/concurrency/expected-revision.js';
import { type IdempotencyKey, IdempotentWrites } from '../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import type { Checked } from '../../platform/http/input.pipe.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import type { ReplyOf } from '../../platform/resources/resource.js';
import { TaskInputs } from './task-inputs.js';
import { TaskReferences } from './responses/task-references.js';
import {
  type OtherTexts,
  type TaskEnvelope,
  taskReply,
  type TaskReplyOptions,
  TaskResults,
} from './responses/task.presenter.js';
import { type TaskCommand, TaskWrites } from './changes/task-writes.js';
import {
  type CreateTask,
  type DeleteTask,
  type RestoreTask,
  TaskErrors,
  type TASKS,
  type UpdateTask,
} from './tasks.dto.js';
import { TasksRepository } from './tasks.repository.js';

/** Single tasks: create, read, update, trash, restore. */
@Injectable()
export class TasksService {
  constructor(
    private readonly tasks: TasksRepository,
    private readonly inputs: TaskInputs,
    private readonly results: TaskResults,
    private readonly references: TaskReferences,
    private readonly writes: TaskWrites,
    private readonly idempotent: IdempotentWrites,
    private readonly db: Db,
    private readonly config: Config,
  ) {}

  /** @throws ApiError 409 `already_exists`; 422 for unknown users, references and folders */
  async create(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    input: CreateTask,
  ): Promise<ReplyOf<typeof TASKS, 'item'>> {
    const id = input.id?.toLowerCase() ?? uuidv7();
    const patch = await this.inputs.fields(ctx, input);
    const command = { kind: 'create', id, userId: ctx.userId, patch, device: input.device_id } as const;
    return this.write(ctx, key, command, {}, { status: 201, location: `/apis/v1/tasks/${id}` });
  }

  /** @throws ApiError 404 `not_found` */
  async read(ctx: RequestContext, id: string): Promise<ReplyOf<typeof TASKS, 'item'>> {
    const found = await this.tasks.read(this.db, ctx, id);
    if (!found) throw TaskErrors.notFound.with();
    const [task = 'null'] = await this.references.complete(this.db, ctx, [found]);
    return taskReply(id, found.revision, task, {});
  }

  /** Changes the given fields. Compares the revision if the client sent one. */
  async update(
    ctx: RequestContext,
    id: string,
    expected: ExpectedRevision,
    body: Checked<UpdateTask>,
  ): Promise<ReplyOf<typeof TASKS, 'item'>> {
    const patch = await body.map((input) => this.inputs.fields(ctx, input, id));
    return this.write(
      ctx,
      null,
      {
        kind: 'update',
        ...requestOf(ctx, id, body, expected),
        ...(patch.error ? { error: expected.error ?? patch.error, patch: {} } : { patch: patch.value }),
        nextId: uuidv7(),
      },
      {},
    );
  }

  /** Moves the task to the trash and removes the links of notes to it. */
  async trash(
    ctx: RequestContext,
    id: string,
    expected: ExpectedRevision,
    body: Checked<DeleteTask>,
  ): Promise<ReplyOf<typeof TASKS, 'deleted'>> {
    const keepDays = this.config.TRASH_RETENTION_DAYS;
    const request = requestOf(ctx, id, body, expected);
    const command = { kind: 'trash', ...request, isRestore: false, keepDays } as const;
    return this.write(ctx, null, command, { deleted: 'true' });
  }

  /** Takes the task out of the trash and restores the links of notes to it. A task outside the trash stays unchanged. */
  async restore(
    ctx: RequestContext,
    id: string,
    key: IdempotencyKey | null,
    body: Checked<RestoreTask>,
  ): Promise<ReplyOf<typeof TASKS, 'item'>> {
    const request = requestOf(ctx, id, body);
    return this.write(ctx, key, { kind: 'trash', ...request, isRestore: true, keepDays: 0 }, {});
  }

  private async write<T extends TaskEnvelope>(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    command: TaskCommand,
    others: OtherTexts<T>,
    options?: TaskReplyOptions,
  ): Promise<JsonReply<T>> {
    const { id } = command;
    if (key === null) {
      const written = await this.writes.writeAlone(ctx, command);
      return this.results.reply<T>(this.db, ctx, id, written, others, options);
    }
    return this.idempotent.runTx(ctx, key, async (tx) => {
      const written = await this.writes.write(tx, ctx, command);
      return this.results.reply<T>(tx, ctx, id, written, others, options);
    });
  }
}

/** What the commands of requests for a task have in common. */
function requestOf(
  { userId }: RequestContext,
  id: string,
  body: Checked<RestoreTask>,
  expected?: ExpectedRevision,
) {
  const error = expected?.error ?? body.error;
  if (error) return { id, userId, error, base: null };
  return { id, userId, base: expected?.valueIfGiven ?? null, device: body.value.device_id };
}
