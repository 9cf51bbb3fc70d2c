import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../../config/config.js';
import type { ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ConcurrentChangeError } from '../../../platform/database/database-errors.js';
import { Db } from '../../../platform/database/db.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { ApiError } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { deleteInBatches } from '../../../platform/resources/delete-in-batches.js';
import { type ListFolders, parentOf } from '../../../platform/resources/folder.dto.js';
import { FolderErrors } from '../../../platform/resources/folders.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import { TenantsApi } from '../../tenants/index.js';
import { TaskInputs } from '../task-inputs.js';
import { TaskLinks } from '../responses/task-references.js';
import {
  changeFolder,
  createFolder,
  type FolderChange,
  type FolderValues,
  type FolderWithRole,
  planRemoval,
  rejectFolderWriter,
  rejectSize,
} from './folder-rules.js';
import {
  type CreateTaskFolder,
  type DeleteTaskFolder,
  TASK_FOLDERS,
  type TaskFolderResponse,
  type UpdateTaskFolder,
} from './task-folders.dto.js';
import { type TaskFolderRow, TaskFoldersRepository } from './task-folders.repository.js';

/** Tasks that one transaction takes out of a deleted folder. */
const BATCH = 1_000;

/** Trees of task folders and the users they are shared with: locks and reads rows, asks the rules (`folder-rules.ts`), and writes. */
@Injectable()
export class TaskFoldersService {
  constructor(
    private readonly folders: TaskFoldersRepository,
    private readonly inputs: TaskInputs,
    private readonly tenants: TenantsApi,
    private readonly links: TaskLinks,
    private readonly writes: IdempotentWrites,
    private readonly cursors: Cursors,
    private readonly db: Db,
    private readonly outbox: Outbox,
    private readonly config: Config,
  ) {}

  async list(ctx: RequestContext, query: ListFolders): Promise<ReplyOf<typeof TASK_FOLDERS, 'list'>> {
    const { rows, next } = await this.cursors.page(query, {
      scope: `task_folders ${ctx.tenantId} ${ctx.userId} ${query.parent_id?.toLowerCase() ?? ''}`,
      key: ({ position, id }: TaskFolderRow): [number, string] => [position, id],
      fits: (row) => row.fits,
      rows: (after, limit) => this.folders.list(ctx, parentOf(query), after, limit),
    });
    return TASK_FOLDERS.page(
      rows.map((row) => row.folder as string),
      next,
    );
  }

  /** @throws ApiError 404 */
  async read(ctx: RequestContext, id: string): Promise<ReplyOf<typeof TASK_FOLDERS, 'item'>> {
    const folder = await this.folders.read(ctx, id);
    if (!folder) throw TASK_FOLDERS.notFound.with();
    return TASK_FOLDERS.response(folder);
  }

  /** @throws ApiError 409 `already_exists`, 422 `unknown_user`, `folder_too_deep`, `too_many_folders` */
  async create(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    body: CreateTaskFolder,
  ): Promise<ReplyOf<typeof TASK_FOLDERS, 'item'>> {
    const { tenantId, userId } = ctx;
    const id = body.id?.toLowerCase() ?? uuidv7();
    const values = { name: body.name, ...(await this.input(ctx, body)) };
    return this.writes.runTx(ctx, key, async (tx) => {
      await this.folders.lockTree(tx, tenantId, userId);
      const tree = await this.folders.tree(tx, tenantId, userId);
      const inactive = await this.findInactive(tx, tenantId, values, []);
      const created = createFolder({ tree, inactive }, { userId, values });
      if (created instanceof ApiError) throw created;
      const row = { tenant_id: tenantId, id, ...created.columns };
      if (!(await this.folders.insert(tx, row))) throw FolderErrors.alreadyExists.with();
      await this.folders.apply(tx, tenantId, { folders: [id], touched: [id], device: body.device_id });
      await this.announce(tx, ctx, id, created.shared);
      return TASK_FOLDERS.created(id, await this.readFolder(tx, ctx, id));
    });
  }

  /**
   * Only the owner changes a folder; a member may leave.
   * @throws ApiError 404, 403, 409 `conflict`, 422 `folder_cycle` (also when moves race), `folder_too_large`
   */
  async update(
    ctx: RequestContext,
    id: string,
    body: Checked<UpdateTaskFolder>,
    expected: ExpectedRevision,
  ): Promise<ReplyOf<typeof TASK_FOLDERS, 'item'>> {
    const checked = await body.map((value) => this.input(ctx, value));
    return this.db.tx(async (tx) => {
      const { folder, role } = await this.locked(tx, ctx, id);
      const forbidden = rejectFolderWriter(
        { folder, role },
        ctx.userId,
        checked.error ? null : checked.value,
      );
      if (forbidden) throw forbidden;
      // Read before the write: a member who leaves cannot read the folder afterwards.
      const before = await this.readFolder(tx, ctx, id);
      await TASK_FOLDERS.checkWrite(folder, expected, checked, () => before);
      const facts = {
        folder,
        role,
        shownRoles: new Map(before.members.map((member) => [member.id, member.role])),
        tree: await this.folders.tree(tx, ctx.tenantId, folder.owner_id),
        inactive: await this.findInactive(tx, ctx.tenantId, checked.value, folder.member_ids),
      };
      const { members: entries = [], device_id } = body.value;
      const change = changeFolder(facts, { userId: ctx.userId, values: checked.value, entries });
      if (change instanceof ApiError) throw change;
      if (change === null) return TASK_FOLDERS.response(before);
      await this.write(tx, ctx, id, change, device_id);
      return TASK_FOLDERS.response(role === 'owner' ? await this.readFolder(tx, ctx, id) : before);
    });
  }

