import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { isUuid } from '../../../platform/http/id.pipe.js';
import { throwQuotaError } from '../../../platform/quotas/row-quota.js';
import { TenantsApi } from '../../tenants/index.js';
import type { TaskPatch } from '../model/rules/task-merge.js';
import {
  DONE,
  listEvents,
  mayWrite,
  positionAfter,
  type TaskEvent,
  type TaskRow,
  timestampText,
} from '../model/rules/task-row.js';
import type { NewTaskFacts, TaskFacts } from '../model/rules/task-rules.js';
import type { StoredTask } from '../tasks.repository.js';
import type { TaskRole, Task, TaskMember } from '../tasks.schema.js';

const roleOf = workspace.statement<{ role: TaskRole }>(
  'task_folders.role',
  `SELECT role FROM task_folder_members WHERE tenant_id = $1 AND user_id = $2 AND folder_id = $3 AND role IS NOT NULL`,
  { pipelined: true },
);

/** The roles of members in task folders; `mayWrite` says which of them write. */
@Injectable()
export class TaskFolderRoles {
  /** The role of the caller in a folder; null without access. */
  async role(
    reader: Reader,
    { tenantId, userId }: RequestContext,
    folderId: string,
  ): Promise<TaskRole | null> {
    return (await reader.query(roleOf, [tenantId, userId, folderId]))[0]?.role ?? null;
  }
}

// Index tasks_uid. The UID of a task without one is its id.
const ofUid = workspace.statement<{ id: string }>(
  'tasks.of_uid',
  `SELECT found.id FROM (
     SELECT task.id, task.folder_id, task.deleted_at FROM tasks task WHERE task.tenant_id = $1 AND task.uid = $3
      UNION ALL
     SELECT task.id, task.folder_id, task.deleted_at FROM tasks task WHERE task.tenant_id = $1 AND task.id = $4::uuid AND task.uid IS NULL) found
    WHERE found.folder_id = $2 AND found.deleted_at IS NULL AND found.id IS DISTINCT FROM $5::uuid LIMIT 1`,
);

const lockUid = workspace.statement<never>(
  'tasks.lock_uid',
  `SELECT pg_advisory_xact_lock(hashtextextended('task uid ' || $1::text || $2::text || $3::text, 0))`,
);

/** UIDs of the tasks of a folder, each of which belongs to one task outside of the trash (RFC 4791, 4.1). */
@Injectable()
export class TaskUids {
  /** The id of the task that has a UID in a folder; null without one. @param except this task does not count */
  async findByUid(
    reader: Reader,
    tenantId: string,
    folderId: string,
    uid: string,
    except: string | null = null,
  ): Promise<string | null> {
    const rows = await reader.query(ofUid, [tenantId, folderId, uid, isUuid(uid) ? uid : null, except]);
    return rows[0]?.id ?? null;
  }

  /** Lets other tasks that take this UID in the folder wait until the end of the transaction. */
  async lock(tx: Tx, tenantId: string, folderId: string, uid: string): Promise<void> {
    await tx.query(lockUid, [tenantId, folderId, uid]);
  }
}

/** The task after a write. `isConflict`: nothing was written, because the client read an earlier revision. */
export interface TaskWritten extends StoredTask {
  isConflict: boolean;
}

/** What a write without locks has read: it is stored only while this holds. */
export interface ReadVersion {
  version?: string;
  seq?: string;
  folder?: string;
  folder_role?: TaskRole | null;
}

/** A decided write of one task, as the function `task_store` takes it. */
export interface TaskStore {
  /** Columns that change; all columns of a new task. */
  row: Partial<TaskRow>;
  isNew?: boolean;
  /** The revision after the write. */
  revision: number;
  activity: { type: string; data: Record<string, unknown> };
  events: readonly TaskEvent[];
  device?: string;
  isLastView?: boolean;
  read?: ReadVersion;
}

const store = workspace.statement<{ outcome: 'stored' | 'outdated' | 'exists' } & StoredTask>(
  'tasks.store',
  `SELECT outcome, revision, task AS json, refs FROM task_store($1, $2, $3, $4)`,
);

