import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { rowsOf } from '../../../platform/database/rows.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../../tenants/index.js';
import { TaskFolder } from './task-folder.entity.js';
import { TaskFoldersRepository } from './task-folders.repository.js';

// The tree keeps its shape and the other members; its top-level folders come after those of the new owner.
const give = workspace.statement<never>(
  'task_folders.transfer',
  `WITH placed AS (
     SELECT id, row_number() OVER (PARTITION BY parent_id ORDER BY position, id) AS place
       FROM task_folders WHERE tenant_id = $1 AND id = ANY ($2::uuid[])),
   last AS (
     SELECT coalesce(max(position), 0) AS position FROM task_folders
      WHERE tenant_id = $1 AND owner_id = $3 AND parent_id IS NULL AND gone_at IS NULL)
   UPDATE task_folders folder SET
     owner_id = $3, revision = folder.revision + 1, updated_at = greatest(clock_timestamp(), folder.updated_at),
     position = CASE WHEN folder.parent_id IS NULL THEN last.position + placed.place ELSE folder.position END,
     member_roles = ARRAY(
       SELECT member_role FROM unnest(folder.member_ids, folder.member_roles) WITH ORDINALITY AS member (id, member_role, place)
        WHERE id <> $3 ORDER BY place),
     member_ids = array_remove(folder.member_ids, $3)
     FROM placed, last WHERE folder.tenant_id = $1 AND folder.id = placed.id`,
);

// The owner of the folder is a search key of the task.
const report = workspace.statement<never>(
  'task_folders.report_owner',
  `INSERT INTO outbox (tenant_id, id, type, payload)
   SELECT $1, uuid_v7(), 'task.updated', jsonb_build_object(
            'task_id', id, 'revision', revision, 'actor_id', $3::uuid, 'changed', jsonb_build_array('folder_owner'))
     FROM tasks WHERE tenant_id = $1 AND id = ANY ($2::uuid[])`,
);

/** The task folders of a member, for a transfer to another member. */
@Injectable()
export class TaskFoldersOfMembers extends RegisteredContent {
  constructor(
    contents: MemberContent,
    private readonly folders: TaskFoldersRepository,
    private readonly outbox: Outbox,
  ) {
    super(contents, {
      kind: 'task_folders',
      order: 10,
      count: (reader, { tenantId, userId }) =>
        rowsOf(reader, TaskFolder).count({ tenant_id: tenantId, owner_id: userId, gone_at: IsNull() }),
    });
  }

  /** One transfer at a time runs in a workspace, so no other transaction holds two trees. */
  async lock(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<string[]> {
    for (const owner of [from, to].toSorted()) await this.folders.lockTree(tx, ctx.tenantId, owner);
    return [];
  }

  /** Members of the folders stay; the former owner gets removals in the feed. Both trees and the tasks in the folders are locked. */
  async transfer(tx: Tx, { ctx: { tenantId, userId }, from, to }: ContentTransfer): Promise<number> {
    this.outbox.notice(tx);
    const folders = await this.folders.ofOwner(tx, tenantId, from);
    if (folders.length === 0) return 0;
    const tasks = await this.folders.lockTasks(tx, tenantId, folders);
    await tx.query(give, [tenantId, folders, to]);
    await this.folders.apply(tx, tenantId, { folders, touched: folders, tasks });
    await tx.query(report, [tenantId, tasks, userId]);
    return folders.length;
  }
}
