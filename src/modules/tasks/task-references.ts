import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import { workspace } from '../../platform/database/statement.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { TxHooks } from '../../platform/events/tx-hooks.js';
import { ReferenceTitles } from '../../platform/references/reference-titles.js';
import type { StoredReference } from './task.entity.js';
import { LINKED_TASKS_CHANGED } from './tasks.events.js';
import { TasksRepository } from './tasks.repository.js';

/** A task as the view `task_views` gives it: its JSON, and beside it what it refers to (JSON too; null for nothing). */
export interface TaskText {
  task: string;
  refs: string | null;
}

const titlesOfTasks = workspace.statement<{ id: string; title: string }>(
  'tasks.titles',
  `SELECT t.id, t.title FROM unnest($3::uuid[]) AS w (id)
     JOIN task_members m ON m.tenant_id = $1 AND m.task_id = w.id AND m.user_id = $2 AND m.role IS NOT NULL
     JOIN tasks t ON t.tenant_id = $1 AND t.id = w.id`,
);

/** What tasks refer to: puts current titles in, of what the reader may see; one query per kind for a whole page. */
@Injectable()
export class TaskReferences implements OnModuleInit {
  constructor(private readonly titles: ReferenceTitles) {}

  onModuleInit(): void {
    this.titles.register('task', async (reader, { tenantId, userId }, ids) => {
      const rows = await reader.query(titlesOfTasks, [tenantId, userId, ids]);
      return new Map(rows.map((row) => [row.id, row.title]));
    });
  }

  /** Completes the JSON of tasks with their `references`. */
  async complete(reader: Reader, ctx: RequestContext, texts: readonly TaskText[]): Promise<string[]> {
    const stored = texts.map(({ refs }) =>
      refs === null ? [] : (JSON.parse(refs) as (StoredReference & { id: string })[]),
    );
    const byKind = Map.groupBy(stored.flat(), (reference) => reference.type);
    const titles = new Map<string, string>();
    for (const kind of ['note', 'task'] as const) {
      const ids = (byKind.get(kind) ?? []).map((reference) => reference.id);
      for (const [id, title] of await this.titles.of(reader, ctx, kind, ids))
        titles.set(`${kind} ${id}`, title);
    }
    return texts.map(({ task }, n) => {
      const references = (stored[n] ?? []).map((reference) => presented(reference, titles));
      return `${task.slice(0, -1)}, "references" : ${JSON.stringify(references)}}`;
    });
  }

  /** @returns the positions of those that do not exist or are not for the caller to see */
  async unreadable(
    reader: Reader,
    ctx: RequestContext,
    references: readonly StoredReference[],
  ): Promise<number[]> {
    const known = new Map<string, Map<string, string>>();
    for (const kind of ['note', 'task'] as const) {
      const ids = references.flatMap(({ type, id }) => (type === kind && id !== undefined ? [id] : []));
      known.set(kind, await this.titles.of(reader, ctx, kind, ids));
    }
    return references.flatMap(({ type, id }, n) =>
      type === 'url' || known.get(type)?.has(id ?? '') ? [] : [n],
    );
  }
}

function presented(reference: StoredReference & { id: string }, titles: Map<string, string>) {
  const { type, id, title, url } = reference;
  if (type === 'url') return { type, id: null, title: title ?? null, url: url ?? null };
  return {
    type,
    id,
    title: titles.get(`${type} ${id}`) ?? null,
    url: `/apis/v1/${type}s/${id}`,
  };
}

/** The links that notes hold back to tasks. */
@Injectable()
export class TaskLinks {
  constructor(
    private readonly tasks: TasksRepository,
    private readonly hooks: TxHooks,
  ) {}

  /**
   * Locks tasks and has the notes see to their links, before the rest of the transaction writes the tasks.
   * @param title the new one, where a task is being renamed
   * @param people whose counters the transaction will need beyond those of the tasks' readers
   */
  async change(
    tx: Tx,
    ctx: RequestContext,
    ids: string[],
    present: boolean,
    title?: string,
    people: string[] = [],
  ): Promise<void> {
    const tasks = await this.tasks.lockLinked(tx, ctx, ids);
    const changes = tasks.map((task) => ({
      ctx,
      taskId: task.id,
      title: title ?? task.title,
      createdAt: task.created_at,
      noteIds: task.linked_notes,
      present,
      people: [...task.people, ...people],
    }));
    if (changes.length > 0) await this.hooks.run(tx, LINKED_TASKS_CHANGED, changes);
  }
}