const lock = workspace.statement<Pick<TaskRow, 'folder_id' | 'uid' | 'status' | 'next_task_id'>>(
  'tasks.lock',
  `SELECT folder_id, uid, status, next_task_id FROM tasks WHERE tenant_id = $1 AND id = $2 FOR UPDATE`,
);

const folderOf = workspace.statement<Pick<Task, 'folder_id'>>(
  'tasks.filed_in',
  `SELECT folder_id FROM tasks WHERE tenant_id = $1 AND id = $2`,
);

const shareTree = workspace.statement<never>('tasks.share_tree', `SELECT task_tree_share($1, $2)`);

// The last key among the tasks that the caller has in a folder, or in none. Index task_members_board, which does not support
// IS NOT DISTINCT FROM; its order is used for a folder that IS NULL only when the folder is in the ORDER BY.
const LAST_UNFILED = `
  SELECT position FROM task_members
   WHERE tenant_id = $1 AND user_id = $2 AND folder_id IS NULL AND role IS NOT NULL AND NOT trashed
   ORDER BY folder_id DESC, position DESC LIMIT 1`;
const lastUnfiled = workspace.statement<Pick<TaskMember, 'position'>>('tasks.last_unfiled', LAST_UNFILED, {
  pipelined: true,
});
const lastFiled = workspace.statement<Pick<TaskMember, 'position'>>(
  'tasks.last_filed',
  `SELECT position FROM task_members
    WHERE tenant_id = $1 AND user_id = $2 AND folder_id = $3 AND role IS NOT NULL AND NOT trashed
    ORDER BY position DESC LIMIT 1`,
  { pipelined: true },
);

const newFacts = workspace.statement<{ now: Date; time_zone: string | null; last_position: string | null }>(
  'tasks.facts_of_new',
  `SELECT clock_timestamp() AS now, (${LAST_UNFILED}) AS last_position,
          (SELECT member.time_zone FROM member_locales member WHERE member.tenant_id = $1 AND member.user_id = $2) AS time_zone`,
  { pipelined: true },
);

interface TaskFactsRow extends TaskRow {
  now: Date;
  version: string;
  member_role: TaskRole | null;
  seen_folder: string | null;
  seq: string | null;
}

// What few requests need is read by statements of their own: with it, PostgreSQL would plan this one for each request.
const facts = workspace.statement<TaskFactsRow>(
  'tasks.facts',
  `SELECT task.id, task.creator_id, task.folder_id, task.title, task.description, task.status, task.priority, task.group_name,
          task.labels, task.assignee_ids, task.date::text AS date, task.due_at, task.time_zone, task.overdue_at, task.recurrence,
          task.next_task_id, task.reminders, task.next_reminder_at, task.next_due_at, task.due_stage, task.refs, task.linked_notes,
          task.position, task.revision, task.completed_at, task.created_at, task.updated_at, task.updated_by, task.deleted_at,
          task.deleted_by, task.purge_at, task.uid, task.icalendar, task.subtasks_count, task.comments_count,
          task.xmin::text AS version, member.role AS member_role, member.folder_id AS seen_folder, member.seq::text AS seq,
          clock_timestamp() AS now
     FROM tasks task
     LEFT JOIN task_members member ON member.tenant_id = $1 AND member.task_id = task.id AND member.user_id = $2
    WHERE task.tenant_id = $1 AND task.id = $3`,
  { pipelined: true },
);

// The users whose feeds a write changes: those who may see the task as it will be, and those who see it now.
const concerned = workspace.statement<{ user_id: string }>(
  'tasks.concerned',
  `SELECT viewer.user_id FROM tasks task, task_audience(jsonb_populate_record(task, $3)) viewer WHERE task.tenant_id = $1 AND task.id = $2
    UNION SELECT user_id FROM task_members WHERE tenant_id = $1 AND task_id = $2 AND role IS NOT NULL`,
);

const audience = workspace.statement<{ user_id: string }>(
  'tasks.audience_of_new',
  `SELECT found.user_id FROM task_audience(jsonb_populate_record(NULL::tasks, $2 || jsonb_build_object('tenant_id', $1::uuid))) found`,
);

