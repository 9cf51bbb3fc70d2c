import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { workspace } from '../../../platform/database/statement.js';
import type { TaskRole, Task } from '../tasks.schema.js';
import type { TaskResourceRow } from '../model/todo-values.js';

/** A task of a list without its content. */
export interface TaskName {
  id: string;
  revision: number;
}

/** A change of a list; `revision` is null where the task is gone. */
export interface TaskNameChange {
  id: string;
  revision: number | null;
}

/** The changes of a page, and the counter of the caller in the same snapshot: see `FeedRead`. */
export interface TaskChangesRead {
  head: number;
  floor: number;
  rows: (TaskNameChange & { seq: number })[];
}

interface ChangeRow extends TaskNameChange {
  head: number;
  floor: number;
  seq: number | null;
}

/** The role of a caller in a folder, and the counter of the caller. */
export interface OpenedFolder {
  id: string;
  role: TaskRole;
  head: number;
}

interface PlaceRow {
  head: number;
  folder_id: string | null;
  calendar_order: number | null;
}

/** The places of lists among the calendars of a caller, by folder, and the counter of the caller. */
export interface ListPlaces {
  head: number;
  orders: Map<string, number>;
}

/** The id of a folder, or of a deleted one; `is_visible`: the caller sees the folder. */
export interface UsedFolderId {
  id: string;
  is_visible: boolean;
}

const opened = workspace.statement<OpenedFolder>(
  'task_resources.opened',
  `SELECT member.folder_id AS id, member.role, coalesce(counter.head, 0)::float8 AS head FROM task_folder_members member
     LEFT JOIN sync_heads counter ON counter.tenant_id = $1 AND counter.user_id = $2
    WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.folder_id = ANY ($3::uuid[]) AND member.role IS NOT NULL
    ORDER BY array_position($3::uuid[], member.folder_id)`,
  { pipelined: true },
);

const usedIds = workspace.statement<UsedFolderId>(
  'task_resources.used_folder_ids',
  `SELECT folder.id, member.role IS NOT NULL AS is_visible FROM task_folders folder
     LEFT JOIN task_folder_members member ON member.tenant_id = $1 AND member.folder_id = folder.id AND member.user_id = $2
    WHERE folder.tenant_id = $1 AND folder.id = ANY ($3::uuid[])`,
);

const places = workspace.statement<PlaceRow>(
  'task_resources.places',
  `SELECT coalesce(counter.head, 0)::float8 AS head, member.folder_id, member.calendar_order FROM (SELECT) AS always
     LEFT JOIN sync_heads counter ON counter.tenant_id = $1 AND counter.user_id = $2
     LEFT JOIN task_folder_members member ON member.tenant_id = $1 AND member.user_id = $2 AND member.calendar_order IS NOT NULL`,
  { pipelined: true },
);

const setOrder = workspace.statement<never>(
  'task_resources.set_order',
  `UPDATE task_folder_members SET calendar_order = $4 WHERE tenant_id = $1 AND user_id = $2 AND folder_id = $3`,
);

const zoneOf = workspace.statement<{ time_zone: string }>(
  'task_resources.zone',
  `SELECT time_zone FROM member_locales WHERE tenant_id = $1 AND user_id = $2 AND time_zone IS NOT NULL`,
);

// Ordered by id, which never changes: in the manual order, a task that is moved between two pages would be missing.
const names = workspace.statement<TaskName>(
  'task_resources.names',
  `SELECT task.id, task.revision FROM task_members member
     JOIN tasks task ON task.tenant_id = $1 AND task.id = member.task_id
    WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.folder_id = $3 AND member.role IS NOT NULL AND NOT member.trashed
      AND ($4::uuid IS NULL OR member.task_id > $4)
    ORDER BY member.task_id LIMIT $5`,
);

const read = workspace.statement<TaskResourceRow>(
  'task_resources.read',
  `SELECT task.id, task.revision, task.uid, task.icalendar, task.title, task.description, task.status, task.priority, task.labels,
          task.date::text AS date, rfc3339(task.due_at) AS due_at, task.time_zone, task.recurrence,
          task.next_task_id IS NOT NULL AS is_repeated, task.reminders, task.refs, rfc3339(task.completed_at) AS completed_at,
          rfc3339(task.created_at) AS created_at, rfc3339(task.updated_at) AS updated_at
     FROM task_members member JOIN tasks task ON task.tenant_id = $1 AND task.id = member.task_id
    WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.folder_id = $3 AND member.role IS NOT NULL AND NOT member.trashed
      AND member.task_id = ANY ($4::uuid[])
    ORDER BY member.task_id`,
);

