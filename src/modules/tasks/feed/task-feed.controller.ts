import { Controller, Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { FeedSqlRow } from '../../../platform/sync/feed-source.js';
import { FeedController } from '../../../platform/sync/feed.controller.js';
import { MemberFeed } from '../../../platform/sync/member-feed.js';
import { TaskReferences } from '../responses/task-references.js';
import { TASK_SUMMARY_BYTES } from '../tasks.schema.js';
import { TaskChangesEnvelope, TaskIndexEnvelope } from './task-feed.response.js';

interface TaskFeedRow extends FeedSqlRow {
  refs: string | null;
  /** Null for a removal. */
  task_id: string | null;
}

const BYTES = `${TASK_SUMMARY_BYTES} + coalesce(octet_length(item.description), 0)
  + CASE WHEN item.comments_count = 0 THEN 0 ELSE (
      SELECT coalesce(sum(512 + octet_length(newest.body)), 0) FROM (
        SELECT comment.body FROM task_comments comment WHERE comment.tenant_id = $1 AND comment.task_id = item.id
         ORDER BY comment.created_at DESC, comment.id DESC LIMIT 50) newest) END`;

/** Tasks as a synchronised collection. */
@Injectable()
export class TaskFeedRepository extends MemberFeed<TaskFeedRow> {
  readonly plural = ['tasks'];
  readonly indexPath = '/apis/v1/tasks/index';

  constructor(
    db: Db,
    private readonly references: TaskReferences,
  ) {
    super(db, {
      collection: 'tasks',
      members: 'task_members',
      item: 'task_id',
      items: 'tasks',
      bytes: { content: BYTES, summary: TASK_SUMMARY_BYTES },
      view: 'task_views',
      viewItem: 'task_id',
      json: { content: 'synced', summary: 'summary' },
      more: ['refs', 'task_id'],
      reason: `CASE entry.gone WHEN 1 THEN 'unshared' ELSE 'purged' END`,
    });
  }

  protected override async complete(ctx: RequestContext, rows: TaskFeedRow[]): Promise<TaskFeedRow[]> {
    const live = rows.filter((row) => row.json !== null && row.task_id !== null);
    const given = live.map(({ json, refs }) => ({ task: json as string, refs }));
    const tasks = await this.references.complete(this.db, ctx, given);
    for (const [n, row] of live.entries()) row.json = tasks[n] as string;
    return rows;
  }
}

const Feeds = FeedController({
  source: TaskFeedRepository,
  tag: 'tasks',
  item: 'task',
  changes: {
    type: TaskChangesEnvelope,
    description:
      'Every task that changed, once, as it is now, with its newest comments; tasks that were purged or that you no longer see are removals. `include=summary` omits descriptions and comments. Titles of references are current, but a task is not repeated when they change. `updated_device` names the client of the last write, so that a client can skip its own changes. Otherwise as for notes.',
  },
  index: {
    type: TaskIndexEnvelope,
    summary: 'Rebuild the task index',
    description:
      'All tasks that you can see, those in the trash included, newest change first; with descriptions and comments only for `include=content`. Continue with `cursor` while `has_more`; then `cursor` (and `changes_cursor` on every page) is the cursor of the change feed.',
  },
});

/** Synchronisation of tasks. */
@Controller('tasks')
export class TaskFeedController extends Feeds {}