// No member has changed the next occurrence, its steps, comments or files since its creation.
const isUntouched = workspace.statement<{ is_untouched: boolean }>(
  'tasks.is_untouched',
  `SELECT deleted_at IS NULL AND activity_count = 1 AND revision = 1 AND comments_count = 0 AND attachments = '[]'
          AND NOT EXISTS (SELECT FROM subtasks step
                           WHERE step.tenant_id = $1 AND step.task_id = $2 AND step.updated_at <> task.created_at) AS is_untouched
     FROM tasks task WHERE task.tenant_id = $1 AND task.id = $2`,
);

// Subtasks of the next occurrence are as many days after its date as they were before. least() would ignore a missing date.
const copySubtasks = workspace.statement<never>(
  'tasks.copy_subtasks',
  `INSERT INTO subtasks (tenant_id, task_id, id, title, done, assignee_id, date, position, created_at, updated_at)
   SELECT tenant_id, $3, uuid_v7(), title, false, assignee_id,
          CASE WHEN date IS NOT NULL THEN least(date + ($4::date - $5::date), '9999-12-31') END, position, $6, $6
     FROM subtasks WHERE tenant_id = $1 AND task_id = $2`,
);

/** The rows that writes of tasks lock, read and store. */
@Injectable()
export class TaskWritesRepository {
  constructor(
    private readonly folders: TaskFolderRoles,
    private readonly tenants: TenantsApi,
    private readonly uids: TaskUids,
  ) {}

  async newFacts(reader: Reader, ctx: RequestContext, patch: TaskPatch): Promise<NewTaskFacts> {
    const { tenantId, userId } = ctx;
    const { folder_id: folder, assignee_ids: assignees } = patch;
    const [row] = await reader.query(newFacts, [tenantId, userId]);
    const { now, time_zone, last_position } = row!;
    const last = folder ? await this.lastPosition(reader, ctx, folder) : last_position;
    return {
      now,
      timeZone: time_zone ?? 'UTC',
      endPosition: positionAfter(last, now),
      folderRole: folder ? await this.folders.role(reader, ctx, folder) : null,
      inactive: assignees?.length ? await this.tenants.inactiveMembers(reader, tenantId, assignees, []) : [],
    };
  }

  /** @param isRestore the task leaves the trash @returns null for an unknown task */
  async facts(
    reader: Reader,
    ctx: RequestContext,
    id: string,
    patch: TaskPatch,
    isRestore: boolean,
  ): Promise<(TaskFacts & { read: ReadVersion }) | null> {
    const [row] = await reader.query(facts, [ctx.tenantId, ctx.userId, id]);
    if (!row) return null;
    const { version, member_role, seen_folder, seq, now, ...task } = row;
    const { folder_id: folder = seen_folder, assignee_ids: assignees } = patch;
    const isPlaced = patch.last === true || (folder !== seen_folder && patch.position === undefined);
    const last = isPlaced ? await this.lastPosition(reader, ctx, folder) : null;
    const joined = isRestore ? task.folder_id : folder !== seen_folder ? folder : null;
    const same =
      joined === null ? null : await this.uids.findByUid(reader, ctx.tenantId, joined, task.uid ?? id, id);
    return {
      now,
      task,
      untouchedNext: await this.untouchedNext(reader, ctx, task, patch),
      role: member_role,
      seenFolder: seen_folder,
      endPosition: positionAfter(last, now),
      ownUid: same === null ? null : uuidv7(),
      folderRole: patch.folder_id ? await this.folders.role(reader, ctx, patch.folder_id) : null,
      inactive: assignees?.some((user) => !task.assignee_ids.includes(user))
        ? await this.tenants.inactiveMembers(reader, ctx.tenantId, assignees, task.assignee_ids)
        : [],
      read: { version, seq: seq ?? undefined },
    };
  }

