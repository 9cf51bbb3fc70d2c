import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Config } from '../../../config/config.js';
import type { ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { ConcurrentChangeError } from '../../../platform/database/database-errors.js';
import { Db } from '../../../platform/database/db.js';
import { changedFields } from '../../../platform/database/rows.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { Errors } from '../../../platform/http/errors.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import { deleteInBatches } from '../../../platform/resources/delete-in-batches.js';
import { type ListFolders, parentOf } from '../../../platform/resources/folder.dto.js';
import { checkPlace, FolderErrors } from '../../../platform/resources/folders.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import { TenantsApi } from '../../tenants/index.js';
import { TaskInputs } from '../task-inputs.js';
import { TaskLinks } from '../responses/task-references.js';
import { inactiveUsers } from '../tasks.dto.js';
import type { TaskFolder } from '../tasks.schema.js';
import {
  type CreateTaskFolder,
  type DeleteTaskFolder,
  folderTooLarge,
  TASK_FOLDERS,
  type TaskFolderResponse,
  type UpdateTaskFolder,
} from './task-folders.dto.js';
import { type FolderWithRole, type TaskFolderRow, TaskFoldersRepository } from './task-folders.repository.js';

/** Maximum number of rows of tasks that one change of a folder's members writes, which takes some seconds. */
const MAX_ROWS = 200_000;

/** Tasks that one transaction takes out of a deleted folder. */
const BATCH = 1_000;

type FolderValues = Partial<
  Pick<TaskFolder, 'name' | 'parent_id' | 'position' | 'color' | 'member_ids' | 'member_roles'>
>;

/** Trees of task folders and the users they are shared with. */
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
    const { tenantId, userId: ownerId } = ctx;
    const id = body.id?.toLowerCase() ?? uuidv7();
    const input = withoutMember(await this.input(ctx, body), ownerId);
    const { parent_id = null, color = null, member_ids = [], member_roles = [] } = input;
    return this.writes.runTx(ctx, key, async (tx) => {
      await this.folders.lockTree(tx, tenantId, ownerId);
      const tree = await this.folders.tree(tx, tenantId, ownerId);
      checkPlace(tree, undefined, parent_id);
      await this.assertActive(tx, tenantId, member_ids, []);
      const { name = body.name, position = tree.lastPosition(parent_id) } = input;
      const values = {
        tenant_id: tenantId,
        owner_id: ownerId,
        id,
        name,
        color,
        parent_id,
        position,
        member_ids,
        member_roles,
      };
      if (!(await this.folders.insert(tx, values))) throw FolderErrors.alreadyExists.with();
      await this.folders.apply(tx, tenantId, { folders: [id], touched: [id], device: body.device_id });
      await this.announce(tx, ctx, id, [], member_ids);
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
      const leaving = role !== 'owner';
      if (leaving && (checked.error || !isLeave(folder, ctx.userId, checked.value)))
        throw Errors.forbidden.with();
      // Read before the write: a member who leaves cannot read the folder afterwards.
      const before = await this.readFolder(tx, ctx, id);
      await TASK_FOLDERS.checkWrite(folder, expected, checked, () => before);
      const wanted = leaving
        ? withoutMember(folder, ctx.userId)
        : withoutMember(withStoredRoles(checked.value, folder, before, body.value), folder.owner_id);
      const changes = changedFields<FolderValues>(folder, wanted);
      if (!changes) return TASK_FOLDERS.response(before);
      await this.write(tx, ctx, folder, changes, body.value.device_id);
      return TASK_FOLDERS.response(leaving ? before : await this.readFolder(tx, ctx, id));
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
      const { folder, role } = await this.locked(tx, ctx, id);
      if (role !== 'owner') throw Errors.forbidden.with();
      const shown = await this.readFolder(tx, ctx, id);
      await TASK_FOLDERS.checkWrite(folder, expected, null, () => shown);
      const tree = await this.folders.tree(tx, tenantId, folder.owner_id);
      const folders = tree.listBelow(id);
      const removed = keeps ? [id] : folders;
      const batch = await this.folders.lockTasks(tx, tenantId, removed, BATCH);
      const isLast = batch.length < BATCH;
      const tasks = keeps && isLast ? await this.folders.lockTasks(tx, tenantId, folders) : batch;
      const renumbered = keeps ? [] : await this.trash(tx, ctx, folders, tasks);
      if (isLast) await this.folders.remove(tx, tenantId, removed);
      if (keeps && isLast)
        await this.folders.change(tx, tenantId, tree.children(id), { parent_id: folder.parent_id });
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
    const ids = own.map((task) => task.id);
    const linked = own.filter((task) => task.linked).map((task) => task.id);
    if (linked.length > 0) {
      const users = await this.folders.audience(tx, ctx.tenantId, folders, tasks);
      await this.links.remove(tx, ctx, linked, users);
    }
    await this.folders.trashTasks(tx, ctx, ids, this.config.TRASH_RETENTION_DAYS);
    this.outbox.notice(tx);
    return ids;
  }

  private async write(
    tx: Tx,
    ctx: RequestContext,
    folder: TaskFolder,
    changes: FolderValues,
    device?: string,
  ): Promise<void> {
    const { tenant_id, id } = folder;
    const tree = await this.folders.tree(tx, tenant_id, folder.owner_id);
    const parentId = changes.parent_id === undefined ? folder.parent_id : changes.parent_id;
    if (changes.parent_id) checkPlace(tree, id, changes.parent_id);
    await this.assertActive(tx, tenant_id, changes.member_ids ?? [], folder.member_ids);
    await this.folders.change(tx, tenant_id, [id], changes);
    const shared = ['parent_id', 'member_ids', 'member_roles'].some((field) => field in changes);
    const folders = shared ? tree.listBelow(id) : [id];
    const tasks = shared ? await this.folders.lockTasks(tx, tenant_id, folders) : [];
    if (tasks.length > 0) {
      const users = await this.folders.audienceChange(tx, tenant_id, id, [id, ...tree.path(parentId)]);
      if (tasks.length * users > MAX_ROWS) throw folderTooLarge.with();
    }
    await this.folders.apply(tx, tenant_id, { folders, touched: folders, tasks, device });
    await this.announce(tx, ctx, id, folder.member_ids, changes.member_ids ?? folder.member_ids);
  }

  /** Present members may be deactivated. @throws ApiError 422 `unknown_user` for a new member that is not active */
  private async assertActive(tx: Tx, tenantId: string, users: string[], present: string[]): Promise<void> {
    if (users.length === 0) return;
    const found = await this.tenants.inactiveMembers(tx, tenantId, users, present);
    if (found.length > 0) throw inactiveUsers('members', found);
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
    before: string[],
    after: string[],
  ): Promise<void> {
    const { tenantId, userId: actor_id } = ctx;
    const added = after.filter((user) => !before.includes(user) && user !== actor_id);
    const removed = before.filter((user) => !after.includes(user));
    if (added.length + removed.length === 0) return;
    const payload = { folder_id: id, actor_id, added, removed };
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

/** The values without this user among the members. */
function withoutMember(values: FolderValues, user: string): FolderValues {
  const { member_ids, member_roles = [] } = values;
  const n = member_ids?.indexOf(user) ?? -1;
  if (n < 0) return values;
  return { ...values, member_ids: member_ids?.toSpliced(n, 1), member_roles: member_roles.toSpliced(n, 1) };
}

/**
 * Restores the stored roles of members whose entry is the one of the response: `inherited` is false and the role is the shown one,
 * which a folder above may have raised. An entry without `inherited` states the role of the member in this folder.
 */
function withStoredRoles(
  values: FolderValues,
  { member_ids, member_roles }: TaskFolder,
  shown: TaskFolderResponse,
  { members = [] }: UpdateTaskFolder,
): FolderValues {
  const read = new Set(
    members.flatMap(({ id, user_id, inherited }) =>
      inherited === false ? [(id ?? user_id)?.toLowerCase()] : [],
    ),
  );
  const shownRoles = new Map(shown.members.map(({ id, role }) => [id, role]));
  const roles = values.member_roles?.map((role, n) => {
    const user = values.member_ids?.[n] ?? '';
    return read.has(user) && shownRoles.get(user) === role
      ? (member_roles[member_ids.indexOf(user)] ?? role)
      : role;
  });
  return { ...values, member_roles: roles };
}

/** Whether the change only removes this user from the list of members. */
function isLeave({ member_ids, owner_id }: TaskFolder, user: string, input: FolderValues): boolean {
  const { member_ids: named, member_roles: _roles, ...others } = withoutMember(input, owner_id);
  return (
    named !== undefined &&
    Object.values(others).every((value) => value === undefined) &&
    member_ids.includes(user) &&
    !named.includes(user) &&
    member_ids.every((id) => id === user || named.includes(id)) &&
    named.every((id) => member_ids.includes(id))
  );
}
