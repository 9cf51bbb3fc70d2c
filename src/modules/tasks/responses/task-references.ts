import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Reader, Tx } from '../../../platform/database/tx.js';
import { TxHooks } from '../../../platform/events/tx-hooks.js';
import { ReferenceTitles, titlesBy } from '../../../platform/references/reference-titles.js';
import type { StoredReference, Task } from '../tasks.schema.js';
import { LINKED_TASKS_CHANGED } from '../tasks.events.js';
import type { TaskChange, TaskRow } from '../model/rules/task-row.js';
import { TasksRepository } from '../tasks.repository.js';

/** A row of the view `task_views`: JSON of the task, and JSON of its references (null without any). */
interface TaskText {
  task: string;
  refs: string | null;
}

const titlesOfTasks = workspace.statement<Pick<Task, 'id' | 'title'>>(
  'tasks.titles',
  `SELECT task.id, task.title FROM unnest($3::uuid[]) AS wanted (id)
     JOIN task_members member ON member.tenant_id = $1 AND member.task_id = wanted.id AND member.user_id = $2
                             AND member.role IS NOT NULL
     JOIN tasks task ON task.tenant_id = $1 AND task.id = wanted.id`,
);

/** References of tasks: adds the current titles that the caller may read, with one query per kind for a whole page. */
@Injectable()
export class TaskReferences implements OnModuleInit {
  constructor(private readonly titles: ReferenceTitles) {}

  onModuleInit(): void {
    this.titles.register('task', titlesBy(titlesOfTasks));
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
      for (const [id, title] of await this.titles.readTitles(reader, ctx, kind, ids))
        titles.set(`${kind} ${id}`, title);
    }
    return texts.map(({ task }, n) => {
      const references = (stored[n] ?? []).map((reference) => presented(reference, titles));
      return `${task.slice(0, -1)}, "references" : ${JSON.stringify(references)}}`;
    });
  }

  /** @returns ids of the referenced notes that the caller may edit: they link back to the task */
  async editableNotes(
    reader: Reader,
    ctx: RequestContext,
    references: readonly StoredReference[],
  ): Promise<string[]> {
    const ids = references.flatMap(({ type, id }) => (type === 'note' && id !== undefined ? [id] : []));
    return this.titles.findEditable(reader, ctx, 'note', ids);
  }

  /** @returns positions of the references that are unknown or that the caller cannot read */
  async findUnreadable(
    reader: Reader,
    ctx: RequestContext,
    references: readonly StoredReference[],
  ): Promise<number[]> {
    const known = new Map<string, Map<string, string>>();
    for (const kind of ['note', 'task'] as const) {
      const ids = references.flatMap(({ type, id }) => (type === kind && id !== undefined ? [id] : []));
      known.set(kind, await this.titles.readTitles(reader, ctx, kind, ids));
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

/** The notes that link to a task from now on, and those that no longer do. */
interface LinkChange extends NonNullable<TaskChange['links']> {
  task: Pick<TaskRow, 'id' | 'title' | 'created_at'>;
}

/** The links from notes to tasks. */
@Injectable()
export class TaskLinks {
  constructor(
    private readonly tasks: TasksRepository,
    private readonly hooks: TxHooks,
  ) {}

  /**
   * Updates the notes of tasks before the tasks are stored, all at once, so that notes are locked before counters.
   * @param users whose counters the rest of the transaction needs
   */
  async update(tx: Tx, ctx: RequestContext, users: string[], changes: readonly LinkChange[]): Promise<void> {
    const found = changes.flatMap(({ task: { id, title, created_at: createdAt }, present, removed }) => {
      const task = { ctx, taskId: id, title, createdAt, users };
      return [
        { ...task, noteIds: present, present: true },
        { ...task, noteIds: removed, present: false },
      ].filter(({ noteIds }) => noteIds.length > 0);
    });
    if (found.length > 0) await this.hooks.run(tx, LINKED_TASKS_CHANGED, found);
  }

  /**
   * Locks tasks that are moved to the trash together and removes the links to them.
   * @param users the users whose counters the transaction needs beyond those who see the tasks
   */
  async remove(tx: Tx, ctx: RequestContext, ids: string[], users: string[]): Promise<void> {
    const tasks = await this.tasks.lockLinked(tx, ctx, ids);
    const changes = tasks.map((task) => ({
      ctx,
      taskId: task.id,
      title: task.title,
      createdAt: task.created_at,
      noteIds: task.linked_notes,
      present: false,
      users: [...task.users, ...users],
    }));
    if (changes.length > 0) await this.hooks.run(tx, LINKED_TASKS_CHANGED, changes);
  }
}
