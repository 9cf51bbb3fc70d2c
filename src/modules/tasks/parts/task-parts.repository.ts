import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { TaskRole } from '../task.entity.js';
import type { Neighbours, TaskOutcome, TaskPatch } from '../tasks.repository.js';

export const MAX_SUBTASKS = 200;

/** What a write of a part of a task came to; `part` is its JSON, unless it was deleted. */
export interface TaskPartOutcome extends TaskOutcome {
  part: string | null;
}

export interface CommentRow {
  /** Null where the task can be read but has no (further) comments. */
  id: string | null;
  created_at: string | null;
  comment: string | null;
}

/** Everything about a task, for the panel beside it. */
export interface PanelRow {
  revision: number;
  role: TaskRole;
  deleted: boolean;
  task: string;
  refs: string | null;
  subtasks: string;
  attachments: string;
  activity: string;
}

const OUTCOME = 'outcome, revision, json, refs, part';

const createSubtask = workspace.statement<TaskPartOutcome>(
  'subtasks.create',
  `SELECT ${OUTCOME} FROM subtask_create($1, $2, $3, $4, $5, $6, $7)`,
);

const updateSubtask = workspace.statement<TaskPartOutcome>(
  'subtasks.update',
  `SELECT ${OUTCOME} FROM subtask_update($1, $2, $3, $4, $5, $6)`,
);

const deleteSubtask = workspace.statement<TaskPartOutcome>(
  'subtasks.delete',
  `SELECT ${OUTCOME} FROM subtask_delete($1, $2, $3, $4)`,
);

const createComment = workspace.statement<TaskPartOutcome>(
  'task_comments.create',
  `SELECT ${OUTCOME} FROM task_comment_create($1, $2, $3, $4, $5)`,
);

const writeComment = workspace.statement<TaskPartOutcome>(
  'task_comments.write',
  `SELECT ${OUTCOME} FROM task_comment_write($1, $2, $3, $4, $5, $6)`,
);

// Index task_comments_newest. One row without id when the caller may read the task but the page is empty.
const listComments = workspace.statement<CommentRow>(
  'task_comments.list',
  `SELECT c.id, c.created_at::text AS created_at, v.comment FROM task_members m
     LEFT JOIN LATERAL (
       SELECT id, created_at FROM task_comments
        WHERE tenant_id = $1 AND task_id = $3 AND (created_at, id) < ($4::timestamptz, $5::uuid)
        ORDER BY created_at DESC, id DESC LIMIT $6) c ON true
     LEFT JOIN task_comment_views v ON v.tenant_id = $1 AND v.task_id = $3 AND v.id = c.id
    WHERE m.tenant_id = $1 AND m.user_id = $2 AND m.task_id = $3 AND m.role IS NOT NULL
    ORDER BY c.created_at DESC, c.id DESC`,
);

const subtaskSide = (compare: string, order: string) => `
  SELECT s.position, (
    SELECT n.position FROM subtasks n WHERE n.tenant_id = $1 AND n.task_id = $3 AND n.position ${compare} s.position
     ORDER BY n.position ${order} LIMIT 1) AS beyond
    FROM subtasks s JOIN task_members m ON m.tenant_id = $1 AND m.task_id = $3 AND m.user_id = $2 AND m.role IS NOT NULL
   WHERE s.tenant_id = $1 AND s.task_id = $3 AND s.id = $4`;

const before = workspace.statement<Neighbours>('subtasks.before', subtaskSide('<', 'DESC'));
const after = workspace.statement<Neighbours>('subtasks.after', subtaskSide('>', 'ASC'));

const firstSubtask = workspace.statement<{ first: string | null }>(
  'subtasks.first_position',
  `SELECT min(s.position) AS first FROM subtasks s
     JOIN task_members m ON m.tenant_id = $1 AND m.task_id = $3 AND m.user_id = $2 AND m.role IS NOT NULL
    WHERE s.tenant_id = $1 AND s.task_id = $3`,
);

