import { Injectable } from '@nestjs/common';
import { Turns } from '../../../lib/turns/index.js';
import { inPages } from '../../../platform/bounded-pages/page-bytes.js';
import { revisionTag } from '../../../platform/concurrency/expected-revision.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { type ChangesPosition, SyncCursors } from '../../../platform/sync/sync-cursors.js';
import { CURSOR_EXPIRED } from '../../../platform/sync/feed.dto.js';
import { piecesOfTodos, textOfTodo, todoOf } from '../model/todo-merge.js';
import { expandedTodo, occursIn, type TodoWindow } from '../model/todo-range.js';
import { clockOf } from '../model/todo-reader.js';
import type { TaskRole } from '../tasks.schema.js';
import { TaskErrors } from '../tasks.dto.js';
import { TaskFolderRoles } from '../changes/task-writes.repository.js';
import { type ListPlaces, type OpenedFolder, TaskResourcesRepository } from './task-resources.repository.js';

/** A task of a folder as a resource of its own. */
export interface NamedTask {
  id: string;
  /** The tag has its quotes and is the same as in JSON. */
  etag: string;
}

export interface TaskText extends NamedTask {
  text: string;
}

export interface TodoTextOptions {
  /** False means no VTIMEZONEs (RFC 7809). */
  zones: boolean;
  /** Instances in this window in place of a series (RFC 4791, 9.6.5): instants in seconds. */
  expand?: { from: number; to: number } | undefined;
  /** The zone in which days and times without a zone are read; missing: that of each task. */
  readerZone?: string | undefined;
}

/** A change of a folder; `etag` is null where the task is gone. */
export interface TaskTextChange {
  id: string;
  etag: string | null;
}

const NAMES = 1_000;
/** Tasks of one query. */
const BATCH = 50;

export const taskTag = ({ id, revision }: { id: string; revision: number }): string =>
  revisionTag('task', id, revision);

/** The tasks of folders, each as one text of iCalendar: what CalDAV serves. Without a role in the folder a caller sees none. */
@Injectable()
export class TaskResources {
  constructor(
    private readonly tasks: TaskResourcesRepository,
    private readonly folders: TaskFolderRoles,
    private readonly cursors: SyncCursors,
    private readonly db: Db,
  ) {}

  /** The one of these folders that the caller sees at this moment; null without access. */
  async openIfAny(ctx: RequestContext, ids: readonly string[]): Promise<OpenedFolder | null> {
    return this.tasks.opened(ctx, ids);
  }

  /**
   * The id of a folder to create: the first one of these that no folder has or had. Where the caller sees a folder with one of them, or
   * all are used, an id that is in use, with which the creation is rejected.
   */
  async newFolderId(ctx: RequestContext, ids: readonly [string, ...string[]]): Promise<string> {
    const used = await this.tasks.usedFolderIds(ctx, ids);
    const taken = new Set(used.map(({ id }) => id));
    return used.find((folder) => folder.is_visible)?.id ?? ids.find((id) => !taken.has(id)) ?? ids[0];
  }

  /** The role of the caller in a folder. @throws ApiError 404 */
  async role(ctx: RequestContext, folderId: string): Promise<TaskRole> {
    const role = await this.folders.role(this.db, ctx, folderId);
    if (!role) throw TaskErrors.notFound.with();
    return role;
  }

  /** The places of lists among the calendars of the caller, by folder, and the number of the last change of a task that the caller sees. */
  async places(ctx: RequestContext): Promise<ListPlaces> {
    return this.tasks.places(ctx);
  }

  /** @param order null: none */
  async setOrder(ctx: RequestContext, folderId: string, order: number | null): Promise<void> {
    await this.tasks.setOrder(ctx, folderId, order);
  }

  /** All tasks without their content, in pages. */
  async *names(ctx: RequestContext, folderId: string): AsyncGenerator<NamedTask[]> {
    for (let after: string | null = null; ;) {
      const rows = await this.tasks.names(ctx, folderId, after, NAMES);
      yield rows.map((row) => ({ id: row.id, etag: taskTag(row) }));
      if (rows.length < NAMES) return;
      after = rows.at(-1)?.id ?? null;
    }
  }