const known = workspace.statement<Pick<Task, 'id'>>(
  'task_resources.known',
  `SELECT id FROM tasks WHERE tenant_id = $1 AND id = ANY ($2::uuid[])`,
);

// $4 the last delivered number, $5 limit, $6 only tasks of the folder. Index task_members_feed.
const changes = workspace.statement<ChangeRow>(
  'task_resources.changes',
  `SELECT coalesce(counter.head, 0)::float8 AS head, coalesce((counter.floors->>'tasks')::float8, 0) AS floor,
          item.seq::float8 AS seq, item.task_id AS id, item.revision
     FROM (SELECT) AS always
     LEFT JOIN sync_heads counter ON counter.tenant_id = $1 AND counter.user_id = $2
     LEFT JOIN LATERAL (
       SELECT member.seq, member.task_id, task.revision
         FROM task_members member
         LEFT JOIN tasks task ON task.tenant_id = $1 AND task.id = member.task_id AND member.role IS NOT NULL AND NOT member.trashed
                             AND member.folder_id = $3
        WHERE member.tenant_id = $1 AND member.user_id = $2 AND member.seq > $4 AND member.seq <= counter.head
          AND (member.folder_id = $3 OR $3 = ANY (member.left_folders))
          AND (NOT $6 OR (member.folder_id = $3 AND member.role IS NOT NULL AND NOT member.trashed))
        ORDER BY member.seq LIMIT $5) item ON true
    ORDER BY item.seq`,
);

/** The tasks of a folder as its members see them. */
@Injectable()
export class TaskResourcesRepository {
  constructor(private readonly db: Db) {}

  /** The first one of these folders that the caller sees. */
  async opened({ tenantId, userId }: RequestContext, ids: readonly string[]): Promise<OpenedFolder | null> {
    return (await this.db.query(opened, [tenantId, userId, ids]))[0] ?? null;
  }

  /** Those of the ids that folders have, or had until the feed forgets them. */
  usedFolderIds({ tenantId, userId }: RequestContext, ids: readonly string[]): Promise<UsedFolderId[]> {
    return this.db.query(usedIds, [tenantId, userId, ids]);
  }

  async places({ tenantId, userId }: RequestContext): Promise<ListPlaces> {
    const rows = await this.db.query(places, [tenantId, userId]);
    const orders = rows.flatMap(({ folder_id: id, calendar_order: order }): [string, number][] =>
      id === null || order === null ? [] : [[id, order]],
    );
    return { head: rows[0]?.head ?? 0, orders: new Map(orders) };
  }

  async setOrder(
    { tenantId, userId }: RequestContext,
    folderId: string,
    order: number | null,
  ): Promise<void> {
    await this.db.single((tx) => tx.query(setOrder, [tenantId, userId, folderId, order]));
  }

  /** The time zone of new tasks of the caller. */
  async zone({ tenantId, userId }: RequestContext): Promise<string> {
    return (await this.db.query(zoneOf, [tenantId, userId]))[0]?.time_zone ?? 'UTC';
  }

  async names(
    { tenantId, userId }: RequestContext,
    folderId: string,
    after: string | null,
    limit: number,
  ): Promise<TaskName[]> {
    return this.db.query(names, [tenantId, userId, folderId, after, limit]);
  }

  async read(
    { tenantId, userId }: RequestContext,
    folderId: string,
    ids: readonly string[],
  ): Promise<TaskResourceRow[]> {
    return this.db.query(read, [tenantId, userId, folderId, ids]);
  }

  /** Those of the ids that tasks have, in the trash too. */
  async known(tenantId: string, ids: readonly string[]): Promise<Set<string>> {
    return new Set((await this.db.query(known, [tenantId, ids])).map(({ id }) => id));
  }

  /**
   * Changes in the order of their numbers.
   * @param after the last delivered number
   * @param liveOnly omits removals
   */
  async changes(
    { tenantId, userId }: RequestContext,
    folderId: string,
    { after, limit, liveOnly }: { after: number; limit: number; liveOnly: boolean },
  ): Promise<TaskChangesRead> {
    const rows = await this.db.query(changes, [tenantId, userId, folderId, after, limit, liveOnly]);
    const { head = 0, floor = 0 } = rows[0] ?? {};
    const found = rows.flatMap(({ seq, id, revision }) => (seq === null ? [] : [{ seq, id, revision }]));
    return { head, floor, rows: found };
  }
}
