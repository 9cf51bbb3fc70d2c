import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ConcurrentChangeError } from '../../../platform/database/database-errors.js';
import { Db } from '../../../platform/database/db.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { ApiError } from '../../../platform/http/errors.js';
import { lockHeads } from '../../../platform/sync/sync-heads.js';
import type { TaskChange, TaskRow } from '../model/rules/task-row.js';
import {
  type CreateCommand,
  createTask,
  type Decision,
  type TaskFacts,
  type TrashCommand,
  trashTask,
  type UpdateCommand,
  updateTask,
} from '../model/rules/task-rules.js';
import { TaskLinks } from '../responses/task-references.js';
import { TaskErrors } from '../tasks.dto.js';
import { TasksRepository } from '../tasks.repository.js';
import { TaskRemovalRepository } from './task-removal.repository.js';
import {
  type ReadVersion,
  TaskUids,
  TaskWritesRepository,
  type TaskWritten,
  findWithdrawable,
} from './task-writes.repository.js';

/** A request to write one task. */
export type TaskCommand = { device?: string } & (
  | ({ kind: 'create' } & CreateCommand)
  | ({ kind: 'update'; id: string } & UpdateCommand)
  | ({ kind: 'trash'; id: string } & TrashCommand)
);

interface Decided {
  decision: Decision;
  /** The row before the change; null for a new task. */
  old: TaskRow | null;
  read: ReadVersion;
}

/** Creates, changes, deletes and restores tasks: reads rows, asks the rules (`model/rules/task-rules.ts`), and stores the result. */
@Injectable()
export class TaskWrites {
  constructor(
    private readonly rows: TaskWritesRepository,
    private readonly removal: TaskRemovalRepository,
    private readonly tasks: TasksRepository,
    private readonly uids: TaskUids,
    private readonly links: TaskLinks,
    private readonly outbox: Outbox,
    private readonly db: Db,
  ) {}

  /**
   * Decides on rows that it reads without locks, and stores by one statement that stores nothing if these rows have changed. Then, and where
   * other rows change or a task joins a folder, a transaction with locks decides. Lines `tasks create` and `tasks update` of test/bench/platform/domains.bench.mjs.
   * @throws ApiError 403, 404, 409 `already_exists`, `deleted`, `quota_exceeded`, 422
   */
  async writeAlone(ctx: RequestContext, command: TaskCommand): Promise<TaskWritten> {
    const decided = await this.decide(this.db, ctx, command);
    const { decision, read } = decided;
    if (typeof decision === 'string') return this.unwritten(this.db, ctx, command.id, decision);
    if (decision instanceof ApiError) throw decision;
    const isAlone = decision.links === null && decision.next === null && !decision.withdrawn;
    if (isAlone && !joinsList(command, decided.old)) {
      const stored = await this.db.single(async (tx) => {
        this.outbox.notice(tx);
        return this.store(tx, ctx, command, decided.old, decision, read);
      });
      if (stored !== 'outdated') return stored;
    }
    return this.db.tx(async (tx) => this.write(tx, ctx, command));
  }

  /** Writes under the lock of the task. @throws as `writeAlone` */
  async write(tx: Tx, ctx: RequestContext, command: TaskCommand): Promise<TaskWritten> {
    this.outbox.notice(tx);
    await this.lock(tx, ctx, command);
    const { decision, old } = await this.decide(tx, ctx, command);
    if (typeof decision === 'string') return this.unwritten(tx, ctx, command.id, decision);
    if (decision instanceof ApiError) throw decision;
    const { task, links, next, withdrawn } = decision;
    if (withdrawn) await this.withdraw(tx, ctx, task, withdrawn, links);
    else if (links || next) {
      const users = await this.rows.findConcerned(tx, ctx, task, old === null);
      if (links)
        await this.links.update(tx, ctx, users, [
          { task, ...links },
          ...(next ? [{ task: next.task, present: links.present, removed: [] }] : []),
        ]);
      if (next) await this.storeNext(tx, ctx, command, task, next, users);
    }
    const stored = await this.store(tx, ctx, command, old, decision);
    if (stored === 'outdated') throw new ConcurrentChangeError('a locked task has changed');
    return stored;
  }

