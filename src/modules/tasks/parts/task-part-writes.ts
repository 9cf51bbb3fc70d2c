import { Injectable } from '@nestjs/common';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { workspace } from '../../../platform/database/statement.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { Errors } from '../../../platform/http/errors.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import type { TaskRole } from '../task.entity.js';
import { rejection, type ReplyOptions, TaskResults } from '../responses/task-results.js';
import { TaskErrors } from '../tasks.errors.js';
import { outcomeOf, type TaskOutcome, TasksRepository } from '../tasks.repository.js';
import type { TaskActivityResponse } from './task-parts.response.js';

/** A task whose row is locked for a write of one of its parts. */
export interface OpenTask {
  role: TaskRole;
  revision: number;
  deleted_at: string | null;
  /** Their number. */
  comments: number;
}

/** A finished change of a part, for the history, the counters and the feeds of its task. */
interface PartChange {
  list: 'subtasks' | 'comments';
  activity: TaskActivityResponse['type'];
  data: Record<string, unknown>;
  device?: string;
  /** Change of the number of subtasks or comments. */
  subtasks?: 1 | -1;
  comments?: 1 | -1;
}

/** Result of a write of a part; without `change` nothing was written. */
export interface PartWritten {
  change?: PartChange;
  /** Further members of the response; `task` is the JSON of the task. */
  more: (task: string) => Promise<Record<string, string>>;
}

type NeededRole = 'viewer' | 'editor';

const OUTCOME = 'outcome, revision, json, refs';
const open = workspace.statement<TaskOutcome>(
  'task_parts.open',
  `SELECT ${OUTCOME} FROM task_open($1, $2, $3)`,
);
const written = workspace.statement<TaskOutcome>(
  'task_parts.written',
  `SELECT ${OUTCOME} FROM task_part_written($1, $2, $3, $4)`,
);

/** Writes of subtasks and comments: under the lock of the task, with its history, feeds and events. */
@Injectable()
export class TaskPartWrites {
  constructor(
    private readonly tasks: TasksRepository,
    private readonly results: TaskResults,
    private readonly writes: IdempotentWrites,
    private readonly outbox: Outbox,
  ) {}

  /**
   * @param options.role the role that the write needs; missing when `write` checks the access
   * @throws ApiError 404 `not_found`; with a role 403 and 409 `deleted`; and every error of `write`
   */
  async run(
    ctx: RequestContext,
    taskId: string,
    key: IdempotencyKey | null,
    write: (tx: Tx, task: OpenTask) => Promise<PartWritten>,
    { role, ...options }: Pick<ReplyOptions, 'status' | 'location'> & { role?: NeededRole } = {},
  ): Promise<JsonReply> {
    return this.writes.runTx(ctx, key, async (tx) => {
      const ids = [ctx.tenantId, ctx.userId, taskId];
      const opened = await outcomeOf(tx.query(open, ids));
      if (opened.outcome !== 'ok') throw rejection(opened);
      const task = JSON.parse(opened.json ?? '{}') as OpenTask;
      if (role) assertWritable(task, role);
      const { change, more } = await write(tx, task);
      const result = change
        ? await outcomeOf(tx.query(written, [...ids, change]))
        : await this.current(tx, ctx, taskId);
      this.outbox.notice(tx);
      const members = await more(result.json ?? 'null');
      return this.results.reply(tx, ctx, taskId, result, { ...options, more: members });
    });
  }

  private async current(tx: Tx, ctx: RequestContext, taskId: string): Promise<TaskOutcome> {
    const found = await this.tasks.read(tx, ctx, taskId);
    if (!found) throw TaskErrors.notFound.with();
    return { outcome: 'ok', revision: found.revision, json: found.task, refs: found.refs };
  }
}

/** The key of a part. */
export const keyOf = ({ tenantId }: RequestContext, taskId: string, id: string) => ({ tenantId, taskId, id });

/** @throws ApiError 403, or 409 `deleted` for a task in the trash */
export function assertWritable({ role, revision, deleted_at }: OpenTask, needed: NeededRole): void {
  if (needed === 'editor' && role === 'viewer') throw Errors.forbidden.with();
  if (deleted_at !== null) throw TaskErrors.deleted.with({ body: { revision, deleted_at } });
}