  /** The tasks with these ids, in pages. */
  async *ofIds(
    ctx: RequestContext,
    folderId: string,
    ids: readonly string[],
    options: TodoTextOptions,
  ): AsyncGenerator<TaskText[]> {
    for (let at = 0; at < ids.length; at += BATCH)
      yield* inPages(this.texts(ctx, folderId, ids.slice(at, at + BATCH), options, null));
  }

  /** The tasks that are in a window, in pages. */
  async *occurring(
    ctx: RequestContext,
    folderId: string,
    window: TodoWindow,
    options: TodoTextOptions,
  ): AsyncGenerator<TaskText[]> {
    for await (const page of this.names(ctx, folderId)) {
      const ids = page.map(({ id }) => id);
      for (let at = 0; at < ids.length; at += BATCH)
        yield* inPages(this.texts(ctx, folderId, ids.slice(at, at + BATCH), options, window));
    }
  }

  /**
   * Changes since a token; without one, all tasks.
   * @param known the number of the last change at an earlier moment of the request: most synchronisations find none after it
   * @throws ApiError 410 `cursor_expired`
   */
  async changes(
    ctx: RequestContext,
    folderId: string,
    token: string | null,
    limit: number,
    known?: number,
  ): Promise<{ changes: TaskTextChange[]; token: string; hasMore: boolean }> {
    const start = this.position(ctx, folderId, token);
    if (token !== null && start.seq === known) return { changes: [], token, hasMore: false };
    // A program that starts without tasks needs no removals up to `since`.
    const liveOnly = token === null || start.seq < start.since;
    const { head, floor, rows } = await this.tasks.changes(ctx, folderId, {
      after: start.seq,
      limit: limit + 1,
      liveOnly,
    });
    const since = token === null ? head : start.since;
    if (start.seq > head || Math.max(start.seq, since) < floor) throw expired();
    const end = liveOnly ? Math.min(head, since) : head;
    const due = rows.filter(({ seq }) => seq <= end);
    const page = due.slice(0, limit);
    const seq = due.length > limit ? (page.at(-1)?.seq ?? start.seq) : end;
    return {
      changes: page.map(({ id, revision }) => ({
        id,
        etag: revision === null ? null : taskTag({ id, revision }),
      })),
      token: this.cursors.write(ctx, collectionOf(folderId), { mode: 'changes', seq, since }),
      hasMore: seq < head,
    };
  }

  /** The token of the state after this change. */
  token(ctx: RequestContext, folderId: string, head: number): string {
    return this.cursors.write(ctx, collectionOf(folderId), { mode: 'changes', seq: head, since: head });
  }

  /** Those of the ids that tasks of the workspace have, in the trash too. */
  async known(tenantId: string, ids: readonly string[]): Promise<Set<string>> {
    return this.tasks.known(tenantId, ids);
  }

  /** @throws ApiError 410 for a token that this folder did not get */
  private position(ctx: RequestContext, folderId: string, token: string | null): ChangesPosition {
    if (token === null) return { mode: 'changes', seq: 0, since: 0 };
    const position = this.cursors.read(ctx, collectionOf(folderId), token);
    if (position?.mode !== 'changes') throw expired();
    return position;
  }

  private async *texts(
    ctx: RequestContext,
    folderId: string,
    ids: readonly string[],
    { zones, expand, readerZone }: TodoTextOptions,
    window: TodoWindow | null,
  ): AsyncGenerator<TaskText> {
    const turns = new Turns();
    for (const row of await this.tasks.read(ctx, folderId, ids)) {
      const found = todoOf(row);
      const clock = clockOf(found.others, row.time_zone, readerZone);
      const isBounded = window !== null && (window.from !== null || window.to !== null);
      if (!isBounded || occursIn(found, clock, window)) {
        const todos = expand ? expandedTodo(found, clock, expand) : null;
        let text = todos ? '' : textOfTodo(found, zones);
        for (const piece of todos ? piecesOfTodos(todos) : []) {
          text += piece;
          await turns.pause();
        }
        yield { id: row.id, etag: taskTag(row), text };
      }
      await turns.pause();
    }
  }
}

const expired = () =>
  CURSOR_EXPIRED.with({ body: { reset_required: true, hint: 'sync-collection without a token' } });

const collectionOf = (folderId: string): string => `task folder ${folderId}`;