const panel = workspace.statement<PanelRow>(
  'tasks.panel',
  `SELECT v.revision, v.role, t.deleted_at IS NOT NULL AS deleted, v.task, v.refs, t.attachments::text AS attachments,
          (SELECT coalesce(json_agg(s.subtask ORDER BY s.position, s.id), '[]')::text
             FROM subtask_views s WHERE s.tenant_id = $1 AND s.task_id = $3) AS subtasks,
          (SELECT coalesce(json_agg(json_build_object(
                    'type', a.type, 'at', rfc3339(a.at), 'data', a.data,
                    'actor', CASE WHEN a.actor_id IS NOT NULL THEN
                      json_build_object('id', a.actor_id, 'email', p.email, 'name', p.display_name) END) ORDER BY a.n DESC), '[]')::text
             FROM (SELECT * FROM task_activity WHERE tenant_id = $1 AND task_id = $3 ORDER BY n DESC LIMIT $4) a
             LEFT JOIN tenant_members p ON p.tenant_id = $1 AND p.user_id = a.actor_id) AS activity
     FROM task_views v JOIN tasks t ON t.tenant_id = v.tenant_id AND t.id = v.task_id
    WHERE v.tenant_id = $1 AND v.user_id = $2 AND v.task_id = $3`,
);

/** All SQL on what hangs on a task: subtasks, comments, history. */
@Injectable()
export class TaskPartsRepository {
  constructor(private readonly db: Db) {}

  /** @param fields null: the request is wrong; outcome `unchecked` unless something comes before that */
  async createSubtask(
    tx: Tx,
    ctx: RequestContext,
    task: string,
    id: string,
    fields: TaskPatch | null,
  ): Promise<TaskPartOutcome> {
    const values = [ctx.tenantId, ctx.userId, task, id, fields !== null, fields ?? {}, MAX_SUBTASKS];
    return one(await tx.query(createSubtask, values));
  }

  async updateSubtask(
    tx: Tx,
    ctx: RequestContext,
    task: string,
    id: string,
    fields: TaskPatch | null,
  ): Promise<TaskPartOutcome> {
    const values = [ctx.tenantId, ctx.userId, task, id, fields !== null, fields ?? {}];
    return one(await tx.query(updateSubtask, values));
  }

  async deleteSubtask(tx: Tx, ctx: RequestContext, task: string, id: string): Promise<TaskPartOutcome> {
    return one(await tx.query(deleteSubtask, [ctx.tenantId, ctx.userId, task, id]));
  }

  /** @param body null: the request is wrong */
  async createComment(
    tx: Tx,
    ctx: RequestContext,
    task: string,
    id: string,
    body: string | null,
  ): Promise<TaskPartOutcome> {
    return one(await tx.query(createComment, [ctx.tenantId, ctx.userId, task, id, body]));
  }

  /** @param body null: the request is wrong */
  async editComment(
    tx: Tx,
    ctx: RequestContext,
    task: string,
    id: string,
    body: string | null,
  ): Promise<TaskPartOutcome> {
    return one(await tx.query(writeComment, [ctx.tenantId, ctx.userId, task, id, body, false]));
  }

  async deleteComment(tx: Tx, ctx: RequestContext, task: string, id: string): Promise<TaskPartOutcome> {
    return one(await tx.query(writeComment, [ctx.tenantId, ctx.userId, task, id, null, true]));
  }

  /** Newest first, those before `after`; null when the caller may not read the task. */
  async listComments(
    ctx: RequestContext,
    task: string,
    after: readonly [string, string] = ['infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
    limit: number,
  ): Promise<CommentRow[] | null> {
    const rows = await this.db.query(listComments, [ctx.tenantId, ctx.userId, task, ...after, limit]);
    return rows.length === 0 ? null : rows.filter((row) => row.id !== null);
  }

  async subtaskNeighbours(
    ctx: RequestContext,
    task: string,
    id: string,
    side: 'before' | 'after',
  ): Promise<Neighbours | null> {
    const query = side === 'before' ? before : after;
    return (await this.db.query(query, [ctx.tenantId, ctx.userId, task, id]))[0] ?? null;
  }

  async firstSubtask(ctx: RequestContext, task: string): Promise<string | null> {
    return (await this.db.query(firstSubtask, [ctx.tenantId, ctx.userId, task]))[0]?.first ?? null;
  }

  /** @param activity how many entries of the history */
  async panel(ctx: RequestContext, id: string, activity: number): Promise<PanelRow | null> {
    return (await this.db.query(panel, [ctx.tenantId, ctx.userId, id, activity]))[0] ?? null;
  }
}

function one<Row>(rows: Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error('a function that returns one row returned none');
  return row;
}
