import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { errorCode } from '../../platform/database/database-errors.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';

/** What a write of a task came to; `json` is the task without its references, or the extra members of the error. */
export interface TaskOutcome {
  outcome:
    | 'ok'
    | 'not_found'
    | 'part_not_found'
    | 'forbidden'
    | 'deleted'
    | 'unchecked'
    | 'conflict'
    | 'unknown_folder'
    | 'unknown_zone'
    | 'no_date'
    | 'cannot_see'
    | 'already_exists'
    | 'too_many'
    /** Notes link back to the task: see to them in the same transaction, then write again. */
    | 'linked'
    /** The task repeats: work out its next occurrence, then write again. */
    | 'replan';
  revision: number | null;
  json: string | null;
  refs: string | null;
}

/** Fields as the functions take them: see `task_merge`. */
export type TaskPatch = Record<string, unknown>;

export interface NextTask {
  id: string;
  date: string;
  due_at: string | null;
  folder_id: string | null;
}

export interface TaskWrite {
  /** The revision the client read; null when it did not say. */
  base: number | null;
  /** Null: the request is wrong; outcome `unchecked` unless something comes before that. */
  patch: TaskPatch | null;
  /** The next occurrence, if there is one, worked out at revision `plannedAt`. */
  next?: NextTask | null;
  plannedAt?: number | null;
  linksSeenTo?: boolean;
}

export interface LinkedTask {
  id: string;
  title: string;
  created_at: Date;
  linked_notes: string[];
  people: string[];
}

const read = workspace.statement<{ revision: number; task: string; refs: string | null }>(
  'tasks.read',
  `SELECT revision, task, refs FROM task_views WHERE tenant_id = $1 AND user_id = $2 AND task_id = $3`,
);

const OUTCOME = 'outcome, revision, json, refs';

const create = workspace.statement<TaskOutcome>(
  'tasks.create',
  `SELECT ${OUTCOME} FROM task_create($1, $2, $3, $4)`,
);

const update = workspace.statement<TaskOutcome>(
  'tasks.update',
  `SELECT ${OUTCOME} FROM task_update($1, $2, $3, $4, $5, $6, $7, $8)`,
);

const trash = workspace.statement<TaskOutcome>(
  'tasks.trash',
  `SELECT ${OUTCOME} FROM task_trash($1, $2, $3, $4, $5, $6, $7)`,
);

const restore = workspace.statement<TaskOutcome>(
  'tasks.restore',
  `SELECT ${OUTCOME} FROM task_restore($1, $2, $3, $4)`,
);

const shareTree = workspace.statement<never>('tasks.share_tree', `SELECT task_tree_share($1, $2)`);

const folderReaders = workspace.statement<{ user_id: string }>(
  'tasks.folder_readers',
  `SELECT user_id FROM task_folder_members WHERE tenant_id = $1 AND folder_id = $2 AND role IS NOT NULL`,
);

// Locked before the notes that link back to it, as everywhere: tasks, then notes, then counters.
// In two statements: the second has a snapshot from after the lock, and so sees who has joined while it was waited for.
const lockLinked = workspace.statement<never>(
  'tasks.lock_linked',
  `SELECT FROM tasks WHERE tenant_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id FOR UPDATE`,
);

const readLinked = workspace.statement<LinkedTask>(
  'tasks.read_linked',
  `SELECT t.id, t.title, t.created_at, t.linked_notes,
          ARRAY(SELECT user_id FROM task_members m WHERE m.tenant_id = $1 AND m.task_id = t.id AND m.role IS NOT NULL) AS people
     FROM tasks t WHERE t.tenant_id = $1 AND t.id = ANY ($2::uuid[]) ORDER BY t.id`,
);

// Index task_members_board, which knows IS NULL and = but not IS NOT DISTINCT FROM: the key next to that of one task, in
// the same folder, as the caller sees it.
const nextKey = (folder: string, compare: string, order: string) => `(
    SELECT n.position FROM task_members n
     WHERE n.tenant_id = $1 AND n.user_id = $2 AND n.folder_id ${folder} AND n.role IS NOT NULL AND NOT n.trashed
       AND n.position ${compare} m.position
     ORDER BY n.position ${order} LIMIT 1)`;

const neighbour = (compare: string, order: string) => `
  SELECT m.position, CASE WHEN m.folder_id IS NULL THEN ${nextKey('IS NULL', compare, order)}
                          ELSE ${nextKey('= m.folder_id', compare, order)} END AS beyond
    FROM task_members m
   WHERE m.tenant_id = $1 AND m.user_id = $2 AND m.task_id = $3 AND m.role IS NOT NULL AND NOT m.trashed`;

export interface Neighbours {
  position: string;
  beyond: string | null;
}

const before = workspace.statement<Neighbours>('tasks.before', neighbour('<', 'DESC'));
const after = workspace.statement<Neighbours>('tasks.after', neighbour('>', 'ASC'));

