import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../../config/config.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Errors } from '../../../platform/http/errors.js';
import { validated } from '../../../platform/http/input.pipe.js';
import { TaskUids } from '../changes/task-writes.repository.js';
import { type TaskCommand, TaskWrites } from '../changes/task-writes.js';
import type { TaskPatch } from '../model/rules/task-merge.js';
import { mayWrite } from '../model/rules/task-row.js';
import { assertOrder, checkedTodo, type SingleTodo, singleTodo } from '../model/single-todo.js';
import {
  changedInput,
  createdInput,
  keptOf,
  NOTHING_KEPT,
  placedRecurrence,
  shownValues,
  textOfTodo,
  todoOf,
} from '../model/todo-merge.js';
import { clockOf, readTodo } from '../model/todo-reader.js';
import type { KeptTodo, TaskResourceRow, TodoValues } from '../model/todo-values.js';
import { valuesOf } from '../model/todo-writer.js';
import { TaskInputs } from '../task-inputs.js';
import { CreateTask, TaskErrors, TASKS, UpdateTask } from '../tasks.dto.js';
import { TaskResourcesRepository } from './task-resources.repository.js';
import { TaskResources, taskTag } from './task-resources.js';

/** Decides about a write. @param etag null: the folder has no such task. @throws to stop the write */
export type TaskTagCheck = (etag: string | null) => void;

/** The UID of a text is that of another task, or the task has another one. */
export class TaskUidConflict extends Error {
  constructor(readonly uid: string) {
    super('uid');
  }
}

/** Writes of a task that other writes overtake, before the request fails. */
const MAX_ATTEMPTS = 10;

/** Writes of whole tasks, as CalDAV programs send them. */
@Injectable()
export class TaskResourceWrites {
  constructor(
    private readonly tasks: TaskResourcesRepository,
    private readonly resources: TaskResources,
    private readonly inputs: TaskInputs,
    private readonly writes: TaskWrites,
    private readonly uids: TaskUids,
    private readonly db: Db,
    private readonly config: Config,
  ) {}

  /** The task of a folder that has this UID; null without one. */
  async idOfUid(ctx: RequestContext, folderId: string, uid: string): Promise<string | null> {
    return this.uids.findByUid(this.db, ctx.tenantId, folderId, uid);
  }

  /** Whether the folder shows the task to the caller. */
  async contains(ctx: RequestContext, folderId: string, id: string): Promise<boolean> {
    return (await this.tasks.read(ctx, folderId, [id])).length > 0;
  }

  /**
   * Creates a task.
   * @param text iCalendar with one task
   * @param created runs in the transaction
   * @throws TaskUidConflict; ApiError 404, 403, 422 with the codes of `singleTodo`, and those of a request to the API
   */
  async create(
    ctx: RequestContext,
    folderId: string,
    text: Uint8Array,
    check: TaskTagCheck,
    created: (tx: Tx, id: string) => Promise<void>,
  ): Promise<void> {
    await this.assertWriter(ctx, folderId);
    const todo = singleTodo(text);
    const zone = await this.tasks.zone(ctx);
    const values = valuesIn(todo, zone);
    const input = validated(CreateTask, createdInput(folderId, values, todo));
    const kept = keptOf(todo, values, { ...values, completedAt: null, zone });
    const fields = await this.inputs.fields(ctx, input);
    const recurrence = fields.recurrence && { ...fields.recurrence, ...values.place };
    const patch = {
      ...fields,
      ...(recurrence && { recurrence }),
      ...completionOf(values),
      uid: todo.uid,
      icalendar: stored(kept),
    };
    const id = uuidv7();
    await this.db.tx(async (tx) => {
      await this.uids.lock(tx, ctx.tenantId, folderId, todo.uid);
      const same = await this.uids.findByUid(tx, ctx.tenantId, folderId, todo.uid);
      if (same !== null) throw new TaskUidConflict(todo.uid);
      check(null);
      await this.writes.write(tx, ctx, { kind: 'create', id, userId: ctx.userId, patch });
      await created(tx, id);
    });
  }

