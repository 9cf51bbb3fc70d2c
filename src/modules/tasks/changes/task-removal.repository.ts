import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { listEvents, type TaskRow } from '../model/rules/task-row.js';
import { purgeTask } from '../model/rules/task-rules.js';
import type { Task } from '../tasks.schema.js';

/** A locked task that is removed. */
type RemovedTask = Pick<TaskRow, 'id' | 'revision' | 'deleted_at' | 'deleted_by'>;

/**
 * Text of a statement that removes locked tasks. The feed of each member keeps a removal, the ids are never used again (an old ETag never
 * matches another task), and stored responses with the content are deleted. Counters are locked in the order of user ids for all tasks at once.
 * @param tenant SQL of the workspace of a listed task @param tasks SQL of a list of tasks with `id` and `events`
 */
const removal = (tenant: string, tasks: string) =>
  `WITH removed AS MATERIALIZED (
     SELECT task.tenant_id, task.id, listed.events
       FROM jsonb_to_recordset(${tasks}) AS listed (tenant_id uuid, id uuid, events jsonb)
       JOIN tasks task ON task.tenant_id = ${tenant} AND task.id = listed.id),
   viewers AS MATERIALIZED (
     SELECT member.tenant_id, member.user_id, member.task_id,
            row_number() OVER (PARTITION BY member.tenant_id, member.user_id ORDER BY member.task_id DESC) - 1 AS later
       FROM removed JOIN task_members member ON member.tenant_id = removed.tenant_id AND member.task_id = removed.id
      WHERE member.role IS NOT NULL),
   heads AS (
     INSERT INTO sync_heads AS known (tenant_id, user_id, head)
     SELECT tenant_id, user_id, count(*) FROM viewers GROUP BY tenant_id, user_id ORDER BY user_id, tenant_id
     ON CONFLICT (tenant_id, user_id) DO UPDATE SET head = known.head + excluded.head
     RETURNING known.tenant_id, known.user_id, known.head),
   numbered AS (
     UPDATE task_members member SET
       role = NULL, folder_id = NULL, gone = 2, gone_at = clock_timestamp(), device_id = NULL, seq = heads.head - viewers.later
       FROM viewers
       JOIN heads ON heads.tenant_id = viewers.tenant_id AND heads.user_id = viewers.user_id
      WHERE member.tenant_id = viewers.tenant_id AND member.task_id = viewers.task_id AND member.user_id = viewers.user_id),
   deleted AS (
     DELETE FROM tasks task USING removed WHERE task.tenant_id = removed.tenant_id AND task.id = removed.id),
   reserved AS (
     INSERT INTO purged_tasks (tenant_id, task_id) SELECT tenant_id, id FROM removed ON CONFLICT DO NOTHING),
   reported AS (
     INSERT INTO outbox (tenant_id, id, type, payload)
     SELECT removed.tenant_id, (event->>'id')::uuid, event->>'type', event->'payload'
       FROM removed CROSS JOIN LATERAL jsonb_array_elements(removed.events) AS event)
   SELECT forget_responses(tenant_id, id) FROM removed`;

const remove = workspace.statement<never>('tasks.remove', removal('$1', '$2'));
const removeDue = workspace.statement<never>('tasks.remove_due', removal('listed.tenant_id', '$1'), {
  reach: 'cell',
});

// Locked tasks wait for the next run.
const lockDue = workspace.statement<Pick<Task, 'tenant_id'> & RemovedTask>(
  'tasks.lock_due',
  `SELECT tenant_id, id, revision, deleted_at, deleted_by FROM tasks WHERE purge_at <= now()
    ORDER BY purge_at LIMIT $1 FOR UPDATE SKIP LOCKED`,
  { reach: 'cell' },
);

/** Removes tasks permanently, with the events of `purgeTask`. */
@Injectable()
export class TaskRemovalRepository {
  /** Removes a locked task for the caller. */
  async remove(tx: Tx, { tenantId, userId }: RequestContext, task: RemovedTask): Promise<void> {
    await tx.query(remove, [tenantId, JSON.stringify([listRemoval(task, userId)])]);
  }

  /** Removes up to `limit` tasks whose time in the trash is over, oldest first. @returns their number */
  async removeDue(tx: Tx, limit: number): Promise<number> {
    const due = await tx.query(lockDue, [limit]);
    const listed = due.map((task) => ({ tenant_id: task.tenant_id, ...listRemoval(task) }));
    if (due.length > 0) await tx.query(removeDue, [JSON.stringify(listed)]);
    return due.length;
  }
}

function listRemoval(task: RemovedTask, userId?: string) {
  const { actor, events } = purgeTask(task, userId);
  return { id: task.id, events: listEvents(task, actor, events) };
}
