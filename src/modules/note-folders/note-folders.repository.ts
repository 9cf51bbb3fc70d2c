import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';

export const MAX_DEPTH = 32;
export const MAX_FOLDERS = 5_000;

export interface FolderOutcome {
  outcome:
    | 'ok'
    | 'not_found'
    | 'unchecked'
    | 'already_exists'
    | 'unknown_parent'
    | 'cycle'
    | 'too_deep'
    | 'too_many'
    | 'no_changes';
  json: string | null;
}

export interface FolderInput {
  name?: string;
  parent_id?: string | null;
  position?: number;
  color?: string | null;
}

export interface FolderListRow {
  id: string;
  position: number;
  folder: string;
}

const read = workspace.statement<{ folder: string; parent_id: string | null }>(
  'note_folders.read',
  `SELECT folder, parent_id FROM note_folder_views WHERE tenant_id = $1 AND owner_id = $2 AND id = $3`,
);

const list = workspace.statement<FolderListRow>(
  'note_folders.list',
  `SELECT id, position, folder FROM note_folder_views
    WHERE tenant_id = $1 AND owner_id = $2 AND ($3 = 'any' OR parent_id IS NOT DISTINCT FROM $4::uuid)
      AND (position, id) > ($5, $6::uuid) ORDER BY position, id LIMIT $7`,
);

const create = workspace.statement<FolderOutcome>(
  'note_folders.create',
  `SELECT outcome, json FROM note_folder_create($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

const update = workspace.statement<FolderOutcome>(
  'note_folders.update',
  `SELECT outcome, json FROM note_folder_update($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);

const lock = workspace.statement<never>('note_folders.lock', `SELECT note_folder_lock($1, $2)`);

const below = workspace.statement<{ id: string }>(
  'note_folders.below',
  `SELECT id FROM note_folder_below($1, $2, $3)`,
);

const remove = workspace.statement<never>(
  'note_folders.delete',
  `SELECT note_folder_delete($1, $2, $3, $4, $5)`,
);

const FIRST: readonly [number, string] = [Number.NEGATIVE_INFINITY, '00000000-0000-0000-0000-000000000000'];

/** All SQL on note folders. */
@Injectable()
export class NoteFoldersRepository {
  constructor(private readonly db: Db) {}

  async read(
    ctx: RequestContext,
    id: string,
    tx?: Tx,
  ): Promise<{ folder: string; parent_id: string | null } | null> {
    return (await (tx ?? this.db).query(read, [ctx.tenantId, ctx.userId, id]))[0] ?? null;
  }

  /** @param parent undefined: wherever they lie; null: at the top */
  async list(
    ctx: RequestContext,
    parent: string | null | undefined,
    after: readonly [number, string] = FIRST,
    limit: number,
  ): Promise<FolderListRow[]> {
    const which = parent === undefined ? 'any' : 'children';
    return this.db.query(list, [ctx.tenantId, ctx.userId, which, parent ?? null, ...after, limit]);
  }

  async create(
    tx: Tx,
    ctx: RequestContext,
    id: string,
    input: FolderInput & { name: string },
  ): Promise<FolderOutcome> {
    const { name, parent_id = null, position = null, color = null } = input;
    const values = [ctx.tenantId, ctx.userId, id, name, parent_id, position, color, MAX_DEPTH, MAX_FOLDERS];
    return (await tx.query(create, values))[0] as FolderOutcome;
  }

  /** @param input null: the request is wrong; outcome `unchecked` unless the folder is not there */
  async update(tx: Tx, ctx: RequestContext, id: string, input: FolderInput | null): Promise<FolderOutcome> {
    const { name = null, parent_id, position = null, color } = input ?? {};
    const parent = [parent_id !== undefined, parent_id ?? null];
    const values = [
      ctx.tenantId,
      ctx.userId,
      id,
      input !== null,
      name,
      ...parent,
      position,
      color !== undefined,
      color ?? null,
      MAX_DEPTH,
    ];
    return (await tx.query(update, values))[0] as FolderOutcome;
  }

  /** Makes changes of this person's tree wait for the end of the transaction. */
  async lock(tx: Tx, ctx: RequestContext): Promise<void> {
    await tx.query(lock, [ctx.tenantId, ctx.userId]);
  }

  /** The folder and those below it. */
  async below(tx: Tx, ctx: RequestContext, id: string): Promise<string[]> {
    return (await tx.query(below, [ctx.tenantId, ctx.userId, id])).map((row) => row.id);
  }

  /** @param folders whose notes have been seen to; @throws a retryable error when the tree has changed since */
  async delete(
    tx: Tx,
    ctx: RequestContext,
    id: string,
    withBelow: boolean,
    folders: string[],
  ): Promise<void> {
    await tx.query(remove, [ctx.tenantId, ctx.userId, id, withBelow, folders]);
  }
}