  /** The tasks stay or, with `contents=delete`, the owner's own go to the trash. Tasks of other users always stay. */
  async delete(
    ctx: RequestContext,
    id: string,
    expected: ExpectedRevision,
    { contents }: DeleteTaskFolder,
  ): Promise<ReplyOf<typeof TASK_FOLDERS, 'deleted'>> {
    const { tenantId } = ctx;
    const keeps = contents === 'keep';
    const deleted = await deleteInBatches(this.db, async (tx) => {
      const found = await this.locked(tx, ctx, id);
      const { folder } = found;
      const forbidden = rejectFolderWriter(found, ctx.userId, null);
      if (forbidden) throw forbidden;
      const shown = await this.readFolder(tx, ctx, id);
      await TASK_FOLDERS.checkWrite(folder, expected, null, () => shown);
      const tree = await this.folders.tree(tx, tenantId, folder.owner_id);
      const { below: folders, removed, raised } = planRemoval(tree, folder, keeps);
      const batch = await this.folders.lockTasks(tx, tenantId, removed, BATCH);
      const isLast = batch.length < BATCH;
      const tasks = keeps && isLast ? await this.folders.lockTasks(tx, tenantId, folders) : batch;
      const renumbered = keeps ? [] : await this.trash(tx, ctx, folders, tasks);
      if (isLast) await this.folders.remove(tx, tenantId, removed);
      if (isLast) await this.folders.change(tx, tenantId, raised, { parent_id: folder.parent_id });
      await this.folders.unfile(tx, tenantId, tasks, removed);
      const touched = isLast ? folders : [];
      await this.folders.apply(tx, tenantId, { folders, touched, tasks, renumbered });
      return { shown, isLast };
    });
    return TASK_FOLDERS.deleted(deleted);
  }

  /** Moves the caller's own tasks to the trash. Notes that link to them are updated before any counter is locked. */
  private async trash(tx: Tx, ctx: RequestContext, folders: string[], tasks: string[]): Promise<string[]> {
    const own = await this.folders.ownTasks(tx, ctx, tasks);
    const linked = own.filter((task) => task.linked).map((task) => task.id);
    if (linked.length > 0) {
      const users = await this.folders.audience(tx, ctx.tenantId, folders, tasks);
      await this.links.remove(tx, ctx, linked, users);
    }
    const keepDays = this.config.TRASH_RETENTION_DAYS;
    await this.folders.trashTasks(tx, ctx, own, { userId: ctx.userId, keepDays });
    this.outbox.notice(tx);
    return own.map((task) => task.id);
  }

  private async write(
    tx: Tx,
    ctx: RequestContext,
    id: string,
    { values, folders, access, shared }: FolderChange,
    device?: string,
  ): Promise<void> {
    const { tenantId } = ctx;
    await this.folders.change(tx, tenantId, [id], values);
    const tasks = access === null ? [] : await this.folders.lockTasks(tx, tenantId, folders);
    if (access !== null && tasks.length > 0) {
      const users = await this.folders.audienceChange(tx, tenantId, id, access);
      const error = rejectSize(tasks.length, users);
      if (error) throw error;
    }
    await this.folders.apply(tx, tenantId, { folders, touched: folders, tasks, device });
    await this.announce(tx, ctx, id, shared);
  }

  /** The members that a request names who are not active. @param present members who may stay although they are deactivated */
  private async findInactive(
    tx: Tx,
    tenantId: string,
    { member_ids: users = [] }: FolderValues,
    present: string[],
  ): Promise<string[]> {
    return users.length === 0 ? [] : this.tenants.inactiveMembers(tx, tenantId, users, present);
  }

  /** Locks the tree of the folder. Checks the access first, so that callers without access do not wait for the lock. */
  private async locked(tx: Tx, ctx: RequestContext, id: string): Promise<FolderWithRole> {
    const found = await this.folders.find(tx, ctx, id);
    if (!found) throw TASK_FOLDERS.notFound.with();
    await this.folders.lockTree(tx, ctx.tenantId, found.folder.owner_id);
    const current = await this.folders.find(tx, ctx, id);
    if (!current) throw TASK_FOLDERS.notFound.with();
    if (current.folder.owner_id !== found.folder.owner_id)
      throw new ConcurrentChangeError('the folder was transferred while its tree was locked');
    return current;
  }

  private async readFolder(tx: Tx, ctx: RequestContext, id: string): Promise<TaskFolderResponse> {
    return (await this.folders.read(ctx, id, tx)) as TaskFolderResponse;
  }

  /** Appends the event for users who became or ceased to be members. */
  private async announce(
    tx: Tx,
    ctx: RequestContext,
    id: string,
    shared: FolderChange['shared'],
  ): Promise<void> {
    if (shared === null) return;
    const { tenantId, userId: actor_id } = ctx;
    const payload = { folder_id: id, actor_id, ...shared };
    await this.outbox.append(tx, { tenantId, type: 'task_folder.shared', payload });
  }

  /**
   * A user who is named twice counts once, with the last role. Members of folders above, which responses contain, are left out.
   * @throws ApiError 422 `unknown_user`
   */
  private async input(ctx: RequestContext, body: UpdateTaskFolder): Promise<FolderValues> {
    const { name, position, color, parent_id, members } = body;
    const values: FolderValues = {
      name: name?.trim(),
      position,
      color,
      parent_id: parent_id?.toLowerCase() ?? parent_id,
    };
    if (!members) return values;
    const ids = await this.inputs.resolveNamed(ctx, 'members', members);
    const named = members.map(({ role, inherited }, n) => ({ id: ids[n] as string, role, inherited }));
    const roles = new Map(named.filter(({ inherited }) => !inherited).map(({ id, role }) => [id, role]));
    return { ...values, member_ids: [...roles.keys()], member_roles: [...roles.values()] };
  }
}
