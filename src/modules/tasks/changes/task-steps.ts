import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { Tx } from '../../../platform/database/tx.js';
import { nextOccurrence } from '../model/task-recurrence.js';
import { TaskLinks } from '../responses/task-references.js';
import type { StoredRecurrence } from '../task.entity.js';
import {
  type NextTask,
  type TaskOutcome,
  type TaskWrite,
  type TaskWriteKind,
  TasksRepository,
} from '../tasks.repository.js';

/** JSON of the outcome `reschedule`. */
interface RepeatBasis extends StoredRecurrence {
  time_zone: string;
  date: string;
  due_at: string | null;
}

/** Writes of tasks with the steps between their statements. */
@Injectable()
export class TaskSteps {
  constructor(
    private readonly tasks: TasksRepository,
    private readonly links: TaskLinks,
  ) {}

  /** The first call locks the task, so the steps in between work on its current state. */
  async write(
    tx: Tx,
    ctx: RequestContext,
    kind: TaskWriteKind,
    id: string,
    write: TaskWrite,
  ): Promise<TaskOutcome> {
    const inSteps: TaskWrite = { ...write, in_steps: true };
    const result = await this.tasks.write(tx, ctx, kind, id, inSteps);
    if (result.outcome === 'reschedule') {
      return this.write(tx, ctx, kind, id, { ...inSteps, planned: true, next: nextTask(result) });
    }
    if (result.outcome !== 'links') return result;
    await this.links.update(tx, ctx, id, result, write.next);
    return this.write(tx, ctx, kind, id, { ...inSteps, links_updated: true });
  }
}

/** The next occurrence of a repeating task; null at the end of the series. */
function nextTask({ json }: TaskOutcome): NextTask | null {
  const { rrule, from, start, scheduled, number, date, time_zone, due_at } = JSON.parse(
    json ?? '{}',
  ) as RepeatBasis;
  const dueAt = due_at === null ? null : new Date(due_at);
  const task = { rrule, from, start, scheduled, number, timeZone: time_zone, date, dueAt };
  const next = nextOccurrence(task, new Date());
  return (
    next && { id: uuidv7(), date: next.date, due_at: next.dueAt?.toISOString() ?? null, number: next.number }
  );
}
