import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../platform/context/request-context.js';
import type { Tx } from '../../platform/database/tx.js';
import { TxHooks } from '../../platform/events/tx-hooks.js';
import { LINKED_TASKS_CHANGED } from './task.hooks.js';
import { TasksRepository } from './tasks.repository.js';

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
