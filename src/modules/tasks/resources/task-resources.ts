import { Injectable } from '@nestjs/common';
import { Turns } from '../../../lib/turns/index.js';
import { revisionTag } from '../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { FeedSource } from '../../../platform/sync/feed-source.js';
import { FeedService } from '../../../platform/sync/feed.service.js';
import { SyncCursors } from '../../../platform/sync/sync-cursors.js';
import { headOf } from '../../../platform/sync/sync-heads.js';
import { TASK_FOLDERS } from '../folders/task-folders.resource.js';
import type { TaskRole } from '../task.entity.js';
import { TaskFeedRepository } from '../feed/task-feed.repository.js';
import { type TaskNameChange, TaskResourcesRepository } from './task-resources.repository.js';
import { clockOf } from './vtodo/todo-reader.js';
import { todoOf } from './vtodo/todo-merge.js';
import { occursIn, type TodoWindow } from './vtodo/todo-range.js';
import { textOfTodo } from './vtodo/todo-text.js';

/** A task of a folder as a resource of its own. */
export interface NamedTask {
  id: string;
  /** With its quotes, the same as in JSON. */
  etag: string;
}

export interface TaskText extends NamedTask {
  text: string;
}

/** A change of a folder; `etag` is null where the task is gone. */
export interface TaskTextChange {
  id: string;
  etag: string | null;
}

const NAMES = 1_000;
/** Tasks of one query. */
const BATCH = 20;
const NEVER = new AbortController().signal;

export const taskTag = ({ id, revision }: { id: string; revision: number }): string =>
  revisionTag('task', id, revision);

/** The tasks of folders, each as one text of iCalendar: what CalDAV serves. */
@Injectable()
export class TaskResources {
  constructor(
    private readonly tasks: TaskResourcesRepository,
    private readonly feed: TaskFeedRepository,
    private readonly feeds: FeedService,
    private readonly cursors: SyncCursors,
    private readonly db: Db,
  ) {}

  /** The role of the caller in a folder; null without access. */
  async roleIfAny(ctx: RequestContext, folderId: string): Promise<TaskRole | null> {
    return this.tasks.role(ctx, folderId);
  }

  /** The role of the caller in a folder. @throws ApiError 404 */
  async role(ctx: RequestContext, folderId: string): Promise<TaskRole> {
    const role = await this.tasks.role(ctx, folderId);
    if (!role) throw TASK_FOLDERS.notFound.with();
    return role;
  }

  /** All tasks without their content, in pages. @throws ApiError 404 */
  async *names(ctx: RequestContext, folderId: string): AsyncGenerator<NamedTask[]> {
    await this.role(ctx, folderId);
    for (let after: string | null = null; ;) {
      const rows = await this.tasks.names(ctx, folderId, after, NAMES);
      yield rows.map((row) => ({ id: row.id, etag: taskTag(row) }));
      if (rows.length < NAMES) return;
      after = rows.at(-1)?.id ?? null;
    }
  }

  /**
   * The tasks with these ids, in pages.
   * @param zones false: without VTIMEZONEs
   * @throws ApiError 404 for the folder
   */
  async *ofIds(
    ctx: RequestContext,
    folderId: string,
    ids: readonly string[],
    zones: boolean,
  ): AsyncGenerator<TaskText[]> {
    await this.role(ctx, folderId);
    for (let at = 0; at < ids.length; at += BATCH)
      yield await this.texts(ctx, folderId, ids.slice(at, at + BATCH), zones, null);
  }

  /** The tasks that are in a window, in pages. @throws ApiError 404 */
  async *occurring(
    ctx: RequestContext,
    folderId: string,
    window: TodoWindow,
    zones: boolean,
  ): AsyncGenerator<TaskText[]> {
    for await (const page of this.names(ctx, folderId)) {
      const ids = page.map(({ id }) => id);
      for (let at = 0; at < ids.length; at += BATCH)
        yield await this.texts(ctx, folderId, ids.slice(at, at + BATCH), zones, window);
    }
  }

  /**
   * Changes since a token; without one, all tasks.
   * @throws ApiError 404; 410 `cursor_expired`
   */
  async changes(
    ctx: RequestContext,
    folderId: string,
    token: string | null,
    limit: number,
  ): Promise<{ changes: TaskTextChange[]; token: string; hasMore: boolean }> {
    await this.role(ctx, folderId);
    const source: FeedSource = {
      collection: collectionOf(folderId),
      plural: ['changes'],
      indexPath: this.feed.indexPath,
      // The floor is that of all tasks: the check of the counter alone would miss it.
      numbers: null,
      changes: (_: RequestContext, given) => this.tasks.changes(ctx, folderId, given),
      index: (_: RequestContext, given) => this.feed.index(ctx, given),
      ownersWithRemovals: (before, count) => this.feed.ownersWithRemovals(before, count),
      forgetRemovals: (tx, owner, before) => this.feed.forgetRemovals(tx, owner, before),
    };
    const query = { limit, include: 'summary' as const, wait: 0, ...(token !== null && { cursor: token }) };
    const { json } = await this.feeds.changes(ctx, source, query, NEVER);
    const page = JSON.parse(json.toString()) as {
      changes: TaskNameChange[];
      cursor: string;
      has_more: boolean;
    };
    const changes = page.changes.map(({ id, revision }) => ({
      id,
      etag: revision === null ? null : taskTag({ id, revision }),
    }));
    return { changes, token: page.cursor, hasMore: page.has_more };
  }

  /** The token of the present state. It changes with each change of a task that the caller sees. */
  async token(ctx: RequestContext, folderId: string): Promise<string> {
    const { head = 0 } = (await headOf(this.db, ctx, this.feed.collection)) ?? {};
    return this.cursors.write(ctx, collectionOf(folderId), { mode: 'changes', seq: head, since: head });
  }

  /** Those of the ids that tasks of the workspace have, in the trash too. */
  async known(tenantId: string, ids: readonly string[]): Promise<Set<string>> {
    return this.tasks.known(tenantId, ids);
  }

  private async texts(
    ctx: RequestContext,
    folderId: string,
    ids: readonly string[],
    zones: boolean,
    window: TodoWindow | null,
  ): Promise<TaskText[]> {
    const turns = new Turns();
    const texts: TaskText[] = [];
    for (const row of await this.tasks.read(ctx, folderId, ids)) {
      const found = todoOf(row);
      const isBounded = window !== null && (window.from !== null || window.to !== null);
      if (!isBounded || occursIn(found.todo, clockOf(found.others, row.time_zone), window))
        texts.push({ id: row.id, etag: taskTag(row), text: textOfTodo(found, zones) });
      await turns.pause();
    }
    return texts;
  }
}

const collectionOf = (folderId: string): string => `task folder ${folderId}`;
