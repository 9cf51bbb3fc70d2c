import { Injectable } from '@nestjs/common';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { inBatches } from '../../../platform/jobs/sweep.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../../tenants/index.js';
import { TaskMember } from '../task.entity.js';
import { TaskFoldersRepository } from './task-folders.repository.js';

const BATCH = 500;

// The tasks that a member created and those in the folders of the member. The tree of the member is locked.
const lock = workspace.statement<{ id: string }>(
  'tasks.lock_owned',
  `SELECT id FROM tasks WHERE tenant_id = $1 AND id = ANY (ARRAY(
     SELECT task_id FROM task_members WHERE tenant_id = $1 AND user_id = $2 AND role = 'owner'
     UNION SELECT filed.id FROM task_folders folder JOIN tasks filed ON filed.tenant_id = $1 AND filed.folder_id = folder.id
            WHERE folder.tenant_id = $1 AND folder.owner_id = $2 AND folder.gone_at IS NULL))
    ORDER BY id FOR UPDATE`,
);

// Up to $5 tasks get another creator, with an entry of the history and an event. The history keeps its newest 500 entries.
const move = workspace.statement<{ id: string }>(
  'tasks.transfer',
  `WITH owned AS MATERIALIZED (
     SELECT task_id FROM task_members WHERE tenant_id = $1 AND user_id = $2 AND role = 'owner' LIMIT $5),
   moved AS (
     UPDATE tasks SET creator_id = $3, activity_count = activity_count + 1
      WHERE tenant_id = $1 AND id = ANY (ARRAY(SELECT task_id FROM owned))
     RETURNING id, revision, activity_count),
   recorded AS (
     INSERT INTO task_activity (tenant_id, task_id, n, type, actor_id, data, at)
     SELECT $1, id, activity_count, 'transferred', $4, jsonb_build_object('from', $2::uuid, 'to', $3::uuid), clock_timestamp() FROM moved),
   forgotten AS (
     DELETE FROM task_activity entry USING moved
      WHERE entry.tenant_id = $1 AND entry.task_id = moved.id AND entry.n <= moved.activity_count - 500),
   reported AS (
     INSERT INTO outbox (tenant_id, id, type, payload)
     SELECT $1, uuid_v7(), 'task.updated', jsonb_build_object(
              'task_id', id, 'revision', revision, 'actor_id', $4::uuid, 'changed', jsonb_build_array('creator'))
       FROM moved)
   SELECT id FROM moved`,
);

const advance = workspace.statement<never>(
  'tasks.advance',
  `SELECT task_advance(task, NULL) FROM tasks task WHERE task.tenant_id = $1 AND task.id = ANY ($2::uuid[])`,
);

/** The tasks that a member created, for a transfer to another member. */
@Injectable()
export class TasksOfMembers extends RegisteredContent {
  constructor(
    contents: MemberContent,
    private readonly folders: TaskFoldersRepository,
    private readonly outbox: Outbox,
  ) {
    super(contents, {
      kind: 'tasks',
      order: 20,
      count: (reader, { tenantId, userId }) =>
        rowsOf(reader, TaskMember).count({ tenant_id: tenantId, user_id: userId, role: 'owner' }),
    });
  }

  /** Locks the tasks that the transfer changes. @returns the users whose feeds it changes */
  async lock(tx: Tx, { ctx: { tenantId }, from }: ContentTransfer): Promise<string[]> {
    const tasks = (await tx.query(lock, [tenantId, from])).map(({ id }) => id);
    const folders = await this.folders.ofOwner(tx, tenantId, from);
    return this.folders.audience(tx, tenantId, folders, tasks);
  }

  /** Assignees and folders stay. */
  async transfer(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<number> {
    this.outbox.notice(tx);
    return inBatches(BATCH, async () => {
      const moved = await tx.query(move, [ctx.tenantId, from, to, ctx.userId, BATCH]);
      await tx.query(advance, [ctx.tenantId, moved.map(({ id }) => id)]);
      return moved.length;
    });
  }
}