  /**
   * Replaces a task: the fields change in which the text differs from the one that the server would send. A task that differs in nothing
   * is not written.
   * @throws TaskUidConflict; ApiError 404, 403, 422 as for `create`
   */
  async update(
    ctx: RequestContext,
    folderId: string,
    id: string,
    text: Uint8Array,
    check: TaskTagCheck,
  ): Promise<void> {
    await this.assertWriter(ctx, folderId);
    const todo = singleTodo(text);
    await this.repeat(ctx, folderId, id, check, async (row) => {
      if ((row.uid ?? row.id) !== todo.uid) throw new TaskUidConflict(todo.uid);
      const patch = await this.patchOf(ctx, row, todo);
      return patch && { ...commandOf(ctx, row), kind: 'update', patch, nextId: uuidv7() };
    });
  }

  /** Moves a task to the trash. @throws ApiError 404, 403 */
  async remove(ctx: RequestContext, folderId: string, id: string, check: TaskTagCheck): Promise<void> {
    const keepDays = this.config.TRASH_RETENTION_DAYS;
    await this.repeat(ctx, folderId, id, check, async (row) => ({
      ...commandOf(ctx, row),
      kind: 'trash',
      isRestore: false,
      keepDays,
    }));
  }

  /** Repeats a write that is based on the task as it was read until no other write overtakes it. @param commandFor null: nothing to write */
  private async repeat(
    ctx: RequestContext,
    folderId: string,
    id: string,
    check: TaskTagCheck,
    commandFor: (row: TaskResourceRow) => Promise<TaskCommand | null>,
  ): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const [row] = await this.tasks.read(ctx, folderId, [id]);
      check(row ? taskTag(row) : null);
      if (!row) throw TaskErrors.notFound.with();
      const command = await commandFor(row);
      if (!command) return;
      const { isConflict } = await this.writes.writeAlone(ctx, command);
      if (!isConflict) return;
    }
    throw TASKS.conflict!.with();
  }

  private async patchOf(
    ctx: RequestContext,
    row: TaskResourceRow,
    todo: SingleTodo,
  ): Promise<TaskPatch | null> {
    const next = valuesIn(todo, row.time_zone);
    // As the program read it: the same text is the same task, whatever an edit of the API has made of what is stored.
    const shown = singleTodo(Buffer.from(textOfTodo(todoOf(row), true)));
    const before = shownValues(row, shown, clockOf(shown.others, row.time_zone));
    const input = changedInput(row, before, next, todo);
    const task = valuesOf(row);
    const kept = keptOf(todo, next, task);
    const isKept = isDeepStrictEqual(kept, keptOf(shown, before, task));
    if (isKept && Object.keys(input).length === 0) return null;
    const patch = await this.inputs.fields(ctx, validated(UpdateTask, input), row.id);
    const recurrence = placedRecurrence(row, before, next);
    return {
      ...patch,
      ...(recurrence && { recurrence }),
      ...(next.completedAt !== before.completedAt && completionOf(next)),
      ...(!isKept && { icalendar: stored(kept) }),
    };
  }

  /** @throws ApiError 404, 403 */
  private async assertWriter(ctx: RequestContext, folderId: string): Promise<void> {
    if (!mayWrite(await this.resources.role(ctx, folderId))) throw Errors.forbidden.with();
  }
}

/** @param zone of times that name none @throws ApiError 422 */
function valuesIn(todo: SingleTodo, zone: string): TodoValues {
  const clock = clockOf(todo.others, zone);
  return checkedTodo(() => {
    assertOrder(todo.todo, clock);
    return readTodo(todo.todo, todo.others, clock);
  });
}

const commandOf = ({ userId }: RequestContext, { id, revision }: TaskResourceRow) => ({
  id,
  userId,
  base: revision,
});

/** The time of the completion that a text states. */
const completionOf = ({ completedAt }: TodoValues): Pick<TaskPatch, 'completed_at'> =>
  completedAt === null ? {} : { completed_at: new Date(completedAt) };

/** Null where there is nothing to store. */
const stored = (kept: KeptTodo): KeptTodo | null => (isDeepStrictEqual(kept, NOTHING_KEPT) ? null : kept);
