import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { TaskErrors } from './tasks.dto.js';
import type { Task, TaskMember } from './tasks.schema.js';

interface LinkedTask extends Pick<Task, 'id' | 'title' | 'created_at' | 'linked_notes'> {
  users: string[];
}

/** A task as the caller sees it after a write; `json` is the task without its references. */
export interface StoredTask {
  revision: number;
  json: string;
  refs: string | null;
}

interface ReadTask {
  revision: number;
  task: string;
  refs: string | null;
}

const read = workspace.statement<ReadTask>(
  'tasks.read',
  `SELECT revision, task, refs FROM task_views WHERE tenant_id = $1 AND user_id = $2 AND task_id = $3`,
  { pipelined: true },
);

const readMany = workspace.statement<ReadTask & { id: string }>(
  'tasks.read_many',
  `SELECT task_id AS id, revision, task, refs FROM task_views WHERE tenant_id = $1 AND user_id = $2 AND task_id = ANY ($3::uuid[])`,
);

// Tasks are locked before the notes that link to them, as everywhere: tasks, then notes, then counters. Two statements: the
// second one has a snapshot from after the lock and includes users who joined while it waited.
const lockLinked = workspace.statement<never>(
  'tasks.lock_linked',
  `SELECT FROM tasks WHERE tenant_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id FOR UPDATE`,
);

const readLinked = workspace.statement<LinkedTask>(
  'tasks.read_linked',
  `SELECT task.id, task.title, task.created_at, task.linked_notes, ARRAY(
            SELECT viewer.user_id FROM task_audience(task) viewer
            UNION SELECT member.user_id FROM task_members member
                   WHERE member.tenant_id = $1 AND member.task_id = task.id AND member.role IS NOT NULL) AS users
     FROM tasks task WHERE task.tenant_id = $1 AND task.id = ANY ($2::uuid[]) ORDER BY task.id`,
);

// The position next to that of a task, among the tasks that the caller sees in the same folder. Index task_members_board, which
// supports IS NULL and = but not IS NOT DISTINCT FROM.
const nextKey = (folder: string, compare: string, order: string) => `(
    SELECT other.position FROM task_members other
     WHERE other.tenant_id = $1 AND other.user_id = $2 AND other.folder_id ${folder} AND other.role IS NOT NULL
       AND NOT other.trashed AND other.position ${compare} member.position
     ORDER BY other.position ${order} LIMIT 1)`;

const neighbour = (compare: string, order: string) => `
  SELECT member.position, CASE WHEN member.folder_id IS NULL THEN ${nextKey('IS NULL', compare, order)}
                               ELSE ${nextKey('= member.folder_id', compare, order)} END AS beyond
    FROM task_members member
   WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.task_id = $3 AND member.role IS NOT NULL
     AND NOT member.trashed`;

interface Neighbours {
  position: string;
  beyond: string | null;
}

const before = workspace.statement<Neighbours>('tasks.before', neighbour('<', 'DESC'));
const after = workspace.statement<Neighbours>('tasks.after', neighbour('>', 'ASC'));

const firstKey = (folder: string) => `
  SELECT position FROM task_members
   WHERE tenant_id = $1 AND user_id = $2 AND folder_id ${folder} AND role IS NOT NULL AND NOT trashed
   ORDER BY position LIMIT 1`;

const firstUnfiled = workspace.statement<Pick<TaskMember, 'position'>>(
  'tasks.first_unfiled',
  firstKey('IS NULL'),
);
const firstFiled = workspace.statement<Pick<TaskMember, 'position'>>('tasks.first_filed', firstKey('= $3'));

const folderOf = workspace.statement<Pick<TaskMember, 'folder_id'>>(
  'tasks.folder_of',
  `SELECT folder_id FROM task_members WHERE tenant_id = $1 AND user_id = $2 AND task_id = $3 AND role IS NOT NULL`,
);

/** All SQL on single tasks; lists are in `lists/`. */
@Injectable()
export class TasksRepository {
  constructor(private readonly db: Db) {}

  /** The task as the caller sees it; null without access. */
  async read(reader: Reader, ctx: RequestContext, id: string): Promise<ReadTask | null> {
    return (await reader.query(read, [ctx.tenantId, ctx.userId, id]))[0] ?? null;
  }

  /** The task as a write that changes nothing returns it. @throws ApiError 404 `not_found` without access */
  async readStored(reader: Reader, ctx: RequestContext, id: string): Promise<StoredTask> {
    const found = await this.read(reader, ctx, id);
    if (!found) throw TaskErrors.notFound.with();
    return { revision: found.revision, json: found.task, refs: found.refs };
  }

  /** The tasks that the caller can read. */
  async readMany(
    { tenantId, userId }: RequestContext,
    ids: readonly string[],
  ): Promise<(ReadTask & { id: string })[]> {
    return this.db.query(readMany, [tenantId, userId, [...new Set(ids)]]);
  }

  /** Locks tasks that notes link to. @returns them with the users whose feeds contain them */
  async lockLinked(tx: Tx, ctx: RequestContext, ids: string[]): Promise<LinkedTask[]> {
    await tx.query(lockLinked, [ctx.tenantId, ids]);
    return tx.query(readLinked, [ctx.tenantId, ids]);
  }

  /** The position of a task and that of its neighbour on the given side; null when the caller does not see the task. */
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

  /** The folder in which the caller sees the task; null also for a task that the caller does not see. */
  async folderOf(ctx: RequestContext, id: string): Promise<string | null> {
    return (await this.db.query(folderOf, [ctx.tenantId, ctx.userId, id]))[0]?.folder_id ?? null;
  }
}
