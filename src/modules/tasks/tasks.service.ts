import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../config/config.js';
import type { ExpectedRevision } from '../../platform/concurrency/expected-revision.js';
import { type IdempotencyKey, IdempotentWrites } from '../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { Outbox } from '../../platform/events/outbox.js';
import type { Checked } from '../../platform/http/input.pipe.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import { TaskInputs } from './task-inputs.js';
import { TaskReferences } from './responses/task-references.js';
import { type ReplyOptions, taskReply, TaskResults } from './responses/task-results.js';
import { TaskSteps } from './changes/task-steps.js';
import type { CreateTask, DeleteTask, RestoreTask, UpdateTask } from './tasks.dto.js';
import { TaskErrors } from './tasks.errors.js';
import { type TaskPatch, type TaskWrite, type TaskWriteKind, TasksRepository } from './tasks.repository.js';

/** Single tasks: create, read, update, trash, restore. */
@Injectable()
export class TasksService {
  constructor(
    private readonly tasks: TasksRepository,
    private readonly inputs: TaskInputs,
    private readonly results: TaskResults,
    private readonly references: TaskReferences,
    private readonly steps: TaskSteps,
    private readonly writes: IdempotentWrites,
    private readonly db: Db,
    private readonly outbox: Outbox,
    private readonly config: Config,
  ) {}

  /** @throws ApiError 409 `already_exists`; 422 for unknown users, references and folders */
  async create(ctx: RequestContext, key: IdempotencyKey | null, input: CreateTask): Promise<JsonReply> {
    const id = input.id?.toLowerCase() ?? uuidv7();
    const write = { patch: await this.inputs.fields(ctx, input), device: input.device_id };
    return this.write(ctx, 'create', id, key, write, { status: 201, location: `/apis/v1/tasks/${id}` });
  }

  /** @throws ApiError 404 `not_found` */
  async read(ctx: RequestContext, id: string): Promise<JsonReply> {
    const found = await this.tasks.read(this.db, ctx, id);
    if (!found) throw TaskErrors.notFound.with();
    const [task = 'null'] = await this.references.complete(this.db, ctx, [found]);
    return taskReply(id, found.revision, task);
  }

  /** Changes the given fields. Compares the revision if the client sent one. */
  async update(
    ctx: RequestContext,
    id: string,
    expected: ExpectedRevision,
    body: Checked<UpdateTask>,
  ): Promise<JsonReply> {
    const patch = await body.map((input) => this.inputs.fields(ctx, input, id));
    return this.writeChecked(ctx, 'update', id, null, { expected, body, patch });
  }

  /** Moves the task to the trash and removes the links of notes to it. */
  async trash(
    ctx: RequestContext,
    id: string,
    expected: ExpectedRevision,
    body: Checked<DeleteTask>,
  ): Promise<JsonReply> {
    const keep_days = this.config.TRASH_RETENTION_DAYS;
    const more = { deleted: 'true' };
    return this.writeChecked(ctx, 'trash', id, null, { expected, body, write: { keep_days }, more });
  }

  /** Takes the task out of the trash and restores the links of notes to it. A task outside the trash stays unchanged. */
  async restore(
    ctx: RequestContext,
    id: string,
    key: IdempotencyKey | null,
    body: Checked<RestoreTask>,
  ): Promise<JsonReply> {
    return this.writeChecked(ctx, 'trash', id, key, { body, write: { restore: true } });
  }

  private async writeChecked(
    ctx: RequestContext,
    kind: TaskWriteKind,
    id: string,
    key: IdempotencyKey | null,
    request: {
      expected?: ExpectedRevision;
      body: Checked<RestoreTask>;
      patch?: Checked<TaskPatch>;
      write?: Partial<TaskWrite>;
      more?: ReplyOptions['more'];
    },
  ): Promise<JsonReply> {
    const { expected, body, patch = body, write, more } = request;
    const error = expected?.error ?? patch.error;
    const values: TaskWrite = error
      ? { patch: null }
      : { patch: { ...patch.value }, base: expected?.valueIfGiven ?? null, device: body.value.device_id };
    return this.write(ctx, kind, id, key, { ...values, ...write }, { error, more });
  }

  /** One statement, unless the write needs further steps or has an Idempotency-Key. */
  private async write(
    ctx: RequestContext,
    kind: TaskWriteKind,
    id: string,
    key: IdempotencyKey | null,
    write: TaskWrite,
    options: ReplyOptions,
  ): Promise<JsonReply> {
    if (key === null) {
      const result = await this.tasks.writeAlone(ctx, kind, id, write, (tx) => this.outbox.notice(tx));
      if (result.outcome !== 'reschedule' && result.outcome !== 'links') {
        return this.results.reply(this.db, ctx, id, result, options);
      }
    }
    return this.writes.runTx(ctx, key, async (tx) => {
      const result = await this.steps.write(tx, ctx, kind, id, write);
      this.outbox.notice(tx);
      return this.results.reply(tx, ctx, id, result, options);
    });
  }
}