  /**
   * Locks the tree of the folder that the task moves to, or in which its next occurrence is created, then the task, its next occurrence,
   * if the command opens it again, and its UID in a folder that it joins.
   * @throws ConcurrentChangeError if the task was moved meanwhile
   */
  private async lock(tx: Tx, ctx: RequestContext, command: TaskCommand): Promise<void> {
    const given = command.kind === 'trash' ? null : command.patch.folder_id;
    const folder =
      given === undefined && command.kind === 'update'
        ? await this.rows.folderOf(tx, ctx, command.id)
        : (given ?? null);
    if (folder !== null) await this.rows.shareTree(tx, ctx, folder);
    if (command.kind === 'create') return;
    const task = await this.rows.lock(tx, ctx, command.id);
    const next = task && command.kind === 'update' ? findWithdrawable(task, command.patch) : null;
    if (next !== null) await this.rows.lock(tx, ctx, next);
    const filedIn = task?.folder_id ?? null;
    if (command.kind === 'update' && given === undefined && filedIn !== folder)
      throw new ConcurrentChangeError('the task was moved while its tree was locked');
    const list = given ?? filedIn;
    if (task && list !== null && joinsList(command, task))
      await this.uids.lock(tx, ctx.tenantId, list, task.uid ?? command.id);
  }

  private async decide(reader: Reader, ctx: RequestContext, command: TaskCommand): Promise<Decided> {
    if (command.kind === 'create') {
      const { patch } = command;
      const facts = await this.rows.newFacts(reader, ctx, patch);
      const decision = createTask(facts, command);
      return { decision, old: null, read: folderRead(patch.folder_id, facts) };
    }
    const patch = command.kind === 'update' ? command.patch : {};
    const isRestore = command.kind === 'trash' && command.isRestore;
    const facts = await this.rows.facts(reader, ctx, command.id, patch, isRestore);
    if (!facts) throw TaskErrors.notFound.with();
    const decision = command.kind === 'update' ? updateTask(facts, command) : trashTask(facts, command);
    return { decision, old: facts.task, read: { ...facts.read, ...folderRead(patch.folder_id, facts) } };
  }

  private async store(
    tx: Tx,
    ctx: RequestContext,
    { id, device }: TaskCommand,
    old: TaskRow | null,
    { task, activity, events, isLastView }: TaskChange,
    read?: ReadVersion,
  ): Promise<TaskWritten | 'outdated'> {
    const { revision } = task;
    const row = old === null ? task : changedColumns(old, task);
    const isNew = old === null;
    const change = { row, isNew, revision, activity, events, device, isLastView, read };
    const stored = await this.rows.store(tx, ctx, id, change);
    if (stored === 'exists') throw TaskErrors.alreadyExists.with();
    return stored === 'outdated' ? stored : { ...stored, isConflict: false };
  }

  private async storeNext(
    tx: Tx,
    ctx: RequestContext,
    { device }: TaskCommand,
    task: TaskRow,
    { task: next, activity, events }: TaskChange,
    users: readonly string[],
  ): Promise<void> {
    await lockHeads(tx, ctx.tenantId, users);
    const change = { row: next, isNew: true, revision: next.revision, activity, events, device };
    const stored = await this.rows.store(tx, ctx, next.id, change);
    if (typeof stored === 'string') throw new Error(`the next occurrence was not stored: ${stored}`);
    await this.rows.copySubtasks(tx, ctx, task, next);
  }

  /** Purges the next occurrence of a task that is open again: in the trash it would count for the quota of its creator. */
  private async withdraw(
    tx: Tx,
    ctx: RequestContext,
    task: TaskRow,
    next: TaskRow,
    links: TaskChange['links'],
  ): Promise<void> {
    const users = [
      ...new Set([
        ...(await this.rows.findConcerned(tx, ctx, task, false)),
        ...(await this.rows.findConcerned(tx, ctx, next, false)),
      ]),
    ];
    const changes = [
      { task: next, present: [], removed: next.linked_notes },
      ...(links ? [{ task, ...links }] : []),
    ];
    await this.links.update(tx, ctx, users, changes);
    await lockHeads(tx, ctx.tenantId, users);
    await this.removal.remove(tx, ctx, next);
  }

  private async unwritten(
    reader: Reader,
    ctx: RequestContext,
    id: string,
    decision: 'unchanged' | 'conflict',
  ): Promise<TaskWritten> {
    return { ...(await this.tasks.readStored(reader, ctx, id)), isConflict: decision === 'conflict' };
  }
}

/** Whether the command may bring a task into a folder where another one has its UID, which only a lock shows. */
const joinsList = (command: TaskCommand, task: Pick<TaskRow, 'folder_id'> | null): boolean => {
  if (command.kind === 'trash') return command.isRestore;
  const { folder_id: folder } = command.patch;
  return command.kind === 'update' && Boolean(folder) && folder !== task?.folder_id;
};

const folderRead = (
  folder: string | null | undefined,
  { folderRole }: Pick<TaskFacts, 'folderRole'>,
): ReadVersion => (folder ? { folder, folder_role: folderRole } : {});

const changedColumns = (old: TaskRow, task: TaskRow): Partial<TaskRow> =>
  Object.fromEntries(
    Object.entries(task).filter(([name, value]) => !isDeepStrictEqual(value, old[name as keyof TaskRow])),
  );
