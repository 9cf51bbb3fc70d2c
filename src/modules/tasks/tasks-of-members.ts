import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { rowsOf } from '../../platform/database/rows.js';
import { workspace } from '../../platform/database/statement.js';
import type { Tx } from '../../platform/database/tx.js';
import { Outbox } from '../../platform/events/outbox.js';
import { inBatches } from '../../platform/jobs/sweep.js';
import { PersonalData, PersonalDataSource } from '../../platform/personal-data/personal-data.js';
import { personalRows } from '../../platform/personal-data/personal-rows.js';
import { type ContentTransfer, MemberContent, RegisteredContent } from '../tenants/index.js';
import { TaskFoldersRepository } from './folders/task-folders.repository.js';
import { TaskFolder, TaskMember, type Task } from './tasks.schema.js';

const BATCH = 500;

// The tasks that a member created and those in the folders of the member. The tree of the member is locked.
const lock = workspace.statement<Pick<Task, 'id'>>(
  'tasks.lock_owned',
  `SELECT id FROM tasks WHERE tenant_id = $1 AND id = ANY (ARRAY(
     SELECT task_id FROM task_members WHERE tenant_id = $1 AND user_id = $2 AND role = 'owner'
     UNION SELECT filed.id FROM task_folders folder JOIN tasks filed ON filed.tenant_id = $1 AND filed.folder_id = folder.id
            WHERE folder.tenant_id = $1 AND folder.owner_id = $2 AND folder.gone_at IS NULL))
    ORDER BY id FOR UPDATE`,
);

// Up to $5 tasks get another creator, with an entry of the history and an event. The history keeps its newest 500 entries.
const move = workspace.statement<Pick<Task, 'id'>>(
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

const assignedTasks = workspace.statement<never>(
  'tasks.personal_assigned_tasks',
  personalRows(`SELECT task.id, task.creator_id, task.folder_id, task.title, task.description, task.status, task.priority,
            task.group_name, task.labels, task.assignee_ids, task.date, task.due_at, task.time_zone, task.recurrence, task.reminders,
            task.refs AS "references", task.icalendar, task.completed_at, task.created_at, task.updated_at, task.deleted_at, (
              SELECT jsonb_agg(jsonb_build_object('id', subtask.id, 'title', subtask.title, 'done', subtask.done, 'date', subtask.date)
                               ORDER BY subtask.position)
                FROM subtasks subtask WHERE subtask.tenant_id = task.tenant_id AND subtask.task_id = task.id) AS subtasks
       FROM tasks task
      WHERE task.tenant_id = $1 AND (task.creator_id = $2 OR ($2 = ANY (task.assignee_ids) AND EXISTS (
        SELECT FROM task_members member
         WHERE member.tenant_id = task.tenant_id AND member.task_id = task.id AND member.user_id = $2 AND member.role IS NOT NULL)))
      ORDER BY task.id`),
);

const ownedFolders = workspace.statement<never>(
  'tasks.personal_owned_folders',
  personalRows(`SELECT folder.id, folder.parent_id, folder.name, folder.color, folder.created_at, folder.updated_at
       FROM task_folders folder WHERE folder.tenant_id = $1 AND folder.owner_id = $2 AND folder.gone_at IS NULL ORDER BY folder.id`),
);

const comments = workspace.statement<never>(
  'tasks.personal_comments',
  personalRows(`SELECT comment.id, comment.task_id, comment.body, comment.created_at, comment.edited_at
       FROM task_comments comment WHERE comment.tenant_id = $1 AND comment.author_id = $2 ORDER BY comment.id`),
);

const files = workspace.statement<never>(
  'tasks.personal_files',
  personalRows(`SELECT file.id, file.blob_id, file.name, file.size
       FROM task_attachments file WHERE file.tenant_id = $1 AND file.created_by = $2 ORDER BY file.id`),
);

const erasePrivateTasks = workspace.statement<never>(
  'tasks.erase_private_tasks',
  `WITH private AS (
     SELECT task.id FROM tasks task
      WHERE task.tenant_id = $1 AND task.creator_id = $2 AND NOT EXISTS (
        SELECT FROM task_members member
         WHERE member.tenant_id = $1 AND member.task_id = task.id AND member.user_id <> $2 AND member.role IS NOT NULL)),
   purged AS (
     INSERT INTO purged_tasks (tenant_id, task_id) SELECT $1, id FROM private ON CONFLICT DO NOTHING)
   DELETE FROM tasks USING private WHERE tasks.tenant_id = $1 AND tasks.id = private.id`,
);

// Folders that contain shared tasks or shared folders stay.
const erasePrivateFolders = workspace.statement<never>(
  'tasks.erase_private_folders',
  `WITH RECURSIVE kept AS (
     SELECT folder.id, folder.parent_id FROM task_folders folder
      WHERE folder.tenant_id = $1 AND folder.owner_id = $2
        AND (EXISTS (SELECT FROM tasks task WHERE task.tenant_id = $1 AND task.folder_id = folder.id)
             OR EXISTS (SELECT FROM task_folder_members member
                         WHERE member.tenant_id = $1 AND member.folder_id = folder.id AND member.user_id <> $2
                           AND member.role IS NOT NULL))
     UNION
     SELECT parent.id, parent.parent_id FROM kept
       JOIN task_folders parent ON parent.tenant_id = $1 AND parent.id = kept.parent_id)
   DELETE FROM task_folders folder
    WHERE folder.tenant_id = $1 AND folder.owner_id = $2 AND folder.id NOT IN (SELECT kept.id FROM kept)`,
);

// Clients choose the ids of devices.
const eraseMemberRows = workspace.statement<never>(
  'tasks.erase_member_rows',
  `UPDATE task_members SET device_id = NULL WHERE tenant_id = $1 AND user_id = $2 AND device_id IS NOT NULL`,
);

const eraseFolderMemberRows = workspace.statement<never>(
  'tasks.erase_folder_member_rows',
  `UPDATE task_folder_members SET device_id = NULL WHERE tenant_id = $1 AND user_id = $2 AND device_id IS NOT NULL`,
);

/** Tasks that a user created or is assigned to, own folders, comments and files. */
@Injectable()
export class TasksPersonalData extends PersonalDataSource {
  constructor(data: PersonalData) {
    super(data, {
      name: 'tasks',
      rows: { 'tasks.json': assignedTasks, 'folders.json': ownedFolders, 'comments.json': comments },
      files,
      erasure: { rows: [erasePrivateTasks, erasePrivateFolders, eraseMemberRows, eraseFolderMemberRows] },
    });
  }
}
