import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader } from '../../../platform/database/tx.js';
import { fitsPage, PAGE_BYTES } from '../../../platform/bounded-pages/page-bytes.js';
import type { TaskRole } from '../tasks.schema.js';

export interface CommentRow {
  id: string;
  created_at: string;
  fits: boolean;
  /** JSON; null for a comment beyond the bytes of the page. */
  comment: string | null;
}

/** A task with its parts as JSON texts. */
interface PanelRow {
  role: TaskRole;
  deleted: boolean;
  task: string;
  refs: string | null;
  subtasks: string;
  attachments: string;
  activity: string;
}

// Index task_comments_newest. One row without id when the caller may read the task but the page is empty.
const listComments = workspace.statement<CommentRow | { id: null }>(
  'task_comments.list',
  `SELECT page.id, page.created_at::text AS created_at, page.fits, shown.comment FROM task_members member
     LEFT JOIN LATERAL (
       SELECT sized.id, sized.created_at, ${fitsPage('sized.bytes', '$6', '$7')} AS fits FROM (
         SELECT id, created_at, 1024 + octet_length(body) AS bytes FROM task_comments
          WHERE tenant_id = $1 AND task_id = $3 AND (created_at, id) < ($4::timestamptz, $5::uuid)
          ORDER BY created_at DESC, id DESC LIMIT $6) sized
       WINDOW page_order AS (ORDER BY sized.created_at DESC, sized.id DESC ROWS UNBOUNDED PRECEDING)) page ON true
     LEFT JOIN LATERAL (
       SELECT listed.comment FROM task_comment_views listed
        WHERE page.fits AND listed.tenant_id = $1 AND listed.task_id = $3 AND listed.id = page.id OFFSET 0) shown ON true
    WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.task_id = $3 AND member.role IS NOT NULL
    ORDER BY page.created_at DESC, page.id DESC`,
);

const readComment = workspace.statement<{ comment: string }>(
  'task_comments.read',
  `SELECT comment FROM task_comment_views WHERE tenant_id = $1 AND task_id = $2 AND id = $3`,
);

const panel = workspace.statement<PanelRow>(
  'tasks.panel',
  `SELECT shown.role, task.deleted_at IS NOT NULL AS deleted, shown.task, shown.refs, task.attachments::text AS attachments,
          (SELECT coalesce(json_agg(step.subtask ORDER BY step.position, step.id), '[]')::text
             FROM subtask_views step WHERE step.tenant_id = $1 AND step.task_id = $3) AS subtasks,
          (SELECT coalesce(json_agg(json_build_object(
                    'type', entry.type, 'at', rfc3339(entry.at), 'data', entry.data,
                    'actor', CASE WHEN entry.actor_id IS NOT NULL THEN
                      json_build_object('id', entry.actor_id, 'email', actor.email, 'name', actor.display_name) END)
                    ORDER BY entry.n DESC), '[]')::text
             FROM (SELECT * FROM task_activity
                    WHERE tenant_id = $1 AND task_id = $3 AND (shown.role = 'owner' OR n > member.history_from)
                    ORDER BY n DESC LIMIT $4) entry
             LEFT JOIN member_profiles actor ON actor.tenant_id = $1 AND actor.user_id = entry.actor_id) AS activity
     FROM task_views shown JOIN tasks task ON task.tenant_id = shown.tenant_id AND task.id = shown.task_id
     JOIN task_members member ON member.tenant_id = shown.tenant_id AND member.task_id = shown.task_id
                             AND member.user_id = shown.user_id
    WHERE shown.tenant_id = $1 AND shown.user_id = $2 AND shown.task_id = $3`,
);

/** Reads the parts of a task: comments, and everything for its panel. */
@Injectable()
export class TaskPartsRepository {
  constructor(private readonly db: Db) {}

  /** Comments older than `after`, newest first, those beyond the bytes of the page without content; null when the caller may not read the task. */
  async listComments(
    ctx: RequestContext,
    task: string,
    after: readonly [string, string] = ['infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
    limit: number,
  ): Promise<CommentRow[] | null> {
    const values = [ctx.tenantId, ctx.userId, task, ...after, limit, PAGE_BYTES];
    const rows = await this.db.query(listComments, values);
    return rows.length === 0 ? null : rows.filter((row) => row.id !== null);
  }

  /** JSON of one comment. */
  async comment(reader: Reader, ctx: RequestContext, task: string, id: string): Promise<string> {
    return (await reader.query(readComment, [ctx.tenantId, task, id]))[0]?.comment ?? 'null';
  }

  /** @param activity number of entries of the history */
  async panel(ctx: RequestContext, id: string, activity: number): Promise<PanelRow | null> {
    return (await this.db.query(panel, [ctx.tenantId, ctx.userId, id, activity]))[0] ?? null;
  }
}