const firstKey = (folder: string) => `
  SELECT position FROM task_members
   WHERE tenant_id = $1 AND user_id = $2 AND folder_id ${folder} AND role IS NOT NULL AND NOT trashed
   ORDER BY position LIMIT 1`;

const firstUnfiled = workspace.statement<{ position: string }>('tasks.first_unfiled', firstKey('IS NULL'));
const firstFiled = workspace.statement<{ position: string }>('tasks.first_filed', firstKey('= $3'));

const folderOf = workspace.statement<{ folder_id: string | null }>(
  'tasks.folder_of',
  `SELECT folder_id FROM task_members WHERE tenant_id = $1 AND user_id = $2 AND task_id = $3 AND role IS NOT NULL`,
);

/** All SQL on single tasks; lists stand in `task-list.repository.ts`. */
@Injectable()
export class TasksRepository {
  constructor(private readonly db: Db) {}

  /** The task as the caller sees it; null when they do not. */
  async read(
    ctx: RequestContext,
    id: string,
  ): Promise<{ revision: number; task: string; refs: string | null } | null> {
    return (await this.db.query(read, [ctx.tenantId, ctx.userId, id]))[0] ?? null;
  }

  async create(tx: Tx, ctx: RequestContext, id: string, fields: TaskPatch): Promise<TaskOutcome> {
    return outcomeOf(tx.query(create, [ctx.tenantId, ctx.userId, id, fields]));
  }

  async update(tx: Tx, ctx: RequestContext, id: string, write: TaskWrite): Promise<TaskOutcome> {
    const { base, patch, next = null, plannedAt = null, linksSeenTo = false } = write;
    const values = [ctx.tenantId, ctx.userId, id, base, patch, next, plannedAt, linksSeenTo];
    return outcomeOf(tx.query(update, values));
  }

  /**
   * @param valid false: the request is wrong
   * @param keepDays days until it may be purged by itself; 0: never
   */
  async trash(
    tx: Tx,
    ctx: RequestContext,
    id: string,
    { base, valid, linksSeenTo }: { base: number | null; valid: boolean; linksSeenTo: boolean },
    keepDays: number,
  ): Promise<TaskOutcome> {
    const values = [ctx.tenantId, ctx.userId, id, base, valid, keepDays, linksSeenTo];
    return outcomeOf(tx.query(trash, values));
  }

  async restore(tx: Tx, ctx: RequestContext, id: string, linksSeenTo: boolean): Promise<TaskOutcome> {
    return outcomeOf(tx.query(restore, [ctx.tenantId, ctx.userId, id, linksSeenTo]));
  }

  /** Makes changes of the folder's tree wait for the end of the transaction; the first lock of one. */
  async shareTree(tx: Tx, ctx: RequestContext, folder: string): Promise<void> {
    await tx.query(shareTree, [ctx.tenantId, folder]);
  }

  /** Who sees the folder; no longer changes while its tree is shared. */
  async folderReaders(tx: Tx, ctx: RequestContext, folder: string): Promise<string[]> {
    const rows = await tx.query(folderReaders, [ctx.tenantId, folder]);
    return rows.map((row) => row.user_id);
  }

  /** Locks tasks that notes link back to. @returns them with everybody who sees them */
  async lockLinked(tx: Tx, ctx: RequestContext, ids: string[]): Promise<LinkedTask[]> {
    await tx.query(lockLinked, [ctx.tenantId, ids]);
    return tx.query(readLinked, [ctx.tenantId, ids]);
  }

  /** The position of a task and that of the next one on the given side; null when the caller does not see the task. */
  async neighbours(ctx: RequestContext, id: string, side: 'before' | 'after'): Promise<Neighbours | null> {
    return (
      (await this.db.query(side === 'before' ? before : after, [ctx.tenantId, ctx.userId, id]))[0] ?? null
    );
  }

  async firstPosition(ctx: RequestContext, folder: string | null): Promise<string | null> {
    const rows =
      folder === null
        ? await this.db.query(firstUnfiled, [ctx.tenantId, ctx.userId])
        : await this.db.query(firstFiled, [ctx.tenantId, ctx.userId, folder]);
    return rows[0]?.position ?? null;
  }

  /** Where the caller sees the task; null also for a task they do not see. */
  async folderOf(ctx: RequestContext, id: string): Promise<string | null> {
    return (await this.db.query(folderOf, [ctx.tenantId, ctx.userId, id]))[0]?.folder_id ?? null;
  }
}

/** The one row of a function; what it raises by itself is an outcome too. */
export async function outcomeOf(query: Promise<TaskOutcome[]>): Promise<TaskOutcome> {
  try {
    const [row] = await query;
    if (row === undefined) throw new Error('a function that returns one row returned none');
    return row;
  } catch (error) {
    if (errorCode(error) !== 'WS003') throw error;
    return { outcome: 'unknown_zone', revision: null, json: null, refs: null };
  }
}