  private async untouchedNext(
    reader: Reader,
    ctx: RequestContext,
    task: TaskRow,
    patch: TaskPatch,
  ): Promise<TaskRow | null> {
    const next = findWithdrawable(task, patch);
    if (next === null) return null;
    const [state] = await reader.query(isUntouched, [ctx.tenantId, next]);
    if (!state?.is_untouched) return null;
    const [row] = await reader.query(facts, [ctx.tenantId, ctx.userId, next]);
    // Both tasks stay where the user could not write the next one.
    if (!row || !mayWrite(row.member_role)) return null;
    const {
      version: _version,
      member_role: _role,
      seen_folder: _folder,
      seq: _seq,
      now: _now,
      ...found
    } = row;
    return found;
  }

  private async lastPosition(
    reader: Reader,
    { tenantId, userId }: RequestContext,
    folder: string | null,
  ): Promise<string | null> {
    const rows =
      folder === null
        ? await reader.query(lastUnfiled, [tenantId, userId])
        : await reader.query(lastFiled, [tenantId, userId, folder]);
    return rows[0]?.position ?? null;
  }

  /** Locks a task until the end of the transaction. @returns undefined for an unknown task */
  async lock(
    tx: Tx,
    { tenantId }: RequestContext,
    id: string,
  ): Promise<Pick<TaskRow, 'folder_id' | 'uid' | 'status' | 'next_task_id'> | undefined> {
    return (await tx.query(lock, [tenantId, id]))[0];
  }

  /** The folder of a task; null also for an unknown task. */
  async folderOf(tx: Tx, { tenantId }: RequestContext, id: string): Promise<string | null> {
    return (await tx.query(folderOf, [tenantId, id]))[0]?.folder_id ?? null;
  }

  /** Locks the tree of a folder against changes, before the tasks in it. */
  async shareTree(tx: Tx, { tenantId }: RequestContext, folder: string): Promise<void> {
    await tx.query(shareTree, [tenantId, folder]);
  }

  /** The users whose feeds a write of the task changes. @param task as it will be */
  async findConcerned(
    tx: Tx,
    { tenantId }: RequestContext,
    task: TaskRow,
    isNew: boolean,
  ): Promise<string[]> {
    const { id, creator_id, assignee_ids, folder_id } = task;
    const access = { id, creator_id, assignee_ids, folder_id };
    const rows = isNew
      ? await tx.query(audience, [tenantId, access])
      : await tx.query(concerned, [tenantId, id, access]);
    return rows.map(({ user_id }) => user_id);
  }

  /** @returns `outdated`: what was read has changed; `exists`: a task has or had the id @throws ApiError 409 `quota_exceeded` */
  async store(
    tx: Tx,
    ctx: RequestContext,
    id: string,
    { row, isNew = false, revision, activity, events, device, isLastView, read }: TaskStore,
  ): Promise<StoredTask | 'outdated' | 'exists'> {
    const write = {
      row: columnsOf(row, isNew),
      activity,
      events: listEvents({ id, revision }, ctx.userId, events),
      device,
      read,
      ...(isNew && { is_new: true }),
      ...(isLastView && { view_first: true }),
    };
    const rows = await tx.query(store, [ctx.tenantId, ctx.userId, id, write]).catch(throwQuotaError);
    const [{ outcome, ...stored }] = rows as [(typeof rows)[0]];
    return outcome === 'stored' ? stored : outcome;
  }

  /** Gives the next occurrence of a task the subtasks of the task. */
  async copySubtasks(tx: Tx, { tenantId }: RequestContext, from: TaskRow, to: TaskRow): Promise<void> {
    await tx.query(copySubtasks, [tenantId, from.id, to.id, to.date, from.date, to.created_at]);
  }
}

/** The next occurrence of a done task that a request opens again. */
export const findWithdrawable = (
  { status, next_task_id: next }: Pick<TaskRow, 'status' | 'next_task_id'>,
  patch: TaskPatch,
): string | null => (status === DONE && (patch.reopen || (patch.status ?? DONE) < DONE) ? next : null);

/** @param row of a new task: missing columns are null */
const columnsOf = (row: Partial<TaskRow>, isNew: boolean) =>
  Object.fromEntries(
    Object.entries(row)
      .filter(([, value]) => !isNew || value !== null)
      .map(([name, value]) => [name, value instanceof Date ? timestampText(value) : value]),
  );
