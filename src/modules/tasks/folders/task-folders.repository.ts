import { Injectable } from '@nestjs/common';
import { In, IsNull } from 'typeorm';
import { boundedPage, PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { type ColumnValues, rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { Tree } from '../../../platform/resources/folders.js';
import type { FeedOwner } from '../../../platform/sync/feed-source.js';
import { MemberFeed } from '../../../platform/sync/member-feed.js';
import { listEvents, timestampText } from '../model/rules/task-row.js';
import { intoTrash, type TrashedBy } from '../model/rules/task-rules.js';
import { TaskFolder, TaskFolderMember, type Task } from '../tasks.schema.js';
import type { FolderWithRole } from './folder-rules.js';
import { TASK_FOLDERS, type TaskFolderResponse } from './task-folders.dto.js';

export interface TaskFolderRow {
  id: string;
  position: number;
  fits: boolean;
  /** JSON of the folder as the caller sees it; null beyond the bytes of the page. */
  folder: string | null;
}

const read = workspace.statement<{ folder: string }>(
  'task_folders.read',
  `SELECT folder FROM task_folder_views WHERE tenant_id = $1 AND user_id = $2 AND id = $3`,
);

const list = workspace.statement<TaskFolderRow>(
  'task_folders.list',
  boundedPage({
    // The response has each folder twice.
    keys: `SELECT folder.id, folder.position, 2 * (1024 + 512 * (
                    SELECT count(*) FROM task_folder_members other
                     WHERE other.tenant_id = $1 AND other.folder_id = folder.id)) AS bytes
             FROM task_folder_views folder
            WHERE folder.tenant_id = $1 AND folder.user_id = $2
              AND ($3 = 'any' OR folder.parent_id IS NOT DISTINCT FROM $4::uuid) AND (folder.position, folder.id) > ($5, $6::uuid)
            ORDER BY folder.position, folder.id LIMIT $7`,
    order: 'sized.position, sized.id',
    limit: '$7',
    bytes: '$8',
    columns: 'sized.id, sized.position, sized.fits, shown.folder',
    shown: {
      columns: 'listed.folder',
      from: 'task_folder_views listed WHERE listed.tenant_id = $1 AND listed.user_id = $2 AND listed.id = sized.id',
    },
  }),
);

const lockTree = workspace.statement<never>(
  'task_folders.lock_tree',
  `SELECT pg_advisory_xact_lock(task_tree_key($1, $2))`,
);

const lockTasks = workspace.statement<Pick<Task, 'id'>>(
  'task_folders.lock_tasks',
  `SELECT id FROM tasks WHERE tenant_id = $1 AND folder_id = ANY ($2) ORDER BY id LIMIT $3 FOR UPDATE`,
);

const apply = workspace.statement<never>(
  'task_folders.apply',
  `SELECT task_tree_apply($1, $2, $3, $4, $5, $6)`,
);

// $3: ids of the folder and of the folders above it.
const audienceChange = workspace.statement<{ users: number }>(
  'task_folders.audience_change',
  `WITH wanted AS (
     SELECT DISTINCT user_id FROM task_folders folder, unnest(folder.member_ids) AS user_id
      WHERE folder.tenant_id = $1 AND folder.id = ANY ($3))
   SELECT count(*)::int AS users FROM wanted
     FULL JOIN (SELECT user_id FROM task_folder_members
                 WHERE tenant_id = $1 AND folder_id = $2 AND role < 'owner') member ON member.user_id = wanted.user_id
    WHERE wanted.user_id IS NULL OR member.user_id IS NULL`,
);

const audience = workspace.statement<{ user_id: string }>(
  'task_folders.audience',
  `SELECT user_id FROM task_members WHERE tenant_id = $1 AND task_id = ANY ($3) AND role IS NOT NULL
    UNION SELECT user_id FROM task_folder_members WHERE tenant_id = $1 AND folder_id = ANY ($2) AND role IS NOT NULL`,
);

/** A task that the caller created. `linked`: notes link to it. */
interface OwnTask extends Pick<Task, 'id' | 'revision'> {
  linked: boolean;
  now: Date;
}

const ownTasks = workspace.statement<OwnTask>(
  'task_folders.own_tasks',
  `SELECT id, revision, linked_notes <> '{}' AS linked, clock_timestamp() AS now FROM tasks
    WHERE tenant_id = $1 AND creator_id = $2 AND id = ANY ($3) AND deleted_at IS NULL`,
);

const trashTasks = workspace.statement<never>(
  'task_folders.trash_tasks',
  `WITH trashed AS (
     UPDATE tasks task SET
       deleted_at = moved.deleted_at, deleted_by = moved.deleted_by, purge_at = moved.purge_at, next_reminder_at = moved.next_reminder_at,
       next_due_at = moved.next_due_at, due_stage = moved.due_stage, activity_count = task.activity_count + 1
       FROM jsonb_populate_record(NULL::tasks, $3::jsonb->'columns') moved WHERE task.tenant_id = $1 AND task.id = ANY ($2)
     RETURNING task.id, task.activity_count, task.deleted_at, task.deleted_by),
   recorded AS (
     INSERT INTO task_activity (tenant_id, task_id, n, type, actor_id, data, at)
     SELECT $1, id, activity_count, $3#>>'{activity,type}', deleted_by, $3#>'{activity,data}', deleted_at FROM trashed)
   INSERT INTO outbox (tenant_id, id, type, payload)
   SELECT $1, (event->>'id')::uuid, event->>'type', event->'payload' FROM jsonb_array_elements($3->'events') AS event`,
);

const unfile = workspace.statement<never>(
  'task_folders.unfile',
  `UPDATE tasks SET folder_id = NULL WHERE tenant_id = $1 AND id = ANY ($2) AND folder_id = ANY ($3)`,
);

const FIRST: readonly [number, string] = [Number.NEGATIVE_INFINITY, '00000000-0000-0000-0000-000000000000'];
const NOW = () => 'clock_timestamp()';

/** SQL of task folders, and of the tasks that a change of a folder affects. */
@Injectable()
export class TaskFoldersRepository {
  constructor(private readonly db: Db) {}

  async read(ctx: RequestContext, id: string, reader: Reader = this.db): Promise<TaskFolderResponse | null> {
    const [row] = await reader.query(read, [ctx.tenantId, ctx.userId, id]);
    return row ? (JSON.parse(row.folder) as TaskFolderResponse) : null;
  }

  /** @param parent undefined: folders of any parent; null: those without a parent that the caller sees */
  async list(
    ctx: RequestContext,
    parent: string | null | undefined,
    after: readonly [number, string] = FIRST,
    limit: number,
  ): Promise<TaskFolderRow[]> {
    const which = parent === undefined ? 'any' : 'children';
    const values = [ctx.tenantId, ctx.userId, which, parent ?? null, ...after, limit, PAGE_BYTES];
    return this.db.query(list, values);
  }

  /** Locks the tree of folders until the end of the transaction. */
  async lockTree(tx: Tx, tenantId: string, ownerId: string): Promise<void> {
    await tx.query(lockTree, [tenantId, ownerId]);
  }

  /** A folder that the caller sees, or null. */
  async find(
    reader: Reader,
    { tenantId, userId }: RequestContext,
    id: string,
  ): Promise<FolderWithRole | null> {
    const member = await rowsOf(reader, TaskFolderMember).one({
      tenant_id: tenantId,
      folder_id: id,
      user_id: userId,
    });
    if (!member?.role) return null;
    const folder = await rowsOf(reader, TaskFolder).one({ tenant_id: tenantId, id, gone_at: IsNull() });
    return folder && { folder, role: member.role };
  }

  /** All folders of an owner. Lock the tree first to change them. */
  async tree(tx: Tx, tenantId: string, ownerId: string): Promise<Tree> {
    const where = { tenant_id: tenantId, owner_id: ownerId, gone_at: IsNull() };
    return new Tree(await rowsOf(tx, TaskFolder).all(where, ['id', 'parent_id', 'position']));
  }

  /** The ids of all folders of an owner. */
  async ofOwner(tx: Tx, tenantId: string, ownerId: string): Promise<string[]> {
    const folders = await rowsOf(tx, TaskFolder).all(
      { tenant_id: tenantId, owner_id: ownerId, gone_at: IsNull() },
      ['id'],
    );
    return folders.map(({ id }) => id);
  }

  /** Null means that the id is taken. */
  async insert(tx: Tx, values: ColumnValues<TaskFolder>): Promise<TaskFolder | null> {
    return rowsOf(tx, TaskFolder).insert({ ...values, revision: 1, created_at: NOW, updated_at: NOW });
  }

  async change(tx: Tx, tenantId: string, ids: string[], values: ColumnValues<TaskFolder>): Promise<void> {
    const updatedAt = () => 'greatest(clock_timestamp(), updated_at)';
    const changes = { ...values, revision: () => 'revision + 1', updated_at: updatedAt };
    if (ids.length > 0) await rowsOf(tx, TaskFolder).update({ tenant_id: tenantId, id: In(ids) }, changes);
  }

  async remove(tx: Tx, tenantId: string, ids: string[]): Promise<void> {
    await rowsOf(tx, TaskFolder).update({ tenant_id: tenantId, id: In(ids) }, { gone_at: NOW });
  }

  /** Locks the tasks in these folders, trashed ones included. @param limit maximum number; null: none @returns their ids */
  async lockTasks(
    tx: Tx,
    tenantId: string,
    folders: string[],
    limit: number | null = null,
  ): Promise<string[]> {
    return (await tx.query(lockTasks, [tenantId, folders, limit])).map(({ id }) => id);
  }

  /**
   * Updates the access to these folders and tasks, and numbers the changes in the feeds of the users.
   * @param folders each folder whose members or parent changed, with all folders below it
   * @param touched folders and `renumbered` tasks that are delivered even if the access to them has not changed
   */
  async apply(
    tx: Tx,
    tenantId: string,
    { folders, touched, tasks = [], renumbered = [], device = null }: TreeChange,
  ): Promise<void> {
    await tx.query(apply, [tenantId, folders, touched, tasks, renumbered, device]);
  }

  /** Number of users who gain or lose access to a folder by its new members. @param path ids of the folder and of those above it */
  async audienceChange(tx: Tx, tenantId: string, id: string, path: string[]): Promise<number> {
    return (await tx.query(audienceChange, [tenantId, id, path]))[0]?.users ?? 0;
  }

  /** Users who see any of these folders or tasks. */
  async audience(tx: Tx, tenantId: string, folders: string[], tasks: string[]): Promise<string[]> {
    return (await tx.query(audience, [tenantId, folders, tasks])).map((row) => row.user_id);
  }

  /** The tasks among these that the caller created, without the trash. */
  async ownTasks(tx: Tx, ctx: RequestContext, tasks: string[]): Promise<OwnTask[]> {
    return tx.query(ownTasks, [ctx.tenantId, ctx.userId, tasks]);
  }

  /** Moves locked tasks to the trash as `intoTrash` decides. */
  async trashTasks(
    tx: Tx,
    { tenantId }: RequestContext,
    tasks: OwnTask[],
    command: TrashedBy,
  ): Promise<void> {
    if (tasks.length === 0) return;
    const { columns, activity, events } = intoTrash(command, tasks[0]!.now);
    const moved = {
      columns: {
        ...columns,
        deleted_at: timestampText(columns.deleted_at),
        purge_at: timestampText(columns.purge_at),
      },
      activity,
      events: tasks.flatMap((task) => listEvents(task, command.userId, events)),
    };
    await tx.query(trashTasks, [tenantId, tasks.map(({ id }) => id), moved]);
  }

  /** Takes tasks out of these folders. */
  async unfile(tx: Tx, tenantId: string, tasks: string[], folders: string[]): Promise<void> {
    await tx.query(unfile, [tenantId, tasks, folders]);
  }
}

interface TreeChange {
  folders: string[];
  touched: string[];
  tasks?: string[];
  renumbered?: string[];
  /** Name of the client that writes. */
  device?: string | null;
}

// Index task_folders_gone. When two transactions delete the last removals of a folder at the same time, neither deletes its row:
// the next call in the workspace does.
const forgetFolders = workspace.statement<never>(
  'task_folders.forget_folders',
  `DELETE FROM task_folders folder WHERE folder.tenant_id = $1 AND folder.gone_at < $2
      AND NOT EXISTS (SELECT FROM task_folder_members member
                       WHERE member.tenant_id = folder.tenant_id AND member.folder_id = folder.id)`,
);

/** Task folders as a synchronised collection. */
@Injectable()
export class TaskFolderFeedRepository extends MemberFeed {
  readonly plural = TASK_FOLDERS.many;
  readonly indexPath = TASK_FOLDERS.indexPath;

  constructor(db: Db) {
    super(db, {
      collection: TASK_FOLDERS.collection,
      members: 'task_folder_members',
      item: 'folder_id',
      items: 'task_folders',
      // The JSON lists all members of the folder. The estimate omits the inherited ones.
      bytes: { content: '512 * cardinality(item.member_ids)', summary: '512 * cardinality(item.member_ids)' },
      view: 'task_folder_views',
      viewItem: 'id',
      json: { content: 'folder', summary: 'folder' },
      reason: `CASE entry.gone WHEN 1 THEN 'unshared' ELSE 'deleted' END`,
    });
  }

  /** Deletes the row of a deleted folder once its removal has expired for every user. */
  override async forgetRemovals(tx: Tx, owner: FeedOwner, before: Date): Promise<number | null> {
    const highest = await super.forgetRemovals(tx, owner, before);
    await tx.query(forgetFolders, [owner.tenant_id, before]);
    return highest;
  }
}
