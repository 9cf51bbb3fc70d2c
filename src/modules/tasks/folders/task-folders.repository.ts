import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { errorCode } from '../../../platform/database/database-errors.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { TaskRole } from '../task.entity.js';

export const MAX_DEPTH = 32;
export const MAX_FOLDERS = 5_000;
/** Rows of tasks that one change of a folder's members may write: some seconds of work. */
const MAX_ROWS = 200_000;

export interface TaskFolderOutcome {
  outcome:
    | 'ok'
    | 'not_found'
    | 'forbidden'
    | 'unchecked'
    | 'already_exists'
    | 'unknown_parent'
    | 'cycle'
    | 'too_deep'
    | 'too_many'
    | 'too_large';
  json: string | null;
}

export interface FolderMembers {
  ids: string[];
  /** As stored: 2 editor, 1 viewer. */
  roles: TaskRole[];
}

export interface TaskFolderInput {
  name?: string;
  parent_id?: string | null;
  position?: number;
  color?: string | null;
  members?: FolderMembers;
}

export interface TaskFolderRow {
  id: string;
  position: number;
  folder: string;
}

export interface DoomedFolder {
  outcome: 'ok' | 'not_found' | 'forbidden';
  json: string | null;
  people: string[] | null;
  linked: string[] | null;
}

const read = workspace.statement<{ folder: string }>(
  'task_folders.read',
  `SELECT folder FROM task_folder_views WHERE tenant_id = $1 AND user_id = $2 AND id = $3`,
);

const list = workspace.statement<TaskFolderRow>(
  'task_folders.list',
  `SELECT id, position, folder FROM task_folder_views
    WHERE tenant_id = $1 AND user_id = $2 AND ($3 = 'any' OR parent_id IS NOT DISTINCT FROM $4::uuid)
      AND (position, id) > ($5, $6::uuid) ORDER BY position, id LIMIT $7`,
);

const create = workspace.statement<TaskFolderOutcome>(
  'task_folders.create',
  `SELECT outcome, json FROM task_folder_create($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);

const update = workspace.statement<TaskFolderOutcome>(
  'task_folders.update',
  `SELECT outcome, json FROM task_folder_update($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
);

const doom = workspace.statement<DoomedFolder>(
  'task_folders.doom',
  `SELECT outcome, json, people, linked FROM task_folder_doom($1, $2, $3, $4)`,
);

const remove = workspace.statement<never>(
  'task_folders.delete',
  `SELECT task_folder_delete($1, $2, $3, $4, $5)`,
);

const FIRST: readonly [number, string] = [Number.NEGATIVE_INFINITY, '00000000-0000-0000-0000-000000000000'];

/** All SQL on task folders. */
@Injectable()
export class TaskFoldersRepository {
  constructor(private readonly db: Db) {}

  async read(ctx: RequestContext, id: string): Promise<string | null> {
    return (await this.db.query(read, [ctx.tenantId, ctx.userId, id]))[0]?.folder ?? null;
  }

  /** @param parent undefined: wherever they lie; null: in none that the caller sees */
  async list(
    ctx: RequestContext,
    parent: string | null | undefined,
    after: readonly [number, string] = FIRST,
    limit: number,
  ): Promise<TaskFolderRow[]> {
    const which = parent === undefined ? 'any' : 'children';
    return this.db.query(list, [ctx.tenantId, ctx.userId, which, parent ?? null, ...after, limit]);
  }

  async create(
    tx: Tx,
    ctx: RequestContext,
    id: string,
    input: TaskFolderInput & { name: string },
  ): Promise<TaskFolderOutcome> {
    const { name, parent_id = null, position = null, color = null, members } = input;
    const { ids, roles } = members ?? { ids: [], roles: [] };
    const limits = [MAX_DEPTH, MAX_FOLDERS];
    const values = [ctx.tenantId, ctx.userId, id, name, parent_id, position, color, ids, roles, ...limits];
    return (await tx.query(create, values))[0] as TaskFolderOutcome;
  }

  /** @param input null: the request is wrong; outcome `unchecked` unless something comes before that */
  async update(
    tx: Tx,
    ctx: RequestContext,
    id: string,
    input: TaskFolderInput | null,
  ): Promise<TaskFolderOutcome> {
    const { name = null, parent_id, position = null, color, members } = input ?? {};
    const values = [
      ctx.tenantId,
      ctx.userId,
      id,
      input !== null,
      name,
      parent_id !== undefined,
      parent_id ?? null,
      position,
      color !== undefined,
      color ?? null,
      members?.ids ?? null,
      members?.roles ?? null,
      MAX_DEPTH,
      MAX_ROWS,
    ];
    try {
      return (await tx.query(update, values))[0] as TaskFolderOutcome;
    } catch (error) {
      if (errorCode(error) === 'WS002') return { outcome: 'too_large', json: null };
      throw error;
    }
  }

  /** Locks the tree and its tasks for `delete` in the same transaction. */
  async doom(tx: Tx, ctx: RequestContext, id: string, contents: boolean): Promise<DoomedFolder> {
    return (await tx.query(doom, [ctx.tenantId, ctx.userId, id, contents]))[0] as DoomedFolder;
  }

  async delete(tx: Tx, ctx: RequestContext, id: string, contents: boolean, keepDays: number): Promise<void> {
    await tx.query(remove, [ctx.tenantId, ctx.userId, id, contents, keepDays]);
  }
}
